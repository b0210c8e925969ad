"""Reads a model's answer as a draft. The answer is as untrusted as the material."""

import json
import re
from typing import Any, Final, cast, final

from attrs import frozen

from contentsvc_core.content.changelog.markdown import cut_at_word
from contentsvc_core.content.editing import TITLE_LIMIT
from contentsvc_core.content.forms.social_posts import LINKEDIN_LIMIT, TWEET_LIMIT, URL_WEIGHT, weight
from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import MARKDOWN_LIMIT, PLAIN_TYPES, ContentType
from contentsvc_core.content.prompting.facts import unfounded
from contentsvc_core.content.prompting.tasks import HASHTAG_LIMITS
from contentsvc_core.content.writing import Draft
from contentsvc_core.text import one_line, storable

#: Limits of the social networks, in characters as each network counts them.
LENGTH_LIMITS: Final = {ContentType.LINKEDIN_POST: LINKEDIN_LIMIT, ContentType.TWITTER_POST: TWEET_LIMIT}

# The thoughts of a reasoning model, if its server does not separate them from the answer.
_THOUGHTS: Final = re.compile(r"\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCED: Final = re.compile(r"```[A-Za-z]*[ \t]*\n(.*)\n```", re.DOTALL)
#: The first fence inside a text is the end of a block: the text begins and ends with blocks of code.
_CLOSED_INSIDE: Final = re.compile(r"(?:(?!```)[^\n]*\n)*```[ \t]*(?:\n|\Z)")
#: A JSON object with text around it, in a code fence or not.
_OBJECT: Final = re.compile(r"\{\s*\"(?:title|markdown)\"\s*:")
#: The example in the prompt, "…", has none.
_WORD: Final = re.compile(r"\w")
_HEADING: Final = re.compile(r"#{1,2}[ \t]+(?=\S)")
_BREAKS: Final = re.compile("[\r\n\x0b\x0c\x85\u2028\u2029]")
_BARE_URL: Final = re.compile(r"https?://[^\s<>()\[\]]+")
_HASHTAG: Final = re.compile(r"(?<![\w&#/])#(?=\w*[^\W\d_])(\w+)")
_TEXT: Final = (
    r"(?:announcement|article|blog post|changelog|change log|draft|entwurf|investor update|(?:linkedin|social|x) post"
    r"|post|release notes|tweet|beitrag|brouillon|publication|borrador|publicación)"
)
#: A sentence to the person who asked, before the text: "Sure! Here is your changelog:".
_BEFORE_TEXT: Final = re.compile(
    r"\A(?:(?:absolutely|certainly|gladly|gerne|of course|okay|sure|claro|bien sûr|natürlich)\b"
    r"(?:[,.!]? (?:happy to help|here you go|thing))?[.:!,][ \t]*)?"
    rf"(?:(?:here(?:['\u2019]s| is| are)|below is|hier (?:ist|sind)|voici|aquí (?:está|tienes?))"
    rf" (?:an?|the|my|your|ihre?|dein|euer|der|das|le|la|votre|el|tu|su|un|una) (?:[\w-]+ ){{0,3}}?{_TEXT}"
    # No noun follows: "Here is the draft mode" names a feature.
    r"(?:,? (?:about|announcing|as|based|covering|for|from|in|of|on|with|you|für|über|pour|sobre|sur|para)\b"
    r"[^\n]{0,120}?)?)?[.:!]?[ \t]*(?=\n|\Z)",
    re.IGNORECASE,
)
#: What the person who asked may do with the text. "Feel free to try the new version" is for its readers.
_EDITS: Final = (
    r"(?:adjust\w*|changes?|edit(?:s|ed|ing)?|format|modif\w+|revis\w+|rewrit\w+|(?:longer|shorter)(?= or\b|\W*\Z)|tone"
    r"|tweak\w*|versions?)\b"
)
#: The same behind the text: "Let me know if you would like a shorter version!".
_AFTER_TEXT: Final = re.compile(
    r"\(?(?:(?:please )?let me know if"
    r"(?: (?:an?|another|any|anything|be|different|further|have|i|in|is|it|like|longer|make|me|minor|more|need|needs"
    r"|other|prefer|shorter|should|some|specific|the|there(?:['\u2019]s)?|this|to|want|would|you|you['\u2019]d)){0,12}?"
    rf" {_EDITS}|(?:want|would you like) me to {_EDITS}"
    rf"|if you(?:['\u2019]d| would) like\b.{{0,150}}?\b{_EDITS}.{{0,150}}?"
    r"\b(?:i can|i['\u2019](?:d|m)|just (?:ask|say)|let me know)\b"
    r"|feel free to (?:adjust|change|customi[sz]e|edit|modify|revise|tailor|tweak)\b.{0,150}?\b(?:as (?:needed|you)"
    r"|draft|length|placeholders?|text|this (?:changelog|post|tweet|version)|tone|to (?:fit|match|suit) your|wording"
    r"|your needs)\b"
    r"|i hope (?:it|that|this) helps)",
    re.IGNORECASE,
)
_RULE: Final = re.compile(r"[-*_]{3,}")
_LINK: Final = re.compile(r"\[([^\[\]\n]{0,500})\]\((https?://[^\s()]{1,1000})\)")


@final
@frozen(kw_only=True)
class UnusableDraft:
    #: Does not quote the answer.
    reason: str
    #: The faulty part of the text, which is repeated to the model alone.
    detail: str = ""


def read_draft(text: str, content_type: ContentType, facts: str | None = None) -> Draft | UnusableDraft:
    """Read a model's answer: the requested JSON object, also with text around it or line feeds inside its strings.

    A server that cannot force JSON may send Markdown whose first line is a heading: the title. A title that is too long
    is cut. Any other answer is unusable, and so is a text with facts that ``facts`` does not contain.
    """
    thoughts = _THOUGHTS.match(text)
    answer = text[thoughts.end() if thoughts else 0 :].strip().removeprefix("\ufeff")
    if fenced := _FENCED.fullmatch(answer):
        answer = fenced[1].strip()
    begun = 0 if answer.startswith("{") else found.start() if (found := _OBJECT.search(answer)) else None
    parts = _from_markdown(answer) if begun is None else _from_json(answer[begun:])
    if isinstance(parts, UnusableDraft):
        return parts
    title = cut_at_word(_without_marks(one_line(parts.title, 10 * TITLE_LIMIT)), TITLE_LIMIT)
    markdown = _without_title(_without_talk(_clean(parts.markdown)), title)
    markdown = _with_few_hashtags(markdown, HASHTAG_LIMITS.get(content_type))
    fault = _title_fault(parts.title, title) or _text_fault(markdown, content_type)
    if fault:
        return UnusableDraft(reason=fault)
    # Networks get the plain text.
    posted = text_of(markdown) if content_type in PLAIN_TYPES else ""
    if facts is not None and (found := unfounded(f"{title}\n{markdown}\n{posted}", facts)) is not None:
        reason = "it states a version, a number, an address or an account that the material does not hold"
        return UnusableDraft(reason=reason, detail=one_line(found, TITLE_LIMIT))
    return Draft(title=title, markdown=markdown)


def _title_fault(raw_title: str, title: str) -> str | None:
    if _BREAKS.search(raw_title.strip()) or not _WORD.search(title):
        return "its title is not one line of text"
    return None if _without_talk(title).strip() else "its title announces the text instead of naming its subject"


def _text_fault(markdown: str, content_type: ContentType) -> str | None:
    if not _WORD.search(markdown):
        return "it has no text"
    if len(markdown) > MARKDOWN_LIMIT:
        return f"it is longer than {MARKDOWN_LIMIT:,} characters"
    limit = LENGTH_LIMITS.get(content_type)
    if limit is not None and (length := length_of(markdown, content_type)) > limit:
        return f"it has {length:,} characters, and a {content_type.value} takes {limit:,}"
    return None


def length_of(markdown: str, content_type: ContentType) -> int:
    """Count the characters of a text as its network counts them; a Markdown link is its text and its address."""
    text = _LINK.sub(r"\1 \2", markdown).strip()
    if content_type is not ContentType.TWITTER_POST:
        return len(text)
    addresses = len(_BARE_URL.findall(text))
    return addresses * URL_WEIGHT + weight(_BARE_URL.sub("", text))


def _from_json(answer: str) -> Draft | UnusableDraft:
    try:
        # Not strict: a line feed inside a string is what small models get wrong, and nothing else can be meant by it.
        parsed, _ = json.JSONDecoder(strict=False).raw_decode(answer)
    except (ValueError, RecursionError):
        return UnusableDraft(reason="it is no JSON")
    title, markdown = (cast("dict[str, Any]", parsed).get(name) for name in ("title", "markdown"))
    if not (isinstance(title, str) and isinstance(markdown, str)):
        return UnusableDraft(reason='its JSON has no texts "title" and "markdown"')
    return Draft(title=title, markdown=markdown)


def _from_markdown(answer: str) -> Draft | UnusableDraft:
    title, markdown = _headed(answer)
    if not title:
        return UnusableDraft(reason="it is neither JSON nor Markdown that begins with a heading")
    return Draft(title=title, markdown=markdown)


def _headed(markdown: str) -> tuple[str, str]:
    line, _, rest = markdown.partition("\n")
    heading = _HEADING.match(line)
    return (_without_marks(line), rest) if heading else ("", markdown)


def _without_marks(title: str) -> str:
    heading = _HEADING.match(title)
    text = title[heading.end() :].rstrip(" \t#") if heading else title
    return text.replace("*", "").replace("`", "")


def _clean(markdown: str) -> str:
    return f"{storable(markdown).replace(chr(13) + chr(10), chr(10)).replace(chr(13), chr(10)).strip()}\n"


def _without_title(markdown: str, title: str) -> str:
    heading, rest = _headed(markdown)
    return f"{rest.strip()}\n" if heading.casefold() == title.casefold() else markdown


def _without_talk(markdown: str) -> str:
    """Return a text without a code fence around it and without sentences to the person who asked for it."""
    fenced = _FENCED.fullmatch(markdown.strip())
    if fenced and _CLOSED_INSIDE.match(fenced[1]):
        fenced = None
    text = _BEFORE_TEXT.sub("", fenced[1].strip() if fenced else markdown.strip()).strip()
    before, _, last = text.rpartition("\n")
    if _AFTER_TEXT.match(last):
        text, _, last = before.rstrip().rpartition("\n")
        text = text.rstrip() if _RULE.fullmatch(last) else before.rstrip()
    return f"{text}\n"


def _with_few_hashtags(markdown: str, limit: int | None) -> str:
    """Return a text with the first hashtags: others at its end are left out, and others inside become words."""
    found = [*_HASHTAG.finditer(markdown)]
    if limit is None or len(found) <= limit:
        return markdown
    last = next((count for count, word in enumerate(reversed(markdown.split())) if not _HASHTAG.fullmatch(word)), 0)
    first_left_out = max(len(found) - last, limit)
    cut = found[first_left_out].start() if first_left_out < len(found) else len(markdown)
    kept = iter([True] * limit)
    text = _HASHTAG.sub(lambda each: each[0] if next(kept, False) else each[1], markdown[:cut])
    return f"{text.rstrip()}\n"
