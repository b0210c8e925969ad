"""Proposes a brand identity from a site's metadata; without evidence, a field is empty, the tone ``Professional``."""

import re
from collections.abc import Iterable
from typing import Final, final

from attrs import frozen

from contentsvc_core.content.brand import NAME_LIMIT, TEXT_LIMIT, ToneProfile
from contentsvc_core.content.pages import SiteFacts
from contentsvc_core.text import one_line

_LANGUAGES: Final = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nb": "Norwegian", "nl": "Dutch", "nn": "Norwegian", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_TAG: Final = re.compile(r"([A-Za-z]{2,3})(?:[-_.@].*)?")
_BETWEEN: Final = re.compile(r"\s+[|\u00b7\u2022\u2013\u2014\u00bb:-]\s+|:\s+|\s+\|\s*")
_NOT_LETTERS: Final = re.compile(r"[\W_]+")
#: "for …" and the audience: up to two words before a word for people.
_AUDIENCE: Final = re.compile(
    r"\bfor ((?:(?!the\b|for\b|and\b|by\b|to\b)[a-z-]{2,20} ){0,2}"
    r"(?:developers|engineers|teams|startups|founders|designers|makers|marketers|agencies|businesses|companies|"
    r"enterprises|freelancers|creators|students|teachers|schools|researchers|scientists|communities|families|"
    r"hospitals|doctors|lawyers|restaurants|retailers|manufacturers|nonprofits|organizations|professionals|players|"
    r"administrators|operators|maintainers|contributors|writers|artists|musicians|photographers))\b"
)
_CONTRACTION: Final = re.compile(
    r"\b(?:you|we|they|it|let|that|there|here|what)['\u2019](?:re|ll|ve|s|d)\b|\b\w+n['\u2019]t\b", re.IGNORECASE
)
_CASUAL: Final = re.compile(
    r"!(?=\s|$)|[\U0001f300-\U0001faff]|\b(?:hey|awesome|yay|folks|gonna|wanna|oops)\b", re.IGNORECASE
)
_SIGNS: Final = 2


@final
@frozen(kw_only=True)
class BrandProposal:
    name: str
    company_name: str | None
    company_description: str | None
    tone_profile: ToneProfile
    audience: str | None
    language: str | None


def propose_brand(facts: SiteFacts, host: str, *, name: str | None = None) -> BrandProposal:
    """Propose a brand identity; ``host`` separates the names of site and page, and is the fallback for the name."""
    company = facts.organization_name or facts.site_name or _own_name(facts, host)
    description = facts.description or facts.shared_description or facts.organization_description
    own_words = [text for text in (facts.title, description, *facts.headings) if text]
    language = _language(facts)
    in_english = language in {None, "English"}
    called = one_line(name or company or host.removeprefix("www."), NAME_LIMIT)
    return BrandProposal(
        name=called,
        company_name=company,
        company_description=one_line(description or next(iter(facts.headings), ""), TEXT_LIMIT) or None,
        tone_profile=_tone(own_words) if in_english else ToneProfile.PROFESSIONAL,
        audience=_audience(own_words) if in_english else None,
        language=language,
    )


def _own_name(facts: SiteFacts, host: str) -> str | None:
    title = facts.title or facts.shared_title
    if title is None:
        return None
    labels = {_NOT_LETTERS.sub("", label.lower()) for label in host.split(".")}
    for part in _BETWEEN.split(title):
        if _NOT_LETTERS.sub("", part.lower()) in labels:
            return part
    return None


def _language(facts: SiteFacts) -> str | None:
    for tag_text in (facts.language, facts.locale):
        tag = None if tag_text is None else _TAG.fullmatch(tag_text)
        if tag is not None and tag[1].lower() in _LANGUAGES:
            return _LANGUAGES[tag[1].lower()]
    return None


def _audience(texts: Iterable[str]) -> str | None:
    for text in texts:
        match = _AUDIENCE.search(text.lower())
        if match is not None:
            return match[1]
    return None


def _tone(texts: Iterable[str]) -> ToneProfile:
    text = " ".join(texts)
    if len(_CASUAL.findall(text)) >= _SIGNS:
        return ToneProfile.CASUAL
    if len(_CONTRACTION.findall(text)) >= _SIGNS:
        return ToneProfile.CONVERSATIONAL
    return ToneProfile.PROFESSIONAL
