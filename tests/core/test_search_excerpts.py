"""Excerpts with the searched words."""

import pytest
from attrs import evolve
from tests.builders import a_post, a_record, a_release
from tests.refusals import accepted

from contentsvc_core.content.posts import Post
from contentsvc_core.events.normalized import Author, Commit, HeadCommit, Push
from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.search.excerpts import post_excerpts, record_excerpts


def terms_of(text: str) -> tuple[Term, ...]:
    return accepted(read_terms(text))


def push_of(*messages: str, username: str | None = "ada") -> Push:
    commits = tuple(
        Commit(
            id=f"{number}",
            message=message,
            author=Author(name="Ada Lamp", email="ada@example.com", username=username),
            timestamp="2026-01-01T12:00:00Z",
            url=f"https://codehost.example/{number}",
        )
        for number, message in enumerate(messages)
    )
    return Push(ref="refs/heads/main", branch="main", commits=commits, head_commit=HeadCommit(id="9", message="x"))


RELEASE = a_release("v1.2.3", name="The lamp", body="# News\n\n- a door\n- a lamp")


def post_of(markdown: str) -> Post:
    return a_post(title="News", content="", markdown=markdown, source_metadata=None)


def test_the_excerpt_of_a_commit_has_its_author_hash_and_page() -> None:
    (excerpt,) = record_excerpts(a_record(push_of("feat: a lamp\n\nIt lights.")), terms_of("lamp"))

    assert excerpt == {
        "text": "feat: a lamp It lights. (ada)",
        "ref": "0",
        "url": "https://codehost.example/0",
    }
    (unknown,) = record_excerpts(a_record(push_of("feat: a lamp", username=None)), ())
    assert unknown["text"] == "feat: a lamp (Ada Lamp)"


@pytest.mark.parametrize(
    ("query", "refs"),
    [
        ("lamp", ["1", "4"]),
        ("lamp door", ["1", "3", "4"]),
        ("door -lamp", ["3", "4"]),
        ("wall", ["0", "1", "2", "3", "4"]),
        ("", ["0", "1", "2", "3", "4"]),
        ("5", ["5"]),
    ],
)
def test_the_commits_with_the_words_are_shown(query: str, refs: list[str]) -> None:
    push = push_of(
        "chore: a", "feat: a lamp", "chore: b", "fix: the door", "fix: the lamp at the door", "chore: c", "chore: d"
    )
    assert [excerpt.get("ref") for excerpt in record_excerpts(a_record(push), terms_of(query))] == refs


def test_the_commits_with_the_most_words_are_shown_in_their_order() -> None:
    push = push_of(*(f"feat: lamp {number}{' door' if number in {6, 8} else ''}" for number in range(10)))

    refs = [excerpt.get("ref") for excerpt in record_excerpts(a_record(push), terms_of("lamp door"))]

    assert refs == ["0", "1", "2", "6", "8"]


def test_the_excerpts_of_a_release_are_its_name_and_lines_of_its_notes() -> None:
    excerpts = record_excerpts(a_record(RELEASE), terms_of("lamp"))

    assert [excerpt["text"] for excerpt in excerpts] == ["The lamp", "- a lamp"]
    assert {(excerpt.get("ref"), excerpt.get("url")) for excerpt in excerpts} == {
        ("v1.2.3", "https://codehost.example/v1.2.3")
    }
    (unnamed,) = record_excerpts(a_record(evolve(RELEASE, name=None, body=None)), ())
    assert unnamed["text"] == "v1.2.3"


def test_the_excerpts_of_a_post_are_lines_without_markdown() -> None:
    post = post_of("## Lamps\n\n- **api:** A [lamp](https://x.example/1) `lit` ([#1](https://x.example))\n\n> a door\n")

    assert [each["text"] for each in post_excerpts(post.markdown, ())] == ["Lamps", "api: A lamp lit (#1)", "a door"]
    assert post_excerpts(post.markdown, terms_of("lamp")) == [{"text": "api: A lamp lit (#1)"}]


def test_a_long_line_is_cut() -> None:
    (excerpt,) = post_excerpts(post_of("x" * 1000).markdown, ())
    assert excerpt["text"] == "x" * 279 + "…"


def test_two_hundred_parts_are_compared() -> None:
    lines = "\n\n".join(f"line {number}" for number in range(202))

    assert [each["text"] for each in post_excerpts(post_of(lines).markdown, terms_of("199"))] == ["line 199"]
    assert [each["text"] for each in post_excerpts(post_of(lines).markdown, terms_of("200"))] == [
        f"line {number}" for number in range(5)
    ]
    push = push_of(*(f"feat: lamp{number}" for number in range(202)))
    assert [each.get("ref") for each in record_excerpts(a_record(push), terms_of("lamp199"))] == ["199"]
    assert [each.get("ref") for each in record_excerpts(a_record(push), terms_of("lamp200"))] == list("01234")
    # Of long lines, no more than 2,000 lines of full length are read.
    long = f"{'x' * (2_000 * 280)} lamp"
    assert "lamp" not in " ".join(
        each["text"] for each in post_excerpts(post_of(f"a\n{long}\nlamp").markdown, terms_of("lamp"))
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://codehost.example/a/commit/1", True),
        ("HTTP://codehost.example/ü", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//codehost.example/a", False),
        ("https://codehost.example/a b", False),
        ("https://codehost.example/\u202e", False),
        ("https://", False),
        (f"https://codehost.example/{'a' * 2_000}", False),
        ("", False),
    ],
)
def test_an_address_is_passed_on_if_it_leads_to_a_web_page(url: str, *, shown: bool) -> None:
    push = push_of("feat: a lamp")
    push = evolve(push, commits=[evolve(push.commits[0], url=url)])
    for event in (push, evolve(RELEASE, url=url)):
        urls = {excerpt.get("url") for excerpt in record_excerpts(a_record(event), ())}
        assert urls == {url if shown else None}


def test_a_hash_and_a_tag_are_one_line_of_255_characters() -> None:
    push = push_of("feat: a lamp")
    push = evolve(push, commits=[evolve(push.commits[0], id="a\x1b" * 1_000)])
    (excerpt,) = record_excerpts(a_record(push), terms_of("lamp"))
    ref = excerpt.get("ref", "")
    assert len(ref) <= 255
    assert ref.isprintable()
    assert ref
    tags = {each.get("ref") for each in record_excerpts(a_record(evolve(RELEASE, tag_name="v" * 1_000)), ())}
    assert tags == {"v" * 254 + "…"}


def test_of_a_long_text_that_has_none_of_the_words_the_beginning_is_shown() -> None:
    post = post_of("\n\n".join(f"line {number}" for number in range(9)))

    assert [each["text"] for each in post_excerpts(post.markdown, terms_of("wall"))] == [
        f"line {number}" for number in range(5)
    ]
    assert [each["text"] for each in post_excerpts(post.markdown, ())] == [f"line {number}" for number in range(5)]
