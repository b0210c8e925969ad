"""The words of texts and queries: equal in every store."""

from unicodedata import combining, normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.refusals import accepted, message_of

from contentsvc_core.lists.terms import Term, read_terms
from contentsvc_core.lists.words import BYTES_LIMIT, TEXT_LIMIT, WORD_LIMIT, query_words, words_of
from contentsvc_core.text import MARKS_LIMIT, compatible


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("... -- !", []),
        ("Light the lamp, light THE lamp!", ["light", "the", "lamp"]),
        ("rate_limit rate-limit", ["rate", "limit"]),
        ("DeliveryStore", ["deliverystore", "delivery", "store"]),
        ("HTTPServer2go", ["httpserver2go", "http", "server", "go"]),
        ("parseX", ["parsex", "parse"]),
        ("Lamp LAMP lamp", ["lamp"]),
        ("42", ["42"]),
        ("straße STRASSE", ["strasse"]),
        ("\N{LATIN SMALL LIGATURE FI}le \uff21\uff22\uff23 ①", ["file", "abc", "1"]),
        ("cafe\N{COMBINING ACUTE ACCENT} café", ["café"]),
        ("ランプv2追加", ["ラ", "ン", "プ", "v2", "追", "加"]),
        ("불이 켜졌다", ["불이", "켜졌다"]),
        ("a" * (WORD_LIMIT + 9), ["a" * WORD_LIMIT]),
        (f"x{'A' * (WORD_LIMIT + 9)}", [f"x{'a' * (WORD_LIMIT - 1)}", "a" * WORD_LIMIT]),
        ("ß" * 40, ["s" * WORD_LIMIT]),
        ("lamp2 LAMP2 2026", ["lamp2", "2026"]),
        (".".join(["123456789"] * 8), ["\ue001".join(["123456789"] * 8)[:WORD_LIMIT], "123456789"]),
        ("v1.2.3", ["1\ue0012\ue0013", "v1", "2", "3"]),
        (
            "release-2026.11, 1.2.3-rc.1.",
            ["2026\ue00111", "1\ue0012\ue0013", "release", "2026", "11", "1", "2", "3", "rc"],
        ),
        ("1.2.x 10.0.0.1y a1.2", ["1\ue0012", "1", "2", "x", "10", "0", "1y", "a1"]),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]) -> None:
    assert list(words_of([text])) == words


def test_a_word_of_several_texts_is_one() -> None:
    assert words_of(["a lamp", "", "the lamp"]) == ("a", "lamp", "the")


@pytest.mark.slow("writes or reads very large texts")
def test_a_large_document_has_the_words_of_its_beginning() -> None:
    assert words_of(["x" + " " * TEXT_LIMIT + "y", "z"]) == ("x",)
    assert words_of([" " * (TEXT_LIMIT - 1), "yz", "z"]) == ("y",)

    words = words_of([" ".join(f"{number:08}" for number in range(60_000))])

    assert words == tuple(f"{number:08}" for number in range(BYTES_LIMIT // 9))
    # Up to the last byte; each word takes one byte more than its length.
    exact = [f"{number:063}" for number in range(BYTES_LIMIT // 64)]
    assert words_of([" ".join([*exact, "a"])]) == tuple(exact)
    # The limit counts bytes, not characters.
    foreign = words_of([" ".join(f"ä{number:06}" for number in range(60_000))])
    assert len(foreign) == BYTES_LIMIT // 9


@given(st.text(max_size=60), st.text(max_size=60))
def test_words_are_letters_and_digits_that_every_index_takes(first: str, second: str) -> None:
    words = words_of([first, second])
    assert len(set(words)) == len(words)
    for word in words:
        assert 0 < len(word) <= WORD_LIMIT
        assert all(not char.isascii() or char in "abcdefghijklmnopqrstuvwxyz0123456789" for char in word)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_a_document_is_found_by_each_of_its_own_parts(parts: list[str]) -> None:
    words = words_of([" ".join(parts)])
    for part in " ".join(parts).split():
        queried = query_words(part)
        assert not queried or Term(words=queried).matches(words)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", ()),
        ("  ", ()),
        ("Lamp", (Term(words=("lamp",)),)),
        ("lamp  door lamp", (Term(words=("lamp",)), Term(words=("door",)))),
        ("lam*", (Term(words=("lam",), is_prefix=True),)),
        ("-lamp", (Term(words=("lamp",), is_excluded=True),)),
        ('-"Lam*"', (Term(words=("lam",), is_prefix=True, is_excluded=True),)),
        ('"the lamp"', (Term(words=("the",)), Term(words=("lamp",)))),
        ("rate_limit*", (Term(words=("rate", "limit"), is_prefix=True),)),
        ("v1.2.3", (Term(words=("1\ue0012\ue0013",)),)),
        ("v0123456789" * 9, (Term(words=(("v0123456789" * 9)[:64],)),)),
        (".".join(["123456789"] * 8), (Term(words=("\ue001".join(["123456789"] * 8)[:64],)),)),
        ("ß" * 40, (Term(words=("s" * 64,)),)),
        ("'lamp'", (Term(words=("lamp",)),)),
        ("1.2*", (Term(words=("1\ue0012",), is_prefix=True),)),
        ("lamp - * !", (Term(words=("lamp",)),)),
        ("DeliveryStore", (Term(words=("deliverystore",)),)),
    ],
)
def test_a_question_is_read(text: str, terms: tuple[Term, ...]) -> None:
    assert read_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("!", "Invalid query: it has no word, only signs"),
        ("- *", "Invalid query: it has no word, only signs"),
        ("x" * 501, "Invalid query: it has more than 500 characters"),
        (" ".join(map(str, range(33))), "Invalid query: it has more than 32 words"),
    ],
)
def test_a_question_that_is_none_is_refused(text: str, error: str) -> None:
    assert message_of(read_terms(text)) == error


def test_the_longest_questions_are_read() -> None:
    assert read_terms("x" * 500) == (Term(words=("x" * WORD_LIMIT,)),)
    terms = accepted(read_terms(" ".join(map(str, range(32)))))
    assert len(terms) == 32


@pytest.mark.parametrize(
    ("term", "matches"),
    [
        (Term(words=("lamp",)), True),
        (Term(words=("lam",)), False),
        (Term(words=("lam",), is_prefix=True), True),
        (Term(words=("amp",), is_prefix=True), False),
        (Term(words=("lamp", "door")), True),
        (Term(words=("lamp", "wall")), False),
        (Term(words=("lamp", "do"), is_prefix=True), True),
        (Term(words=("lam", "door"), is_prefix=True), False),
        (Term(words=("lamp",), is_excluded=True), False),
        (Term(words=("lamp", "wall"), is_excluded=True), True),
        (Term(words=("wa",), is_prefix=True, is_excluded=True), True),
    ],
)
def test_a_term_finds_its_words(term: Term, *, matches: bool) -> None:
    assert term.matches(("lamp", "door")) is matches


_MARKS = "\u0300\u0316\u0345\u0f71\u0f74\u0f75\u3099\uff9e\u05b0"


@given(
    st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(f"{_MARKS}a1é한ｶ\u2500 .")), max_size=80)
)
def test_a_text_without_long_runs_of_marks_has_its_standard_form(text: str) -> None:
    decomposed = "".join("m" if combining(char) else " " for char in normalize("NFKD", text))
    assume("m" * (MARKS_LIMIT + 1) not in decomposed)

    assert compatible(text) == normalize("NFKC", text)


@pytest.mark.parametrize("mark", _MARKS)
def test_marks_beyond_thirty_in_a_row_are_left_out(mark: str) -> None:
    kept = f"a{mark * MARKS_LIMIT}b"

    assert compatible(kept) == normalize("NFKC", kept)
    assert compatible(f"a{mark * (MARKS_LIMIT + 1)}b") == normalize("NFKC", kept)
    assert compatible(f"a{mark * 1_000}b{mark}") == normalize("NFKC", kept + mark)
    # Other signs are kept in any number.
    assert compatible("\u2500" * 1_000) == "\u2500" * 1_000


def test_a_word_is_found_in_spite_of_a_long_run_of_marks() -> None:
    assert words_of([f"feat: a{chr(0x300) * 1_000} lamp"]) == ("feat", "à", "lamp")
    assert query_words(f"a{chr(0x300) * 400}") == ("à",)
