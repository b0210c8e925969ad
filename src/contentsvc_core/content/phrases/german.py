"""The phrases in German."""

from typing import Final

from contentsvc_core.content.phrases.phrasebook import Count, Phrasebook, Toned
from contentsvc_core.content.sections import Section

GERMAN: Final = Phrasebook(
    thousands=".",
    zero_is_one=False,
    conjunction=" und ",
    months=(
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
    first_of_month="1",
    full_date="{day}. {month} {year}",
    date_in_year="{day}. {month}",
    dates_in_month="{first}.\u2013{last}. {month} {year}",
    headings={
        Section.BREAKING: "Inkompatible Änderungen",
        Section.SECURITY: "Sicherheit",
        Section.ADDED: "Neue Funktionen",
        Section.FIXED: "Fehlerbehebungen",
        Section.PERFORMANCE: "Leistung",
        Section.DOCUMENTATION: "Dokumentation",
        Section.OTHER: "Weitere Änderungen",
        Section.INTERNAL: "Interne Änderungen",
        Section.CHANGED: "Geändert",
        Section.DEPRECATED: "Veraltet",
        Section.REMOVED: "Entfernt",
        Section.REVERTED: "Zurückgenommen",
        Section.DEPENDENCIES: "Abhängigkeiten",
    },
    kinds={
        Section.BREAKING: Count(one="{n} inkompatible Änderung", many="{n} inkompatible Änderungen"),
        Section.SECURITY: Count(one="{n} Sicherheitsänderung", many="{n} Sicherheitsänderungen"),
        Section.ADDED: Count(one="{n} neue Funktion", many="{n} neue Funktionen"),
        Section.FIXED: Count(one="{n} Fehlerbehebung", many="{n} Fehlerbehebungen"),
        Section.PERFORMANCE: Count(one="{n} Leistungsverbesserung", many="{n} Leistungsverbesserungen"),
        Section.DOCUMENTATION: Count(one="{n} Änderung der Dokumentation", many="{n} Änderungen der Dokumentation"),
        Section.OTHER: Count(one="{n} sonstige Änderung", many="{n} sonstige Änderungen"),
        Section.INTERNAL: Count(one="{n} interne Änderung", many="{n} interne Änderungen"),
        Section.CHANGED: Count(one="{n} Änderung", many="{n} Änderungen"),
        Section.DEPRECATED: Count(one="{n} Abkündigung", many="{n} Abkündigungen"),
        Section.REMOVED: Count(one="{n} Entfernung", many="{n} Entfernungen"),
        Section.REVERTED: Count(one="{n} Rücknahme", many="{n} Rücknahmen"),
        Section.DEPENDENCIES: Count(one="{n} Änderung an Abhängigkeiten", many="{n} Änderungen an Abhängigkeiten"),
    },
    more_kinds={
        Section.BREAKING: Count(one="{n} weitere inkompatible Änderung", many="{n} weitere inkompatible Änderungen"),
        Section.SECURITY: Count(one="{n} weitere Sicherheitsänderung", many="{n} weitere Sicherheitsänderungen"),
        Section.ADDED: Count(one="{n} weitere neue Funktion", many="{n} weitere neue Funktionen"),
        Section.FIXED: Count(one="{n} weitere Fehlerbehebung", many="{n} weitere Fehlerbehebungen"),
        Section.PERFORMANCE: Count(one="{n} weitere Leistungsverbesserung", many="{n} weitere Leistungsverbesserungen"),
        Section.DOCUMENTATION: Count(
            one="{n} weitere Änderung der Dokumentation", many="{n} weitere Änderungen der Dokumentation"
        ),
        Section.OTHER: Count(one="{n} weitere Änderung", many="{n} weitere Änderungen"),
        Section.INTERNAL: Count(one="{n} weitere interne Änderung", many="{n} weitere interne Änderungen"),
        Section.CHANGED: Count(one="{n} weitere Änderung", many="{n} weitere Änderungen"),
        Section.DEPRECATED: Count(one="{n} weitere Abkündigung", many="{n} weitere Abkündigungen"),
        Section.REMOVED: Count(one="{n} weitere Entfernung", many="{n} weitere Entfernungen"),
        Section.REVERTED: Count(one="{n} weitere Rücknahme", many="{n} weitere Rücknahmen"),
        Section.DEPENDENCIES: Count(
            one="{n} weitere Änderung an Abhängigkeiten", many="{n} weitere Änderungen an Abhängigkeiten"
        ),
    },
    dependency=Count(one="{n} aktualisierte Abhängigkeit", many="{n} aktualisierte Abhängigkeiten"),
    more_dependency=Count(
        one="{n} weitere aktualisierte Abhängigkeit", many="{n} weitere aktualisierte Abhängigkeiten"
    ),
    more_changes=Count(one="{n} weitere Änderung", many="{n} weitere Änderungen"),
    title_leads={
        Section.BREAKING: "Inkompatibel: {text}",
        Section.SECURITY: "Sicherheit: {text}",
        Section.FIXED: "Behoben: {text}",
        Section.DOCUMENTATION: "Doku: {text}",
        Section.DEPRECATED: "Veraltet: {text}",
        Section.REMOVED: "Entfernt: {text}",
        Section.REVERTED: "Zurückgenommen: {text}",
    },
    leads={
        Section.BREAKING: "Inkompatible Änderung: {text}",
        Section.SECURITY: "Sicherheit: {text}",
        Section.ADDED: "Neu: {text}",
        Section.FIXED: "Behoben: {text}",
        Section.PERFORMANCE: "Leistung: {text}",
        Section.DOCUMENTATION: "Dokumentation: {text}",
        Section.OTHER: "Geändert: {text}",
        Section.INTERNAL: "Intern: {text}",
        Section.CHANGED: "Geändert: {text}",
        Section.DEPRECATED: "Veraltet: {text}",
        Section.REMOVED: "Entfernt: {text}",
        Section.REVERTED: "Zurückgenommen: {text}",
        Section.DEPENDENCIES: "Abhängigkeiten: {text}",
    },
    releases="Versionen",
    contributors="Mitwirkende",
    full_changelog="Alle Änderungen:",
    unreleased="Noch nicht veröffentlicht",
    not_released="noch nicht veröffentlicht",
    not_released_counts="Noch nicht veröffentlicht: {counts}.",
    elsewhere="Bei {subject}: {counts}.",
    as_written="Die Texte der Commits stehen hier so, wie sie geschrieben wurden.",
    pre_release="Vorabversion",
    new_release="Neue Version",
    this_release="Diese Version",
    new_release_of="Neue Version von {project}",
    released="{names} veröffentlicht",
    releases_up_to="{releases} bis {tag}",
    earlier_releases="Davor: {releases}",
    not_covered=Count(
        one="{n} früheres Ereignis dieser Zeit ist hier nicht berücksichtigt.",
        many="{n} frühere Ereignisse dieser Zeit sind hier nicht berücksichtigt.",
    ),
    plus=", dazu {parts}",
    not_shown=Count(
        one="{n} weitere Änderung wird hier nicht gezeigt.", many="{n} weitere Änderungen werden hier nicht gezeigt."
    ),
    incomplete=(
        "Der Code-Host sendet höchstens {n} Commits mit einem Push, deshalb ist diese Liste vielleicht unvollständig."
    ),
    more_people="und {n} weitere",
    more_commits="{n} weitere",
    notes_cut="Die Hinweise sind länger, als ein Beitrag sein darf; {page}.",
    read_on="weiterlesen auf der Seite der Version",
    release_page="Seite der Version",
    maintenance="{tag} enthält nur Wartungsarbeiten, etwa die Vorbereitung der Veröffentlichung. Siehe die {page}.",
    no_notes="{tag} wurde ohne Versionshinweise veröffentlicht. Siehe die {page}.",
    no_message="(keine Commit-Nachricht)",
    untitled="Änderungen",
    release_count=Count(one="{n} Version", many="{n} Versionen"),
    pre_release_count=Count(one="{n} Vorabversion", many="{n} Vorabversionen"),
    release_range="{first} bis {last}",
    commit_count=Count(one="{n} Commit", many="{n} Commits"),
    contributor_count=Count(one="{n} mitwirkende Person", many="{n} Mitwirkende"),
    repository_count=Count(one="{n} Repository", many="{n} Repositorys"),
    announced_one=Toned(
        conversational="{names} ist da!",
        professional="{names} ist verfügbar.",
        casual="{names} ist draußen!",
        formal="{names} wurde veröffentlicht.",
    ),
    announced_many=Toned(
        conversational="{names} sind da!",
        professional="{names} sind verfügbar.",
        casual="{names} sind draußen!",
        formal="{names} wurden veröffentlicht.",
    ),
    announced_by=Toned(
        conversational="Wir bei {company} haben {names} veröffentlicht!",
        professional="{company} hat {names} veröffentlicht.",
        casual="Wir von {company} haben {names} rausgebracht!",
        formal="{company} gibt die Veröffentlichung von {names} bekannt.",
    ),
    news=Toned(
        conversational="Das hat sich bei {subject} geändert.",
        professional="Neues von {subject}.",
        casual="Das ist neu bei {subject}!",
        formal="An {subject} wurden die folgenden Änderungen vorgenommen.",
    ),
    news_by=Toned(
        conversational="Wir bei {company} haben an {subject} gearbeitet.",
        professional="Neues von {company} zu {subject}.",
        casual="Das haben wir von {company} an {subject} gemacht!",
        formal="{company} berichtet über die folgenden Änderungen an {subject}.",
    ),
    news_title="Neu bei {subject}",
    figures="In Zahlen: {counts}.",
    figures_in="In Zahlen, {period}: {counts}.",
    most_important="Diese Änderung zuerst:",
    areas="Die Teile mit den meisten Änderungen: {areas}.",
    upgrade="Vor dem Aktualisieren",
    upgrade_advice=Toned(
        conversational="Das solltest du dir zuerst ansehen.",
        professional="Das Folgende verlangt vielleicht etwas von Ihnen.",
        casual="Lies das zuerst.",
        formal="Folgendes ist zu beachten.",
    ),
    behind_the_scenes="Hinter den Kulissen: {counts}.",
    release_notes="Versionshinweise",
    thanks_heading="Danke",
    thanks=Toned(
        conversational="Danke an alle, deren Arbeit hier drinsteckt: {names}.",
        professional="Vielen Dank für Ihre Beiträge: {names}.",
        casual="Danke, {names}!",
        formal="Unser Dank gilt den folgenden Mitwirkenden: {names}.",
    ),
    about="Über {company}",
    signature=Toned(
        conversational="Euer Team von {company}",
        professional="Ihr Team von {company}",
        casual="Eure Leute von {company}",
        formal="{company}",
    ),
    source_note="Dieser Beitrag ist aus den Commits und Versionen von {repositories} geschrieben.",
    compare="Alle Commits zwischen den Versionen: {link}",
    breaking_warning=Toned(
        conversational="Achtung: Nicht alles bleibt kompatibel. Schau es dir an, bevor du aktualisierst.",
        professional="Bitte beachten Sie vor dem Aktualisieren: Nicht alles bleibt kompatibel.",
        casual="Vorsicht: Nicht alles bleibt kompatibel!",
        formal="Vor der Aktualisierung ist zu beachten, dass nicht alles kompatibel bleibt.",
    ),
    thanks_people=Toned(
        conversational="Danke an die {n} Menschen, deren Arbeit hier drinsteckt!",
        professional="Vielen Dank an alle {n} Mitwirkenden.",
        casual="Danke an euch {n}, die mitgemacht haben!",
        formal="Unser Dank gilt allen {n} Mitwirkenden.",
    ),
    more_in_notes="Zur Version: {url}",
    more_in_repository="Zum Repository: {url}",
    investor_title="{subject}: Bericht an Investoren",
    investor_title_in="{subject}: Bericht an Investoren, {period}",
    summary="Zusammenfassung",
    covers="Dieser Bericht umfasst die Arbeit an {subject}.",
    covers_in="Dieser Bericht umfasst die Arbeit an {subject}, {period}.",
    released_versions=Count(
        one="{n} Version wurde veröffentlicht: {tags}.", many="{n} Versionen wurden veröffentlicht: {tags}."
    ),
    pre_released_versions=Count(
        one="{n} Vorabversion wurde veröffentlicht: {tags}.", many="{n} Vorabversionen wurden veröffentlicht: {tags}."
    ),
    received_versions=Count(one="{n} Version ist eingegangen: {tags}.", many="{n} Versionen sind eingegangen: {tags}."),
    received_pre_versions=Count(
        one="{n} Vorabversion ist eingegangen: {tags}.", many="{n} Vorabversionen sind eingegangen: {tags}."
    ),
    nothing_released="Es wurde keine Version veröffentlicht.",
    comprises="Die Arbeit umfasst {counts}.",
    shipped="Was fertig wurde",
    nothing_shipped="Die Commits enthalten nur Wartung: {counts}.",
    themes={
        Section.BREAKING: "Änderungen, die mit Früherem brechen",
        Section.SECURITY: "Sicherheit",
        Section.ADDED: "Neue Möglichkeiten",
        Section.FIXED: "Korrekturen",
        Section.PERFORMANCE: "Leistung",
        Section.DOCUMENTATION: "Dokumentation",
        Section.OTHER: "Sonstige Arbeiten",
        Section.INTERNAL: "Interne Arbeiten",
        Section.CHANGED: "Änderungen",
        Section.DEPRECATED: "Abkündigungen",
        Section.REMOVED: "Entfernungen",
        Section.REVERTED: "Zurückgenommenes",
        Section.DEPENDENCIES: "Abhängigkeiten",
    },
    corrected="Behoben: {text}",
    activity="Aktivität in Zahlen",
    repository="Repository",
    commits="Commits",
    total="Gesamt",
    commits_told=Count(
        one=(
            "Von {total} steht {n} hinter den oben gezählten Änderungen; "
            "nicht gezählt sind Merges, Reverts mit dem, was sie rückgängig "
            "machen, Versionsvorbereitung und Automatisierung."
        ),
        many=(
            "Von {total} stehen {n} hinter den oben gezählten Änderungen; "
            "nicht gezählt sind Merges, Reverts mit dem, was sie rückgängig "
            "machen, Versionsvorbereitung und Automatisierung."
        ),
    ),
    risks="Risiken und inkompatible Änderungen",
    breaking_marked=Count(
        one="{n} Änderung ist als inkompatibel gekennzeichnet: Wer aktualisiert, muss vielleicht etwas anpassen.",
        many="{n} Änderungen sind als inkompatibel gekennzeichnet: Wer aktualisiert, muss vielleicht etwas anpassen.",
    ),
    nothing_breaking="Keine Änderung ist von ihren Autoren als inkompatibel gekennzeichnet.",
    deprecated=Count(one="{n} Abkündigung wird gemeldet:", many="{n} Abkündigungen werden gemeldet:"),
    security_marked=Count(
        one="{n} Änderung ist als sicherheitsrelevant gekennzeichnet.",
        many="{n} Änderungen sind als sicherheitsrelevant gekennzeichnet.",
    ),
    figures_incomplete=(
        "Der Code-Host sendet höchstens {n} Commits mit einem Push, deshalb sind die Zahlen vielleicht zu niedrig."
    ),
    unknown="Was dieser Bericht nicht umfasst",
    unknown_text=(
        "Dieser Bericht ist allein aus der Aktivität in den Repositorys geschrieben. Er sagt nichts über Umsatz, "
        "Kunden, Finanzen, Personal oder Pläne, denn davon ist hier nichts bekannt. Seine Zahlen zählen Aktivität; sie "
        "messen keinen Wert."
    ),
)
