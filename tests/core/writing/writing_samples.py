"""Builders for briefs of each content type, a hand-written month, and the parsing of posts as a browser does."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha1
from pathlib import Path
from typing import Any, Final

from attrs import evolve
from tests.elements import Elements
from tests.golden_text import check_text

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.content.brand import BrandIdentity, ToneProfile
from contentsvc_core.content.forms import write_content
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief, Chapter, Draft, Silence
from contentsvc_core.events.normalized import Author, Commit, Event, Push, Release

HOST: Final = "https://codehost.example/acme/kettle"
ADA: Final = Author(name="Ada Byron", email="ada@mail.example", username="ada")
GRACE: Final = Author(name="Grace Murray", email="grace@mail.example", username="grace")
JUNE: Final = LookbackWindow(since=datetime(2030, 6, 1, tzinfo=UTC), until=datetime(2030, 7, 1, tzinfo=UTC))

_RENDERER: Final = SafeMarkdown()


def commit(message: str, *, author: Author = ADA, sha: str | None = None, host: str = HOST) -> Commit:
    sha = sha or sha1(message.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    return Commit(id=sha, message=message, author=author, timestamp="2030-06-02T03:04:05Z", url=f"{host}/commit/{sha}")


def push(*commits: Commit | str) -> Push:
    made = tuple(commit(each) if isinstance(each, str) else each for each in commits)
    return Push(ref="refs/heads/main", branch="main", commits=made, head_commit=None)


def release(tag: str = "v1.2.0", *, body: str | None = None, prerelease: bool = False, host: str = HOST) -> Release:
    return Release(
        action="published",
        tag_name=tag,
        name=None,
        body=body,
        prerelease=prerelease,
        draft=False,
        published_at="2030-06-20T10:00:00Z",
        url=f"{host}/releases/tag/{tag}",
    )


#: One month of one repository, in the style of its authors.
MONTH: Final[tuple[Event, ...]] = (
    push(
        commit("docs: spell spout right (#9)", author=GRACE),
        commit(
            "feat(lid): close by itself (#12)\n\n"
            "## Problem\n\nThe lid stays open until somebody closes it.\n\n"
            "## Summary\n\nAdds a spring that closes the lid once the kettle tilts. I tried three springs.\n\n"
            "Closes #11\n\nCo-authored-by: Grace Murray <grace@mail.example>"
        ),
        commit("chore(deps): bump whistle from 1 to 2 (#13)", author=Author(name="renovate[bot]", email="")),
    ),
    push(
        commit("fix(spout): stop the drip (#14)", author=GRACE),
        commit("feat: show the water level in `litres` (#15)"),
        commit("ci: boil twice"),
        commit(
            "feat(api)!: report temperatures in kelvin (#16)\n\n"
            "BREAKING CHANGE: `Kettle.temperature` is in kelvin, no longer in degrees Celsius"
        ),
        commit("fix(security): refuse unsigned firmware (#17)", author=GRACE),
        commit("feat: deprecate `Kettle.boil_now` (#18)"),
        commit("refactor: one thermostat"),
        commit("chore(release): 1.2.0"),
    ),
    release(),
)


def brand(
    *,
    tone: ToneProfile = ToneProfile.PROFESSIONAL,
    language: str | None = None,
    audience: str | None = None,
    company: str | None = None,
    description: str | None = None,
    website: str = "https://acme.example",
) -> BrandIdentity:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    return BrandIdentity(
        id="brand_1",
        organization_id="org_1",
        name="acme",
        website_url=website,
        company_name=company,
        company_description=description,
        tone_profile=tone,
        audience=audience,
        language=language,
        created_at=now,
        updated_at=now,
    )


def brief(content_type: ContentType, *events: Event, **more: Any) -> Brief:
    """Return a brief about ``acme/kettle``."""
    given: dict[str, Any] = {"window": JUNE, **more}
    return Brief(content_type=content_type, chapters=[Chapter(repository="acme/kettle", events=events)], **given)


def written(content_type: ContentType, *events: Event | str, **more: Any) -> Draft:
    """Return the draft about ``acme/kettle``; texts are the messages of one push."""
    messages = [each for each in events if isinstance(each, str)]
    others = [each for each in events if not isinstance(each, str)]
    pushed = [push(*messages)] if messages else []
    draft = write_content(brief(content_type, *pushed, *others, **more))
    assert isinstance(draft, Draft)
    return draft


def check_golden(path: Path, written: Brief) -> None:
    """Compare the post of a brief, or the reason for no post, with a file; ``make golden`` writes the file instead."""
    draft = write_content(written)
    text = f"(no post: {draft.reason})\n" if isinstance(draft, Silence) else f"{draft.title}\n\n{draft.markdown}"
    check_text(path, text)


def of_several(content_type: ContentType, events: Mapping[str, tuple[Event, ...]], **more: Any) -> Draft:
    """Return the draft about several repositories."""
    chapters = [Chapter(repository=name, events=each) for name, each in events.items()]
    draft = write_content(evolve(brief(content_type, **more), chapters=chapters))
    assert isinstance(draft, Draft)
    return draft


def rendered(markdown: str) -> Elements:
    """Return the elements of a rendered post."""
    return Elements(_RENDERER.html(markdown))
