"""The phrases in Spanish."""

from typing import Final

from contentsvc_core.content.phrases.phrasebook import Count, Phrasebook, Toned
from contentsvc_core.content.sections import Section

SPANISH: Final = Phrasebook(
    thousands=".",
    zero_is_one=False,
    conjunction=" y ",
    months=(
        *("enero", "febrero", "marzo", "abril", "mayo", "junio"),
        *("julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"),
    ),
    first_of_month="1",
    full_date="{day} de {month} de {year}",
    date_in_year="{day} de {month}",
    dates_in_month="{first}\u2013{last} de {month} de {year}",
    headings={
        Section.BREAKING: "Cambios incompatibles",
        Section.SECURITY: "Seguridad",
        Section.FEATURES: "Novedades",
        Section.FIXES: "Correcciones",
        Section.PERFORMANCE: "Rendimiento",
        Section.DOCUMENTATION: "Documentación",
        Section.OTHER: "Otros cambios",
        Section.INTERNAL: "Cambios internos",
    },
    kinds={
        Section.BREAKING: Count(one="{n} cambio incompatible", many="{n} cambios incompatibles"),
        Section.SECURITY: Count(one="{n} cambio de seguridad", many="{n} cambios de seguridad"),
        Section.FEATURES: Count(one="{n} novedad", many="{n} novedades"),
        Section.FIXES: Count(one="{n} corrección", many="{n} correcciones"),
        Section.PERFORMANCE: Count(one="{n} mejora de rendimiento", many="{n} mejoras de rendimiento"),
        Section.DOCUMENTATION: Count(one="{n} cambio en la documentación", many="{n} cambios en la documentación"),
        Section.OTHER: Count(one="{n} cambio diverso", many="{n} cambios diversos"),
        Section.INTERNAL: Count(one="{n} cambio interno", many="{n} cambios internos"),
    },
    more_kinds={
        Section.BREAKING: Count(one="{n} cambio incompatible más", many="{n} cambios incompatibles más"),
        Section.SECURITY: Count(one="{n} cambio de seguridad más", many="{n} cambios de seguridad más"),
        Section.FEATURES: Count(one="{n} novedad más", many="{n} novedades más"),
        Section.FIXES: Count(one="{n} corrección más", many="{n} correcciones más"),
        Section.PERFORMANCE: Count(one="{n} mejora de rendimiento más", many="{n} mejoras de rendimiento más"),
        Section.DOCUMENTATION: Count(
            one="{n} cambio más en la documentación", many="{n} cambios más en la documentación"
        ),
        Section.OTHER: Count(one="{n} cambio más", many="{n} cambios más"),
        Section.INTERNAL: Count(one="{n} cambio interno más", many="{n} cambios internos más"),
    },
    dependency=Count(one="{n} dependencia actualizada", many="{n} dependencias actualizadas"),
    more_dependency=Count(one="{n} dependencia actualizada más", many="{n} dependencias actualizadas más"),
    more_changes=Count(one="{n} cambio más", many="{n} cambios más"),
    title_leads={
        Section.BREAKING: "Incompatible: {text}",
        Section.SECURITY: "Seguridad: {text}",
        Section.FIXES: "Corrección: {text}",
        Section.DOCUMENTATION: "Documentación: {text}",
    },
    leads={
        Section.BREAKING: "Cambio incompatible: {text}",
        Section.SECURITY: "Seguridad: {text}",
        Section.FEATURES: "Nuevo: {text}",
        Section.FIXES: "Corrección: {text}",
        Section.PERFORMANCE: "Rendimiento: {text}",
        Section.DOCUMENTATION: "Documentación: {text}",
        Section.OTHER: "Cambio: {text}",
        Section.INTERNAL: "Interno: {text}",
    },
    releases="Versiones",
    contributors="Personas que han colaborado",
    full_changelog="Todos los cambios:",
    unreleased="Aún sin publicar",
    not_released="aún sin publicar",
    not_released_counts="Aún sin publicar: {counts}.",
    elsewhere="En {subject}: {counts}.",
    as_written="Los textos de los commits se reproducen tal como los escribieron sus autores.",
    pre_release="versión preliminar",
    new_release="Nueva versión",
    this_release="Esta versión",
    new_release_of="Nueva versión de {project}",
    released="Publicación de {names}",
    releases_up_to="{releases} hasta {tag}",
    earlier_releases="Antes: {releases}",
    not_covered=Count(
        one="{n} evento anterior de este período no se incluye aquí.",
        many="{n} eventos anteriores de este período no se incluyen aquí.",
    ),
    plus=", además de {parts}",
    not_shown=Count(one="{n} cambio más no se muestra aquí.", many="{n} cambios más no se muestran aquí."),
    incomplete=(
        "El servidor de código envía como máximo {n} commits con cada push, así que esta lista puede estar incompleta."
    ),
    more_people="y {n} más",
    more_commits="{n} más",
    notes_cut="Las notas son más largas de lo que puede ser una publicación; {page}.",
    read_on="seguir leyendo en la página de la versión",
    release_page="página de la versión",
    maintenance=(
        "{tag} solo contiene trabajo de mantenimiento, como la preparación de la publicación. Véase la {page}."
    ),
    no_notes="{tag} se publicó sin notas de la versión. Véase la {page}.",
    no_message="(sin mensaje de commit)",
    untitled="Cambios",
    release_count=Count(one="{n} versión", many="{n} versiones"),
    pre_release_count=Count(one="{n} versión preliminar", many="{n} versiones preliminares"),
    release_range="{first} a {last}",
    commit_count=Count(one="{n} commit", many="{n} commits"),
    contributor_count=Count(one="{n} persona que ha colaborado", many="{n} personas que han colaborado"),
    repository_count=Count(one="{n} repositorio", many="{n} repositorios"),
    announced_one=Toned(
        conversational="¡Ya está aquí {names}!",
        professional="{names} ya está disponible.",
        casual="¡Ya ha salido {names}!",
        formal="Se ha publicado {names}.",
    ),
    announced_many=Toned(
        conversational="¡Ya están aquí {names}!",
        professional="{names} ya están disponibles.",
        casual="¡Ya han salido {names}!",
        formal="Se han publicado {names}.",
    ),
    announced_by=Toned(
        conversational="¡En {company} hemos publicado {names}!",
        professional="{company} ha publicado {names}.",
        casual="¡En {company} hemos sacado {names}!",
        formal="{company} anuncia la publicación de {names}.",
    ),
    news=Toned(
        conversational="Esto es lo que ha cambiado en {subject}.",
        professional="Novedades de {subject}.",
        casual="¡Esto es lo nuevo de {subject}!",
        formal="Se han realizado los siguientes cambios en {subject}.",
    ),
    news_by=Toned(
        conversational="En {company} hemos trabajado en {subject}.",
        professional="Novedades de {company} sobre {subject}.",
        casual="¡Esto es lo que hemos hecho en {company} con {subject}!",
        formal="{company} presenta los siguientes cambios en {subject}.",
    ),
    news_title="Novedades de {subject}",
    figures="En cifras: {counts}.",
    figures_in="En cifras, {period}: {counts}.",
    most_important="El cambio que hay que conocer primero:",
    areas="Las partes con más cambios: {areas}.",
    upgrade="Antes de actualizar",
    upgrade_advice=Toned(
        conversational="Échale un vistazo a esto primero.",
        professional="Lo siguiente puede requerir algo de su parte.",
        casual="Lee esto primero.",
        formal="Conviene tener en cuenta lo siguiente.",
    ),
    behind_the_scenes="Entre bastidores: {counts}.",
    release_notes="Notas de la versión",
    thanks_heading="Gracias",
    thanks=Toned(
        conversational="Gracias a todas las personas cuyo trabajo está aquí: {names}.",
        professional="Gracias por sus contribuciones: {names}.",
        casual="¡Gracias, {names}!",
        formal="Agradecemos sus contribuciones a {names}.",
    ),
    about="Acerca de {company}",
    signature=Toned(
        conversational="Vuestro equipo de {company}",
        professional="El equipo de {company}",
        casual="La gente de {company}",
        formal="{company}",
    ),
    source_note="Este texto está escrito a partir de los commits y las versiones de {repositories}.",
    compare="Todos los commits entre las versiones: {link}",
    breaking_warning=Toned(
        conversational="Atención: no todo sigue siendo compatible, échale un vistazo antes de actualizar.",
        professional="Tenga en cuenta antes de actualizar que no todo sigue siendo compatible.",
        casual="¡Ojo, no todo sigue siendo compatible!",
        formal="Conviene tener en cuenta antes de actualizar que no todo sigue siendo compatible.",
    ),
    thanks_people=Toned(
        conversational="¡Gracias a las {n} personas cuyo trabajo está aquí!",
        professional="Gracias a las {n} personas que han contribuido.",
        casual="¡Gracias a las {n} personas que habéis participado!",
        formal="Agradecemos su contribución a las {n} personas que han participado.",
    ),
    more_in_notes="Página de la versión: {url}",
    more_in_repository="Repositorio: {url}",
    investor_title="{subject}: informe para inversores",
    investor_title_in="{subject}: informe para inversores, {period}",
    summary="Resumen",
    covers="Este informe abarca el trabajo en {subject}.",
    covers_in="Este informe abarca el trabajo en {subject}, {period}.",
    released_versions=Count(one="Se publicó {n} versión: {tags}.", many="Se publicaron {n} versiones: {tags}."),
    pre_released_versions=Count(
        one="Se publicó {n} versión preliminar: {tags}.", many="Se publicaron {n} versiones preliminares: {tags}."
    ),
    received_versions=Count(one="Se recibió {n} versión: {tags}.", many="Se recibieron {n} versiones: {tags}."),
    received_pre_versions=Count(
        one="Se recibió {n} versión preliminar: {tags}.", many="Se recibieron {n} versiones preliminares: {tags}."
    ),
    nothing_released="No se publicó ninguna versión.",
    comprises="El trabajo comprende {counts}.",
    shipped="Lo que se ha completado",
    nothing_shipped="Los commits solo contienen mantenimiento: {counts}.",
    themes={
        Section.BREAKING: "Cambios que rompen la compatibilidad",
        Section.SECURITY: "Seguridad",
        Section.FEATURES: "Nuevas posibilidades",
        Section.FIXES: "Correcciones",
        Section.PERFORMANCE: "Rendimiento",
        Section.DOCUMENTATION: "Documentación",
        Section.OTHER: "Otros trabajos",
        Section.INTERNAL: "Trabajos internos",
    },
    corrected="Corregido: {text}",
    activity="La actividad en cifras",
    repository="Repositorio",
    commits="Commits",
    total="Total",
    commits_told=Count(
        one=(
            "De {total}, {n} está detrás de los cambios contados arriba; "
            "no se cuentan fusiones, reversiones con lo que deshacen, preparación "
            "de versiones ni automatización."
        ),
        many=(
            "De {total}, {n} están detrás de los cambios contados arriba; "
            "no se cuentan fusiones, reversiones con lo que deshacen, preparación "
            "de versiones ni automatización."
        ),
    ),
    risks="Riesgos y cambios incompatibles",
    breaking_marked=Count(
        one="{n} cambio está marcado como incompatible: puede ser necesario adaptarse antes de actualizar.",
        many="{n} cambios están marcados como incompatibles: puede ser necesario adaptarse antes de actualizar.",
    ),
    nothing_breaking="Ningún cambio está marcado como incompatible por sus autores.",
    deprecated=Count(one="Se anuncia {n} elemento obsoleto:", many="Se anuncian {n} elementos obsoletos:"),
    security_marked=Count(
        one="{n} cambio está marcado como relativo a la seguridad.",
        many="{n} cambios están marcados como relativos a la seguridad.",
    ),
    figures_incomplete=(
        "El servidor de código envía como máximo {n} commits con cada push, así que las cifras pueden quedarse cortas."
    ),
    unknown="Lo que este informe no abarca",
    unknown_text=(
        "Este informe está escrito solo a partir de la actividad de los repositorios. No dice nada sobre ingresos, "
        "clientes, finanzas, personal o planes, porque nada de eso se conoce aquí. Sus cifras cuentan actividad; no "
        "miden su valor."
    ),
)
