"""The table of providers: the shipped ones, and the installed ones of other packages."""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from contentsvc_core.errors import ProviderUnusable
from contentsvc_core.webhooks.providers.bitbucket import BITBUCKET
from contentsvc_core.webhooks.providers.codehost import CODEHOST
from contentsvc_core.webhooks.providers.github import GITHUB
from contentsvc_core.webhooks.providers.gitlab import GITLAB
from contentsvc_core.webhooks.providers.provider import Provider
from contentsvc_core.webhooks.signature import Scheme

#: The namespace package whose modules each have a ``PROVIDER``.
_INSTALLED: Final = "contentsvc_providers"


def _installed() -> tuple[Provider, ...]:
    spec = find_spec(_INSTALLED)
    if spec is None:
        return ()
    from pkgutil import iter_modules  # noqa: PLC0415  # most installations have only the shipped providers

    names = sorted(module.name for module in iter_modules(spec.submodule_search_locations))
    return tuple(_provider_of(f"{_INSTALLED}.{name}") for name in names if not name.startswith("_"))


def _provider_of(module: str) -> Provider:
    try:
        provider: Provider = import_module(module).PROVIDER
    except AttributeError as exc:
        # Names of packages are found on demand, where the interpreter would hide an AttributeError.
        message = f"the provider of {module} cannot be imported: {exc}"
        raise ProviderUnusable(message) from exc
    if missing := [name for name in vars(Scheme) if not name.startswith("_") and not hasattr(provider.scheme, name)]:
        message = f"the scheme of the provider {provider.slug!r} lacks {', '.join(missing)}: add them in {module}"
        raise ProviderUnusable(message)
    return provider


def _by_slug(providers: tuple[Provider, ...]) -> dict[str, Provider]:
    found: dict[str, Provider] = {}
    for provider in providers:
        if found.setdefault(provider.slug, provider) is not provider:
            message = f"two providers have the slug {provider.slug!r}: rename or uninstall one of them"
            raise ProviderUnusable(message)
    return found


PROVIDERS: Final[tuple[Provider, ...]] = (CODEHOST, GITHUB, GITLAB, BITBUCKET, *_installed())
DEFAULT_PROVIDER: Final = PROVIDERS[0]
#: The provider that clients of the hosted product know (decision 0038).
HOSTED_PROVIDER: Final = next(provider for provider in PROVIDERS if provider.is_hosted)

_BY_SLUG: Final = _by_slug(PROVIDERS)


def provider_named(slug: str) -> Provider | None:
    return _BY_SLUG.get(slug)
