"""Checks a model's text against its material: versions, numbers, addresses and accounts."""

import re
from html import unescape
from typing import Final

from contentsvc_core.content.forms.social_posts import ADDRESS

_URL: Final = re.compile(r"https?://[^\s<>()\[\]]+", re.IGNORECASE)
_VERSION: Final = re.compile(
    r"(?<![\w.])v?([0-9]+(?:\.[0-9]+)+(?:[-.+]?(?:a|b|rc|alpha|beta|pre|dev)[.-]?[0-9]*)?)(?!\w)"
)
_NUMBER: Final = re.compile(r"(?<![\w.])#?([0-9]+(?:[.,\u202f'\u2019 ][0-9]{3})*(?:[.,][0-9]+)?)(?![\w])")
_ACCOUNT: Final = re.compile(r"(?<!\w)[@\uff20]([A-Za-z0-9_][\w-]{0,38})")
_DIGITS: Final = re.compile(r"[0-9]+")
_SEPARATORS: Final = re.compile(r"[.,\u202f'\u2019 ]")
#: A character reference of CommonMark. The longest name has 31 letters; ``unescape`` cannot read longer numbers.
_REFERENCE: Final = re.compile(r"&#?[A-Za-z0-9]{1,31};")
#: Marks that end a sentence or an emphasis, not an address.
_ENDING: Final = ".,;:!?'\"*_)"
#: Longer numbers are not counts.
_COUNT_DIGITS: Final = 6


def unfounded(text: str, material: str) -> str | None:
    """Return the first version, number, address or account of a text that is missing in its material.

    Numbers up to the number of items in the material are counts, and always allowed.
    """
    # A renderer reads references in addresses, too: ``https&colon;//`` begins one.
    material = _referenced(material)
    text = _referenced(text.replace("\\", ""))
    for raw_url in dict.fromkeys(_URL.findall(text)):
        url = raw_url.rstrip(_ENDING)
        if not re.search(re.escape(url) + r"(?![\w.-])", material):
            return url
    text = _URL.sub(" ", text)
    # Services link addresses without a scheme, too.
    known = material.casefold()
    for raw_address in dict.fromkeys(ADDRESS.findall(text)):
        bare = raw_address.rstrip(_ENDING)
        if not re.search(rf"(?<![\w-]){re.escape(bare.casefold())}(?![\w-])", known):
            return bare
    for version in dict.fromkeys(_VERSION.findall(text)):
        if not re.search(rf"(?<![0-9.]){re.escape(version)}(?![0-9])", material):
            return version
    forms = material, _SEPARATORS.sub("", material)
    numbers = {digits.lstrip("0") for form in forms for digits in _DIGITS.findall(form)}
    items = material.count("\n") + 1
    for number in _NUMBER.findall(_VERSION.sub(" ", text)):
        digits = _SEPARATORS.sub("", number).lstrip("0") or "0"
        if digits not in numbers and not (len(digits) <= _COUNT_DIGITS and int(digits) <= items):
            return number
    accounts = {account.casefold() for account in _ACCOUNT.findall(material)}
    return next((f"@{name}" for name in _ACCOUNT.findall(text) if name.casefold() not in accounts), None)


def without_accounts(text: str) -> str:
    """Return a text in which no word is an account."""
    return _ACCOUNT.sub(r"\1", text)


def _referenced(text: str) -> str:
    return _REFERENCE.sub(lambda found: unescape(found[0]), text)
