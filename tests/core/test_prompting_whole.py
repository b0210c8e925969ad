"""Prompts line by line, and the limits of usable answers."""

import json
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from attrs import evolve
from tests.core.test_prompting import brand, changes, chapter, commit, release, told

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.prompting import SMALLEST_LIMIT, UnusableDraft, prompt_for, read_draft
from contentsvc_core.content.prompting.material import gather
from contentsvc_core.content.prompting.tasks import TASKS, TONES
from contentsvc_core.content.windows import LookbackWindow
from contentsvc_core.content.writing import Brief, Chapter, Draft
from contentsvc_core.events.normalized import MAX_COMMITS, Author, Push

_DAY: Final = datetime(2030, 1, 2, tzinfo=UTC)
_URL: Final = "https://host.example/acme/lamp"


def _entry(place: int, section: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "change",
        "repository": "acme/lamp",
        "section": section,
        **({"scope": more.pop("scope")} if "scope" in more else {}),
        "text": text,
        **{name: more.pop(name) for name in ("breaking", "references") if name in more},
        "date": "2030-01-02T03:04:05Z",
        "url": f"{_URL}/commit/{place:040x}",
        **more,
    }


def test_a_window_of_work_and_releases_is_told_like_this() -> None:
    push = chapter(
        "docs: draw the lamp",
        "fix(horn): blow at fog (#7)",
        "chore(deps): bump oil from 1 to 2",
        "fix: ring no more\n\nNot at night.\n\nRefs: #9\nReviewed-by: Bob",
        "feat!: burn gas\n\nBREAKING CHANGE: no oil\nBREAKING CHANGE: no wicks",
    ).events[0]
    events = (release("Old *notes*.", "v1.0.0", name=""), push, release(None, "v2.0.0-rc1", prerelease=True))
    brief = Brief(
        chapters=(Chapter(repository="acme/lamp", events=events),),
        window=LookbackWindow(since=_DAY, until=_DAY.replace(day=3)),
    )
    assert told(prompt_for(brief)) == [
        {
            "kind": "report",
            "repositories": ["acme/lamp"],
            "since": "2030-01-02T00:00:00.000Z",
            "until": "2030-01-03T00:00:00.000Z",
        },
        {
            "kind": "release",
            "repository": "acme/lamp",
            "tag": "v2.0.0-rc1",
            "name": "Two",
            "prerelease": True,
            "published": "2030-01-02T00:00:00Z",
            "url": f"{_URL}/releases/tag/v2.0.0-rc1",
        },
        {
            "kind": "release",
            "repository": "acme/lamp",
            "tag": "v1.0.0",
            "published": "2030-01-02T00:00:00Z",
            "url": f"{_URL}/releases/tag/v1.0.0",
            "notes": "Old *notes*.",
        },
        _entry(
            4,
            "Breaking changes",
            "Burn gas",
            breaking=["no oil", "no wicks"],
            details="BREAKING CHANGE: no oil\nBREAKING CHANGE: no wicks",
        ),
        _entry(3, "Fixed", "Ring no more", details="Not at night.\n\nRefs: #9"),
        _entry(1, "Fixed", "Blow at fog", scope="horn", references=["#7"]),
        {"kind": "contributors", "names": ["@ada"]},
    ]


def test_of_many_things_the_first_are_named() -> None:
    notes = "\n".join(f"BREAKING CHANGE: note {number} {'x' * 300}" for number in range(7))
    numbers = " ".join(f"(#{number})" for number in range(1, 13))
    (change,) = changes(prompt_for(Brief(chapters=(chapter(f"feat!: burn gas {numbers}\n\n{notes}"),))))
    assert change["references"] == [f"#{number}" for number in range(1, 11)]
    assert change["breaking"] == [f"note {number} {'x' * 192}…" for number in range(5)]
    # Whole lines, as many as 800 characters hold.
    assert change["details"] == "\n".join(notes.splitlines()[:2]) + " …"

    people = [commit(f"fix: lamp {n}", n, Author(name=f"P_{n}_", email="")) for n in range(32)]
    push = Push(ref="r", branch="b", commits=tuple(people), head_commit=None)
    named = told(prompt_for(Brief(chapters=(Chapter(repository="acme/lamp", events=(push,)),))))[-1]
    assert named == {"kind": "contributors", "names": [f"P_{n}_" for n in range(30)]}


@pytest.mark.parametrize(("number", "more"), [(5, None), (6, 1), (8, 3)])
def test_five_repositories_are_named_and_the_others_counted(number: int, more: int | None) -> None:
    chapters = tuple(chapter("feat: x", repository=f"acme/lamp{n}", first=n) for n in range(number))
    about = told(prompt_for(Brief(chapters=chapters)))[0]
    assert about["repositories"] == [f"acme/lamp{n}" for n in range(5)]
    assert about.get("furtherRepositories") == more


def test_a_push_as_large_as_the_code_host_sends_is_said_to_be_one() -> None:
    large = chapter(*["ci: run"] * MAX_COMMITS, "feat: turn")
    about = told(prompt_for(Brief(chapters=(chapter("feat: x", first=9_000, repository="acme/buoy"), large))))[0]
    assert about["note"] == "The code host sends at most 2048 commits with one push: there may have been more."
    assert "note" not in told(prompt_for(Brief(chapters=(chapter("feat: x"),))))[0]


def test_the_notes_of_releases_have_their_limits() -> None:
    def notes(body: str, **more: Any) -> tuple[str, bool]:
        given = Brief(chapters=(Chapter(repository="acme/lamp", events=(release(body),)),))
        record = told(prompt_for(evolve(given, **more)))[1]
        return record.get("notes", ""), record.get("notesAreCut", False)

    assert notes("x" * 3_000) == ("x" * 3_000, False)
    assert notes("x " * 1_501) == (("x " * 1_500).strip(), True)
    announced = prompt_for(Brief(chapters=(chapter("feat: x"),), release=release("\x01y " * 5_000)), limit=8_000)
    record = told(announced)[1]
    assert (record["kind"], record["notesAreCut"], set(record["notes"])) == ("announced release", True, {"y", " "})
    assert 1_000 <= len(record["notes"]) < 4_000


def test_what_finds_no_room_is_counted_and_details_come_last() -> None:
    wide = [f"feat: part {number} {'x' * 300}\n\n{'so ' * 200}" for number in range(20)]
    material = gather(Brief(chapters=(chapter(*wide),)), 4_000)
    lines = [json.loads(line) for line in material.lines]
    assert sum(len(line) + 1 for line in material.lines) <= 4_000
    assert len([line for line in lines if line["kind"] == "change"]) + material.left_out == 20
    assert material.left_out > 0
    note = told(prompt_for(Brief(chapters=(chapter(*wide),)), limit=1))[-1]
    assert note == {
        "kind": "note",
        "note": f"{material.left_out} further changes or releases of less weight are left out here for length.",
    }
    assert gather(Brief(chapters=(chapter("feat: x"),)), SMALLEST_LIMIT).left_out == 0


@pytest.mark.parametrize("tone", ToneProfile)
def test_a_system_prompt_is_put_together_of_task_tone_and_voice(tone: ToneProfile) -> None:
    identity = brand(tone_profile=tone, company_description="We *light*\x00.", audience="x" * 4_001)
    given = Brief(chapters=(chapter("feat: x"),), content_type=ContentType.BLOG_POST, brand=identity)
    prompt = prompt_for(given)
    mark = prompt.user.split("\n", 1)[0].removeprefix("MATERIAL ")
    assert (len(mark), set(mark) <= set("0123456789abcdef")) == (32, True)
    voice = prompt.system.partition(f'VOICE {mark}" is a JSON object')[2].partition(f"\nVOICE {mark}\n")[2]
    assert json.loads(voice.partition(f"\nEND VOICE {mark}\n")[0]) == {
        "name": "Acme",
        "description": "We *light*\ufffd.",
        "website": "https://a.x",
        "audience": "x" * 4_000,
    }
    assert prompt.system.startswith(f"{TASKS[ContentType.BLOG_POST]}\n\n# Truth\n")
    assert f"\n# Voice\n{TONES[tone]}\nThe line between" in prompt.system
    nobody = prompt_for(evolve(given, brand=None))
    assert "\n{}\nEND VOICE " in nobody.system
    assert mark not in nobody.system


@pytest.mark.parametrize(
    ("answer", "content_type", "read"),
    [
        ("## T #\n\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ("# *`T`*\none\r\ntwo\rthree", ContentType.CHANGELOG, Draft(title="T", markdown="one\ntwo\nthree\n")),
        ("\ufeff# T\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ("<thinking>\n# No\n</thinking># T\none", ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ('{"title":"T","markdown":"## t\\none"}', ContentType.CHANGELOG, Draft(title="T", markdown="one\n")),
        ('{"title":"T","markdown":"# U\\none"}', ContentType.CHANGELOG, Draft(title="T", markdown="# U\none\n")),
        (
            "# T\n[x](https://a.example/" + "y" * 300 + ") " + "z" * 255,
            ContentType.TWITTER_POST,
            "it has 281 characters, and a twitter_post takes 280",
        ),
        (
            "# T\n" + "x" * 3_001,
            ContentType.LINKEDIN_POST,
            "it has 3,001 characters, and a linkedin_post takes 3,000",
        ),
        ("# T\n" + "x" * 100_000, ContentType.BLOG_POST, "it is longer than 100,000 characters"),
        ("### T\none", ContentType.BLOG_POST, "it is neither JSON nor Markdown that begins with a heading"),
        ("{}", ContentType.BLOG_POST, 'its JSON has no texts "title" and "markdown"'),
        ("{} x", ContentType.BLOG_POST, 'its JSON has no texts "title" and "markdown"'),
        ("{", ContentType.BLOG_POST, "it is no JSON"),
        ('{"title":"T","markdown":" "}', ContentType.BLOG_POST, "it has no text"),
    ],
)
def test_an_answer_is_read_or_refused_with_a_reason(answer: str, content_type: ContentType, read: Draft | str) -> None:
    expected = UnusableDraft(reason=read) if isinstance(read, str) else read
    assert read_draft(answer, content_type) == expected
