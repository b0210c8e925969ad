"""The writer of each content type, and the reasons for no post."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve

from contentsvc_core.content.changelog.paths import PathClass, touched
from contentsvc_core.content.changelog.patterns import REFERENCE_ALONE
from contentsvc_core.content.changelog.release_notes import upgrade_steps
from contentsvc_core.content.changelog.report import Part, report_of
from contentsvc_core.content.changelog.select import Change
from contentsvc_core.content.changelog.writer import write_changelog
from contentsvc_core.content.forms.long_posts import write_blog_post, write_investor_update
from contentsvc_core.content.forms.news import News, news_of
from contentsvc_core.content.forms.social_posts import write_linkedin_post, write_twitter_post
from contentsvc_core.content.phrases import ENGLISH, language_in, language_of
from contentsvc_core.content.posts import PLAIN_TYPES, ContentType
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import NOTHING_TO_REPORT, Brief, Draft, Silence


def write_content(brief: Brief) -> Draft | Silence:
    """Write any content type by rule, or explain why there is nothing to write: equal briefs give equal bytes."""
    if brief.content_type is ContentType.CHANGELOG:
        return write_changelog(brief, brief.options) or Silence(reason=_reason(brief, report_of(brief, brief.options)))
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
        written = write_changelog(brief, brief.options)
        return _reason(brief, report_of(brief, brief.options)) if written is None else None
    return _silence(news_of(brief), brief, translates=translates)


def _silence(news: News, brief: Brief, *, translates: bool) -> str | None:
    content_type = brief.content_type
    noun = content_type.noun
    name = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
    if content_type is ContentType.INVESTOR_UPDATE:
        return None if news.active else _reason(brief, news.parts, name)
    if not (news.items or news.lead):
        steps = content_type is ContentType.BLOG_POST and brief.release and upgrade_steps(brief.release)
        return None if steps else _reason(brief, news.parts, name)
    if content_type in PLAIN_TYPES and not translates:
        language = language_in(news.voice.phrases)
        texts = (news.lead, *(item.change.text for item in news.items))
        if (spoken := language_of(texts, language)) != language:
            return f"{name} in {language} needs a language model: the changes are described in {spoken}"
    return None


_COUNTED: Final = {
    "update": ("dependency update", "dependency updates"),
    "documentation": ("change to the documentation", "changes to the documentation"),
    "test": ("change to tests", "changes to tests"),
    "build": ("change to build and tools", "changes to build and tools"),
    "internal": ("internal change", "internal changes"),
    "unknown": ("change of no known kind", "changes of no known kind"),
    "reference": ("change that only names an issue", "changes that only name an issue"),
    "folded": ("change that the house style only counts", "changes that the house style only counts"),
    "inside": ("change that only developers notice", "changes that only developers notice"),
    "hidden": ("change that the house style hides", "changes that the house style hides"),
    "release": ("commit that only makes a release", "commits that only make a release"),
    "silent": ("commit without an entry", "commits without an entry"),
}
_OF_SECTION: Final = {
    Section.DEPENDENCIES: "update",
    Section.DOCUMENTATION: "documentation",
    Section.INTERNAL: "internal",
    Section.OTHER: "unknown",
}
_OF_TYPE: Final = {
    **dict.fromkeys(("test", "tests", "testing", "tst"), "test"),
    **dict.fromkeys(("build", "bld", "cd", "ci", "infra", "tooling"), "build"),
}
_OF_FILES: Final = {frozenset({PathClass.TEST}): "test", frozenset({PathClass.TOOL}): "build"}


def _reason(brief: Brief, parts: Sequence[Part], post: str = "") -> str:
    counted = Counter(_counted(change) for part in parts for stage in part.stages for change in stage.reported.changes)
    if _without_entry(parts):
        shown = evolve(brief.options, hidden=frozenset(), hidden_paths=(), hidden_authors=frozenset())
        unhidden = parts if shown == brief.options else report_of(brief, shown)
        whole = report_of(brief, evolve(shown, hide_release_chores=False))
        hidden, releasing = _number(unhidden) - _number(parts), _number(whole) - _number(unhidden)
        counted.update(hidden=hidden, release=releasing, silent=_without_entry(whole))
    counts = [f"{n:,} {nouns[n > 1]}" for what, nouns in _COUNTED.items() if (n := counted[what]) > 0]
    if not counts:
        releases = [*([brief.release] if brief.release else []), *(each for part in parts for each in part.releases)]
        noted = any(each.body and each.body.strip() for each in releases)
        missing = (
            f"no commits, and no {'changes in the ' if noted else ''}release notes" if releases else "no new commits"
        )
        return f"{NOTHING_TO_REPORT}: {missing}"
    return f"{ENGLISH.enumerated(counts)}: nothing a reader{f' of {post}' if post else ''} notices"


def _number(parts: Iterable[Part]) -> int:
    return sum(len(part.changes) for part in parts)


def _without_entry(parts: Iterable[Part]) -> int:
    return sum(len(part.commits) - sum(len(change.commits) for change in part.changes) for part in parts)


def _counted(change: Change) -> str:
    if change.section is Section.INTERNAL:
        label = _OF_TYPE.get(change.kind) or _OF_FILES.get(touched(change.commits).classes)
        return label or _OF_SECTION[change.section]
    if REFERENCE_ALONE.fullmatch(change.text):
        return "reference"
    return _OF_SECTION.get(change.section, "inside" if change.shown else "folded")
