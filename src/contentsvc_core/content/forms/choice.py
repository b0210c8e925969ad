"""The writer of each content type, and the reasons for no post."""

import re
from collections import Counter
from typing import Final

from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.writer import write_changelog
from contentsvc_core.content.forms.blog_post import write_blog_post
from contentsvc_core.content.forms.investor_update import write_investor_update
from contentsvc_core.content.forms.linkedin_post import write_linkedin_post
from contentsvc_core.content.forms.news import News, news_of
from contentsvc_core.content.forms.silences import why_silent
from contentsvc_core.content.forms.twitter_post import write_twitter_post
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import PLAIN_TYPES, ContentType
from contentsvc_core.content.writing import Brief, Draft, Silence

_NAMES: Final = {
    ContentType.BLOG_POST: "a blog post",
    ContentType.LINKEDIN_POST: "a LinkedIn post",
    ContentType.TWITTER_POST: "a post for X",
    ContentType.INVESTOR_UPDATE: "an investor update",
}
#: Words of most texts in a language, and of few texts in others.
_FREQUENT: Final = {
    "English": frozenset({"the", "and", "for", "with", "from", "of", "is", "when", "now", "to", "in", "not", "this"}),
    "French": frozenset({"le", "la", "les", "des", "du", "et", "pour", "avec", "dans", "une", "est", "quand", "sur"}),
    "German": frozenset({"der", "die", "das", "und", "für", "mit", "ist", "wenn", "nicht", "ein", "eine", "wird"}),
    "Spanish": frozenset({"el", "los", "las", "y", "para", "con", "del", "una", "es", "cuando", "por", "en", "al"}),
}
_LETTERS: Final = {
    "English": frozenset[str](),
    "French": frozenset("éèêàçûœ"),
    "German": frozenset("äöüß"),
    "Spanish": frozenset("ñáéíóú"),
}
#: English texts may have so many words of another language.
_FEW: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]+")


def write_content(brief: Brief) -> Draft | Silence:
    """Return the content that a brief asks for, by rule: the same events give the same bytes."""
    if brief.content_type is ContentType.CHANGELOG:
        return write_changelog(brief, brief.options) or Silence(reason=why_silent(brief, _report(brief)))
    news = news_of(brief)
    if (reason := _silence(news, brief, translates=False)) is not None:
        return Silence(reason=reason)
    match brief.content_type:
        case ContentType.BLOG_POST:
            return write_blog_post(news, brief)
        case ContentType.LINKEDIN_POST:
            return write_linkedin_post(news)
        case ContentType.TWITTER_POST:
            return write_twitter_post(news)
        case ContentType.INVESTOR_UPDATE:
            return write_investor_update(news)


def silence(brief: Brief, *, translates: bool = False) -> str | None:
    """Return the reason for no content, ``None`` if there is content. Rules do not translate; other writers may."""
    if brief.content_type is ContentType.CHANGELOG:
        return why_silent(brief, _report(brief)) if write_changelog(brief, brief.options) is None else None
    return _silence(news_of(brief), brief, translates=translates)


def _report(brief: Brief) -> tuple[Part, ...]:
    return report_of(brief, brief.options)


def _silence(news: News, brief: Brief, *, translates: bool) -> str | None:
    content_type = brief.content_type
    name = _NAMES[content_type]
    if content_type is ContentType.INVESTOR_UPDATE:
        return None if news.active else why_silent(brief, news.parts, name)
    if not (news.items or news.lead):
        return why_silent(brief, news.parts, name)
    if content_type in PLAIN_TYPES and not translates:
        asked = next(name for name, book in PHRASEBOOKS.items() if book is news.voice.phrases)
        if (spoken := _language(news, asked)) != asked:
            return f"{name} in {asked} needs a language model: the changes are described in {spoken}"
    return None


def _language(news: News, asked: str) -> str:
    """Return the language of most changes; English unless words or letters decide."""
    counted: Counter[str] = Counter()
    for text in (news.lead, *(item.change.text for item in news.items)):
        words = {word.casefold() for word in _WORD.findall(text)}
        for language, frequent in _FREQUENT.items():
            counted[language] += len(words & frequent) + bool(_LETTERS[language] & set(text))
    likely = max(_FREQUENT, key=lambda language: counted[language])
    # Few words prove little: a brief in English needs more of them.
    sure = counted[likely] > 2 * counted["English"] + _FEW if asked == "English" else True
    return likely if sure else "English"
