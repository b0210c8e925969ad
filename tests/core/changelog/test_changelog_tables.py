import re

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from contentsvc_core.content.changelog import critical, patterns
from contentsvc_core.content.changelog.tables import Table, beginnings_of, without_need

TABLES = [value for module in (critical, patterns) for value in vars(module).values() if isinstance(value, Table)]
#: The rows from which texts are generated; Hypothesis cannot generate texts for rows with lookarounds.
ROWS = [(table, row) for table in TABLES for row in table.rows if not re.search(r"\(\?<?[=!]", row)]
#: The rows that look ahead for a word alone, by the row without it.
NEEDY = {
    bare: row
    for table in TABLES
    for row in table.rows
    if (bare := without_need(row)) != row and "(?" not in bare.replace("(?:", "")
}


def found(table: Table, text: str) -> bool:
    return any(re.search(row, text, re.IGNORECASE) for row in table.rows)


def test_every_row_is_found_by_the_beginning_of_a_word() -> None:
    assert [row for table in TABLES for row in table.rows if not beginnings_of(row)] == []


@given(st.data(), st.text(max_size=12), st.text(max_size=12))
def test_no_row_is_missed_where_it_matches(data: st.DataObject, before: str, after: str) -> None:
    table, row = data.draw(st.sampled_from(ROWS))
    text = before + data.draw(st.from_regex(re.compile(row, re.IGNORECASE))) + after
    assert table.search(text) == found(table, text)


@settings(max_examples=5, phases=[Phase.generate])
@given(st.tuples(*(st.from_regex(re.compile(bare, re.IGNORECASE)) for bare in NEEDY)))
def test_each_text_that_a_row_matches_has_the_words_that_the_row_needs(texts: tuple[str, ...]) -> None:
    # A search looks at one line.
    lines = {row: text for row, text in zip(NEEDY.values(), texts, strict=True) if "\n" not in text}
    assert [row for row, text in lines.items() if not re.search(row, text, re.IGNORECASE)] == []


@given(st.sampled_from(TABLES), st.text(max_size=80))
@example(patterns.EMPTY, "made changed")
@example(patterns.INTERNAL, "te\u017ft")
@example(patterns.INTERNAL, "L\u0130NT")
@example(patterns.INTERNAL, "L\u0131nt")
@example(patterns.INTERNAL, "moc\u212a")
@example(patterns.INTERNAL, "see the x.gitignore")
@example(critical.SECURITY, "x[security]")
@example(critical.BREAKING, "an ESM-only package")
@example(critical.BREAKING_IN_MAJOR, "unchanged type")
def test_a_search_finds_what_the_rows_find(table: Table, text: str) -> None:
    assert table.search(text) == found(table, text)


@pytest.mark.parametrize(
    ("pattern", "beginnings"),
    [
        (r"\bread ?me\b", "read"),
        (r"\b(?:docs?|ci)\b", "doc docs ci"),
        (r"\bgo(?:lang)?\b", "go gola"),
        (r"\b(?:very )?lazy", "very lazy"),
        (r"\[security\]", "secu"),
        (r"\A(?:ok\W*)\Z", "^ok"),
        # Where any text may precede, a row may look ahead.
        (r"(?=.*\bsupport\b)\w+ \bsupport", "supp"),
        (r"^msrv: |\bnode", "^msrv node"),
        (r"\bone[- ]off", "one"),
        # A word may continue after the pattern, or begin before it.
        (r"\bci", ""),
        (r"\bpy\w*", ""),
        (r"changed? type", ""),
        (r"\b\d+ bugs", ""),
        (r"\b(?:était)\b", "étai"),
        # Groups whose text is not used.
        (r"\b(?>docs)\b", ""),
        (r"\b(?P<name>d)(?P=name)\b", ""),
    ],
)
def test_a_row_runs_only_where_a_word_begins_as_it_does(pattern: str, beginnings: str) -> None:
    assert beginnings_of(pattern) == set(beginnings.split())
