"""The stored versions of a post's text, and the differences between them."""

from datetime import timedelta
from typing import Final

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins
from tests.core.test_editing import POST

from contentsvc_core.content.posts import Label, Post, PostText
from contentsvc_core.content.versions import PostVersion, VersionBody, current_first, differences, versions_after
from contentsvc_core.testing import START

MIB: Final = 1024 * 1024
_LINES: Final = st.lists(st.sampled_from(["", "a", "b", "c", "d"]), max_size=12).map("\n".join)


def edited(
    kept: list[PostVersion], before: Post, markdown: str, author: str | None = "csk_1"
) -> tuple[Post, list[PostVersion]]:
    after = evolve(before, markdown=markdown, updated_at=before.updated_at + timedelta(minutes=1))
    return after, list(versions_after(kept, before, after, author)[1])


def test_a_change_that_an_older_version_of_the_service_made_is_kept_as_well() -> None:
    after, kept = edited([], POST, "new")
    foreign = evolve(after, markdown="unseen")
    _, kept = edited(kept, foreign, "newest")

    assert [each.text.markdown for each in kept] == ["newest", "unseen", "new", POST.markdown]
    assert [each.number for each in current_first(kept, evolve(foreign, markdown="again"))] == [5, 4, 3, 2, 1]


def test_a_change_of_other_fields_adds_no_version() -> None:
    assert versions_after((), POST, evolve(POST, content="<p>"), None) == ((), ())


def test_a_version_has_its_text_on_the_wire() -> None:
    text = PostText(title="Lamps", markdown="M", summary="S", labels=(Label.NEW,))
    version = PostVersion(number=3, text=text, saved_at=START, author="csk_1")
    assert to_builtins(VersionBody.of(version)) == {
        "number": 3,
        "title": "Lamps",
        "markdown": "M",
        "summary": "S",
        "labels": ["new"],
        "savedAt": "2026-01-01T00:00:00.000Z",
        "author": "csk_1",
    }


def test_versions_are_bounded_by_number_and_by_bytes() -> None:
    post, kept = POST, list[PostVersion]()
    for number in range(55):
        post, kept = edited(kept, post, f"text {number}")
    assert (len(kept), kept[0].number) == (50, 56)

    for letter in "abc":
        post, kept = edited(kept, post, letter * (MIB // 2))
    assert [each.text.markdown[0] for each in kept] == ["c"]


@pytest.mark.parametrize(("sizes", "kept"), [((0, 0), 2), ((1, 0), 1), ((0, 1), 1), ((MIB, 0), 1), ((0, MIB), 1)])
def test_versions_share_the_limit_and_the_newest_is_kept_at_any_size(sizes: tuple[int, int], kept: int) -> None:
    half = MIB // 2
    # Each has a title of two bytes.
    before = evolve(POST, title="é", summary=None, markdown="x" * (half - 2 + sizes[1]))
    after = evolve(before, markdown="y" * (half - 2 + sizes[0]))

    assert len(versions_after((), before, after, None)[1]) == kept


@pytest.mark.parametrize(("summary", "size"), [(None, 6), ("", 6), ("né", 9)])
def test_the_size_of_a_version_is_that_of_its_texts_in_bytes(summary: str | None, size: int) -> None:
    text = PostText(title="é\ud800", markdown="M", summary=summary)
    assert PostVersion(number=1, text=text, saved_at=START).size == size


@given(_LINES, _LINES)
def test_a_difference_has_the_lines_of_both_texts_in_order(old: str, new: str) -> None:
    lines = differences(old, new)

    assert "\n".join(line.text for line in lines if line.mark != "added") == old
    assert "\n".join(line.text for line in lines if line.mark != "removed") == new


def test_lines_that_stay_are_marked_as_the_same() -> None:
    marks = [(line.mark, line.text) for line in differences("# A\n\none\ntwo\nthree", "# A\n\ntwo\nthree\nfour")]

    assert marks == [
        *(("same", "# A"), ("same", ""), ("removed", "one")),
        *(("same", "two"), ("same", "three"), ("added", "four")),
    ]


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("abcde", "bacxe", "-a =b +a =c -d +x =e"),
        ("xaby", "yabx", "-x +y =a =b -y +x"),
        ("aabc", "abac", "=a -a =b +a =c"),
        ("abcd", "dcba", "-a -b -c =d +c +b +a"),
        ("aaxbb", "aabbx", "=a =a +b +b =x -b -b"),
        ("abcdef", "acbedf", "=a -b =c -d +b =e +d =f"),
        ("axbxc", "axcxb", "=a =x -b -x =c +x +b"),
        ("cafe", "face", "-c -a =f +a +c =e"),
        ("bcad", "abcd", "+a =b =c -a =d"),
        # Repeated lines are only matched at the beginning and at the end.
        ("ab", "aab", "=a +a =b"),
        ("aab", "ab", "=a -a =b"),
        ("xaa", "yaa", "-x +y =a =a"),
    ],
)
def test_lines_that_both_texts_have_once_are_matched(old: str, new: str, difference: str) -> None:
    signs = {"same": "=", "added": "+", "removed": "-"}
    lines = differences("\n".join(old), "\n".join(new))
    assert " ".join(f"{signs[line.mark]}{line.text}" for line in lines) == difference


def test_a_text_without_a_version_is_the_next_one() -> None:
    version = PostVersion(number=3, text=PostText(title="Old", markdown="M"), saved_at=START)
    assert [each.number for each in current_first((), POST)] == [1]
    assert [each.number for each in current_first([version], POST)] == [4, 3]
    assert current_first([version], evolve(POST, title="Old", markdown="M", summary=None, labels=())) == [version]
