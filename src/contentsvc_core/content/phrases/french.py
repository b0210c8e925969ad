"""The phrases in French; a colon, an exclamation mark and a semicolon have a no-break space before them."""

from typing import Final

from contentsvc_core.content.phrases.phrasebook import Count, Phrasebook, Toned
from contentsvc_core.content.sections import Section

FRENCH: Final = Phrasebook(
    thousands="\u202f",
    zero_is_one=True,
    conjunction=" et ",
    months=(
        *("janvier", "février", "mars", "avril", "mai", "juin"),
        *("juillet", "août", "septembre", "octobre", "novembre", "décembre"),
    ),
    first_of_month="1er",
    full_date="{day} {month} {year}",
    date_in_year="{day} {month}",
    dates_in_month="{first}\u2013{last} {month} {year}",
    headings={
        Section.BREAKING: "Changements incompatibles",
        Section.SECURITY: "Sécurité",
        Section.ADDED: "Nouveautés",
        Section.FIXED: "Corrections",
        Section.PERFORMANCE: "Performances",
        Section.DOCUMENTATION: "Documentation",
        Section.OTHER: "Autres changements",
        Section.INTERNAL: "Changements internes",
        Section.CHANGED: "Modifications",
        Section.DEPRECATED: "Obsolescences",
        Section.REMOVED: "Suppressions",
        Section.REVERTED: "Retours en arrière",
        Section.DEPENDENCIES: "Dépendances",
    },
    kinds={
        Section.BREAKING: Count(one="{n} changement incompatible", many="{n} changements incompatibles"),
        Section.SECURITY: Count(one="{n} changement de sécurité", many="{n} changements de sécurité"),
        Section.ADDED: Count(one="{n} nouveauté", many="{n} nouveautés"),
        Section.FIXED: Count(one="{n} correction", many="{n} corrections"),
        Section.PERFORMANCE: Count(one="{n} amélioration des performances", many="{n} améliorations des performances"),
        Section.DOCUMENTATION: Count(
            one="{n} changement de la documentation", many="{n} changements de la documentation"
        ),
        Section.OTHER: Count(one="{n} changement divers", many="{n} changements divers"),
        Section.INTERNAL: Count(one="{n} changement interne", many="{n} changements internes"),
        Section.CHANGED: Count(one="{n} modification", many="{n} modifications"),
        Section.DEPRECATED: Count(one="{n} élément déprécié", many="{n} éléments dépréciés"),
        Section.REMOVED: Count(one="{n} suppression", many="{n} suppressions"),
        Section.REVERTED: Count(one="{n} retour en arrière", many="{n} retours en arrière"),
        Section.DEPENDENCIES: Count(one="{n} changement de dépendances", many="{n} changements de dépendances"),
    },
    more_kinds={
        Section.BREAKING: Count(one="{n} autre changement incompatible", many="{n} autres changements incompatibles"),
        Section.SECURITY: Count(one="{n} autre changement de sécurité", many="{n} autres changements de sécurité"),
        Section.ADDED: Count(one="{n} autre nouveauté", many="{n} autres nouveautés"),
        Section.FIXED: Count(one="{n} autre correction", many="{n} autres corrections"),
        Section.PERFORMANCE: Count(
            one="{n} autre amélioration des performances", many="{n} autres améliorations des performances"
        ),
        Section.DOCUMENTATION: Count(
            one="{n} autre changement de la documentation", many="{n} autres changements de la documentation"
        ),
        Section.OTHER: Count(one="{n} autre changement", many="{n} autres changements"),
        Section.INTERNAL: Count(one="{n} autre changement interne", many="{n} autres changements internes"),
        Section.CHANGED: Count(one="{n} autre modification", many="{n} autres modifications"),
        Section.DEPRECATED: Count(one="{n} autre élément déprécié", many="{n} autres éléments dépréciés"),
        Section.REMOVED: Count(one="{n} autre suppression", many="{n} autres suppressions"),
        Section.REVERTED: Count(one="{n} autre retour en arrière", many="{n} autres retours en arrière"),
        Section.DEPENDENCIES: Count(
            one="{n} autre changement de dépendances", many="{n} autres changements de dépendances"
        ),
    },
    dependency=Count(one="{n} mise à jour de dépendance", many="{n} mises à jour de dépendances"),
    more_dependency=Count(one="{n} autre mise à jour de dépendance", many="{n} autres mises à jour de dépendances"),
    more_changes=Count(one="{n} autre changement", many="{n} autres changements"),
    title_leads={
        Section.BREAKING: "Incompatible\u00a0: {text}",
        Section.SECURITY: "Sécurité\u00a0: {text}",
        Section.FIXED: "Correction\u00a0: {text}",
        Section.DOCUMENTATION: "Documentation\u00a0: {text}",
        Section.DEPRECATED: "Déprécié\u00a0: {text}",
        Section.REMOVED: "Supprimé\u00a0: {text}",
        Section.REVERTED: "Annulé\u00a0: {text}",
    },
    leads={
        Section.BREAKING: "Changement incompatible\u00a0: {text}",
        Section.SECURITY: "Sécurité\u00a0: {text}",
        Section.ADDED: "Nouveau\u00a0: {text}",
        Section.FIXED: "Correction\u00a0: {text}",
        Section.PERFORMANCE: "Performances\u00a0: {text}",
        Section.DOCUMENTATION: "Documentation\u00a0: {text}",
        Section.OTHER: "Changement\u00a0: {text}",
        Section.INTERNAL: "Interne\u00a0: {text}",
        Section.CHANGED: "Modifié\u00a0: {text}",
        Section.DEPRECATED: "Déprécié\u00a0: {text}",
        Section.REMOVED: "Supprimé\u00a0: {text}",
        Section.REVERTED: "Annulé\u00a0: {text}",
        Section.DEPENDENCIES: "Dépendances\u00a0: {text}",
    },
    releases="Versions",
    contributors="Personnes ayant contribué",
    full_changelog="Tous les changements\u00a0:",
    unreleased="Pas encore publié",
    not_released="pas encore publié",
    not_released_counts="Pas encore publié\u00a0: {counts}.",
    elsewhere="Dans {subject}\u00a0: {counts}.",
    as_written="Les textes des commits sont repris tels que leurs auteurs les ont écrits.",
    pre_release="préversion",
    new_release="Nouvelle version",
    this_release="Cette version",
    new_release_of="Nouvelle version de {project}",
    released="Publication de {names}",
    releases_up_to="{releases} jusqu'à {tag}",
    earlier_releases="Auparavant\u00a0: {releases}",
    not_covered=Count(
        one="{n} événement antérieur de cette période n'est pas pris en compte ici.",
        many="{n} événements antérieurs de cette période ne sont pas pris en compte ici.",
    ),
    plus=", plus {parts}",
    not_shown=Count(
        one="{n} autre changement n'est pas affiché ici.", many="{n} autres changements ne sont pas affichés ici."
    ),
    incomplete=(
        "L'hébergeur de code envoie au plus {n} commits par push\u00a0; cette liste est donc peut-être incomplète."
    ),
    more_people="et {n} de plus",
    more_commits="{n} de plus",
    notes_cut="Les notes sont plus longues que ne peut l'être un article\u00a0; {page}.",
    read_on="lire la suite sur la page de la version",
    release_page="page de la version",
    maintenance=(
        "{tag} ne contient que des travaux de maintenance, comme la préparation de la publication. Voir la {page}."
    ),
    no_notes="{tag} a été publiée sans notes de version. Voir la {page}.",
    no_message="(aucun message de commit)",
    untitled="Changements",
    release_count=Count(one="{n} version", many="{n} versions"),
    pre_release_count=Count(one="{n} préversion", many="{n} préversions"),
    release_range="{first} à {last}",
    commit_count=Count(one="{n} commit", many="{n} commits"),
    contributor_count=Count(one="{n} personne ayant contribué", many="{n} personnes ayant contribué"),
    repository_count=Count(one="{n} dépôt", many="{n} dépôts"),
    announced_one=Toned(
        conversational="{names} est là\u00a0!",
        professional="{names} est disponible.",
        casual="{names} est sorti\u00a0!",
        formal="La publication de {names} est effective.",
    ),
    announced_many=Toned(
        conversational="{names} sont là\u00a0!",
        professional="{names} sont disponibles.",
        casual="{names} sont sortis\u00a0!",
        formal="La publication de {names} est effective.",
    ),
    announced_by=Toned(
        conversational="Chez {company}, nous avons publié {names}\u00a0!",
        professional="{company} a publié {names}.",
        casual="Chez {company}, on a sorti {names}\u00a0!",
        formal="{company} annonce la publication de {names}.",
    ),
    news=Toned(
        conversational="Voici ce qui a changé dans {subject}.",
        professional="Des nouvelles de {subject}.",
        casual="Voici les nouveautés de {subject}\u00a0!",
        formal="Les changements suivants ont été apportés à {subject}.",
    ),
    news_by=Toned(
        conversational="Chez {company}, nous avons travaillé sur {subject}.",
        professional="Des nouvelles de {company} au sujet de {subject}.",
        casual="Voici ce qu'on a fait chez {company} pour {subject}\u00a0!",
        formal="{company} présente les changements suivants apportés à {subject}.",
    ),
    news_title="Du nouveau dans {subject}",
    figures="En chiffres\u00a0: {counts}.",
    figures_in="En chiffres, {period}\u00a0: {counts}.",
    most_important="Le changement à connaître en premier\u00a0:",
    areas="Les parties qui ont le plus changé\u00a0: {areas}.",
    upgrade="Avant la mise à jour",
    upgrade_advice=Toned(
        conversational="À regarder en premier.",
        professional="Ce qui suit peut demander une action de votre part.",
        casual="À lire d'abord.",
        formal="Il convient de prendre en compte ce qui suit.",
    ),
    behind_the_scenes="En coulisses\u00a0: {counts}.",
    release_notes="Notes de version",
    thanks_heading="Merci",
    thanks=Toned(
        conversational="Merci à tous ceux dont le travail se trouve ici\u00a0: {names}.",
        professional="Merci pour vos contributions\u00a0: {names}.",
        casual="Merci, {names}\u00a0!",
        formal="Nos remerciements vont à {names}.",
    ),
    about="À propos de {company}",
    signature=Toned(
        conversational="Votre équipe {company}",
        professional="L'équipe {company}",
        casual="La bande de {company}",
        formal="{company}",
    ),
    source_note="Cet article est écrit à partir des commits et des versions de {repositories}.",
    compare="Tous les commits entre les versions\u00a0: {link}",
    breaking_warning=Toned(
        conversational="Attention\u00a0: tout n'est pas resté compatible, regardez avant de mettre à jour.",
        professional="À noter avant de mettre à jour\u00a0: tout n'est pas resté compatible.",
        casual="Attention, tout n'est pas resté compatible\u00a0!",
        formal="Il convient de noter avant la mise à jour que tout n'est pas resté compatible.",
    ),
    thanks_people=Toned(
        conversational="Merci aux {n} personnes dont le travail se trouve ici\u00a0!",
        professional="Merci aux {n} personnes qui ont contribué.",
        casual="Merci à vous {n} qui avez participé\u00a0!",
        formal="Nous remercions les {n} personnes qui ont contribué.",
    ),
    more_in_notes="Page de la version\u00a0: {url}",
    more_in_repository="Dépôt\u00a0: {url}",
    investor_title="{subject}\u00a0: lettre aux investisseurs",
    investor_title_in="{subject}\u00a0: lettre aux investisseurs, {period}",
    summary="Résumé",
    covers="Cette lettre porte sur le travail effectué sur {subject}.",
    covers_in="Cette lettre porte sur le travail effectué sur {subject}, {period}.",
    released_versions=Count(
        one="{n} version a été publiée\u00a0: {tags}.", many="{n} versions ont été publiées\u00a0: {tags}."
    ),
    pre_released_versions=Count(
        one="{n} préversion a été publiée\u00a0: {tags}.", many="{n} préversions ont été publiées\u00a0: {tags}."
    ),
    received_versions=Count(
        one="{n} version a été reçue\u00a0: {tags}.", many="{n} versions ont été reçues\u00a0: {tags}."
    ),
    received_pre_versions=Count(
        one="{n} préversion a été reçue\u00a0: {tags}.", many="{n} préversions ont été reçues\u00a0: {tags}."
    ),
    nothing_released="Aucune version n'a été publiée.",
    comprises="Le travail comprend {counts}.",
    shipped="Ce qui a été achevé",
    nothing_shipped="Les commits ne contiennent que de la maintenance\u00a0: {counts}.",
    themes={
        Section.BREAKING: "Changements qui rompent la compatibilité",
        Section.SECURITY: "Sécurité",
        Section.ADDED: "Nouvelles possibilités",
        Section.FIXED: "Corrections",
        Section.PERFORMANCE: "Performances",
        Section.DOCUMENTATION: "Documentation",
        Section.OTHER: "Autres travaux",
        Section.INTERNAL: "Travaux internes",
        Section.CHANGED: "Modifications",
        Section.DEPRECATED: "Dépréciations",
        Section.REMOVED: "Suppressions",
        Section.REVERTED: "Retours en arrière",
        Section.DEPENDENCIES: "Dépendances",
    },
    corrected="Corrigé\u00a0: {text}",
    activity="L'activité en chiffres",
    repository="Dépôt",
    commits="Commits",
    total="Total",
    commits_told=Count(
        one=(
            "Sur {total}, {n} est à l'origine des changements comptés ci-dessus\u00a0; "
            "les fusions, les annulations avec ce qu'elles annulent, la "
            "préparation de versions et l'automatisation ne comptent pas."
        ),
        many=(
            "Sur {total}, {n} sont à l'origine des changements comptés ci-dessus\u00a0; "
            "les fusions, les annulations avec ce qu'elles annulent, la "
            "préparation de versions et l'automatisation ne comptent pas."
        ),
    ),
    risks="Risques et changements incompatibles",
    breaking_marked=Count(
        one="{n} changement est signalé comme incompatible\u00a0: une adaptation peut être nécessaire.",
        many="{n} changements sont signalés comme incompatibles\u00a0: une adaptation peut être nécessaire.",
    ),
    nothing_breaking="Aucun changement n'est signalé comme incompatible par ses auteurs.",
    deprecated=Count(
        one="{n} abandon progressif est annoncé\u00a0:", many="{n} abandons progressifs sont annoncés\u00a0:"
    ),
    security_marked=Count(
        one="{n} changement est signalé comme touchant à la sécurité.",
        many="{n} changements sont signalés comme touchant à la sécurité.",
    ),
    figures_incomplete=(
        "L'hébergeur de code envoie au plus {n} commits par push\u00a0; les chiffres sont donc peut-être trop bas."
    ),
    unknown="Ce que cette lettre ne couvre pas",
    unknown_text=(
        "Cette lettre est écrite uniquement à partir de l'activité des dépôts. Elle ne dit rien du chiffre d'affaires, "
        "des clients, des finances, du personnel ni des projets, car rien de cela n'est connu ici. Ses chiffres "
        "comptent une activité\u00a0; ils n'en mesurent pas la valeur."
    ),
)
