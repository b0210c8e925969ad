"""Parts of a local history, and the post that the service would write about each."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, final

from attrs import field, frozen

from contentsvc_cli.develop.git import Checkout, GitFailed, Tag
from contentsvc_cli.develop.history import bodies
from contentsvc_cli.develop.native_bodies import HostedRepository
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.options import ChangelogOptions
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.writing import Brief, Chapter, Draft, Silence
from contentsvc_core.events.normalized import Push, Release
from contentsvc_core.text import storable
from contentsvc_core.webhooks.providers.native import read_push
from contentsvc_core.webhooks.providers.tags import is_prerelease

#: A version tag with its prefix: a monorepo has a series of tags for each package.
_VERSION: Final = re.compile(r"(?P<series>.*?)[vV]?\d+\.\d+(?:[.+_-].*)?", re.DOTALL)
_SHORT: Final = 10
_DAY_S: Final = 86_400


@final
@frozen(kw_only=True)
class PreviewRange:
    range: str
    tip: str
    without: tuple[str, ...] = field(converter=tuple)
    #: Release at its end; ``None`` for unreleased changes.
    tag: Tag | None = None
    previous: str | None = None


@final
@frozen(kw_only=True)
class Preview:
    stretch: PreviewRange
    commits: int
    #: Time of the release, or else of the newest commit; ISO 8601.
    at: str
    content: Draft | Silence

    @property
    def draft(self) -> Draft | None:
        """The post; ``None``: there is nothing to report."""
        return self.content if isinstance(self.content, Draft) else None


def stretches(repository: Checkout, range_: str | None, *, releases: int, days: int) -> list[PreviewRange]:
    """Return the parts of a range, newest first.

    ``range_`` is ``FROM..TO``, or a revision for its changes since the previous release. ``None``: unreleased changes
    and the last ``releases``; in a repository without releases, the last ``days``.
    """
    if range_ is None:
        tip = repository.line().tip
        tags = release_tags(repository.tags(merged=tip))
        if not tags:
            return _last_days(repository, tip, days)
        ranges = list(_between(tags, None, tip, "HEAD"))
        # The unreleased part comes first and has no release.
        return ranges[: releases + (ranges[0].tag is None)]
    before, dots, after = range_.partition("..")
    if not dots:
        return _one(repository, range_)
    start, tip = _resolved(repository, before), _resolved(repository, after or "HEAD")
    # The names are shown, and compared with those of tags: neither has the bytes that are no UTF-8.
    before, after = storable(before), storable(after)
    tags = release_tags(repository.tags(merged=tip))
    reached = {tag.commit_id for tag in repository.tags(merged=start)}
    inside = [tag for tag in tags if tag.commit_id not in reached]
    inside = _ending_at(inside, repository, tip, after)
    return list(_between(inside, (before, start), tip, after or "HEAD"))


def release_tags(tags: Iterable[Tag]) -> list[Tag]:
    """Return the release tags of the newest series, oldest first. Pre-releases count only without other releases."""
    read = [(tag, match["series"]) for tag in tags if (match := _VERSION.fullmatch(tag.name))]
    final_ones = [pair for pair in read if not is_prerelease(pair[0].name)] or read
    if not final_ones:
        return []
    newest = final_ones[-1][1]
    return list({tag.commit_id: tag for tag, series in final_ones if series == newest}.values())


def previews(
    repository: Checkout,
    hosted: HostedRepository,
    ranges: Iterable[PreviewRange],
    options: ChangelogOptions,
    content_type: ContentType,
) -> Iterator[Preview]:
    ends = repository.shallow_ends()
    for stretch in ranges:
        pushes = repository.pushes(stretch.tip, without=stretch.without)
        if not pushes:
            continue
        if not ends.isdisjoint(commit for push in pushes for commit in push):
            message = (
                f"this clone is shallow: its history ends inside {stretch.range}. "
                "Fetch the rest with 'git fetch --unshallow --tags'"
            )
            raise GitFailed(message)
        yield _preview(repository, hosted, stretch, pushes, options, content_type)


def title(preview: Preview) -> str:
    if preview.draft is not None:
        return preview.draft.title
    return preview.stretch.range if preview.stretch.tag is None else preview.stretch.tag.name


def text(preview: Preview) -> str:
    if isinstance(preview.content, Draft):
        return preview.content.markdown
    reason = preview.content.reason
    return f"{reason[:1].upper()}{reason[1:]}. `contentsvc preview --team` lists the changes."


def range_line(preview: Preview) -> str:
    commits = f"{preview.commits:,} commit" + ("" if preview.commits == 1 else "s")
    return f"{preview.stretch.range} · {commits}"


def _preview(
    repository: Checkout,
    hosted: HostedRepository,
    stretch: PreviewRange,
    pushes: Sequence[Sequence[str]],
    options: ChangelogOptions,
    content_type: ContentType,
) -> Preview:
    # Bodies in a code host's format, read by the service's own reader: the preview equals the service's post.
    events = [read_push(body).event for _, _, body in bodies(hosted, pushes, (), repository.commits)]
    newest = events[-1].commits[-1].timestamp if isinstance(events[-1], Push) else ""
    at = (stretch.tag.created_at if stretch.tag is not None else "") or newest
    brief = Brief(
        content_type=content_type,
        chapters=(Chapter(repository=hosted.full_name, events=events),),
        release=None if stretch.tag is None else _release(hosted, stretch.tag, at),
        previous_tag=stretch.previous,
        options=options,
    )
    commits = sum(map(len, pushes))
    return Preview(stretch=stretch, commits=commits, at=at, content=write_content(brief))


def _release(hosted: HostedRepository, tag: Tag, at: str) -> Release:
    return Release(
        action="published",
        tag_name=tag.name,
        name=tag.name,
        # An annotation is no release note: the preview reports the commits.
        body=None,
        prerelease=is_prerelease(tag.name),
        draft=False,
        published_at=at,
        url=f"{hosted.html_url}/releases/tag/{tag.name}",
    )


def _between(tags: Sequence[Tag], start: tuple[str, str] | None, tip: str, tip_name: str) -> Iterator[PreviewRange]:
    excluded = [] if start is None else [start[1]]
    first_name = None if start is None else start[0]
    if not tags or tags[-1].commit_id != tip:
        name = tags[-1].name if tags else first_name
        yield PreviewRange(
            range=f"{name}..{tip_name}" if name else tip_name,
            tip=tip,
            without=[*excluded, *(tag.commit_id for tag in tags)],
        )
    for index in reversed(range(len(tags))):
        tag = tags[index]
        previous = tags[index - 1].name if index else first_name
        yield PreviewRange(
            range=f"{previous}..{tag.name}" if previous else tag.name,
            tip=tag.commit_id,
            without=[*excluded, *(tag.commit_id for tag in tags[:index])],
            tag=tag,
            previous=previous,
        )


def _last_days(repository: Checkout, tip: str, days: int) -> list[PreviewRange]:
    start = repository.before(tip, repository.committed_at(tip) - days * _DAY_S)
    name = f"{start[:_SHORT]}..HEAD" if start else "HEAD"
    return [PreviewRange(range=f"{name}, the last {days} days", tip=tip, without=[start] if start else [])]


def _one(repository: Checkout, range_: str) -> list[PreviewRange]:
    tip, range_ = _resolved(repository, range_), storable(range_)
    tags = _ending_at(release_tags(repository.tags(merged=tip)), repository, tip, range_)
    return [next(_between(tags, None, tip, range_))]


def _ending_at(tags: list[Tag], repository: Checkout, tip: str, name: str) -> list[Tag]:
    """Return the release tags with the named tag added: a pre-release has a post if it is named."""
    named = next((tag for tag in repository.tags(merged=tip) if tag.name == name), None)
    return tags if named is None else [*(tag for tag in tags if tag.commit_id != named.commit_id), named]


def _resolved(repository: Checkout, revision: str) -> str:
    commit = repository.resolve(revision)
    if commit is None:
        hint = ", and this clone is shallow" if repository.shallow_ends() else ""
        message = f"there is no revision '{revision}' here{hint}: name a tag, a branch or a commit, as in v1.0.0..HEAD"
        raise GitFailed(message)
    return commit
