import pytest
from changelog_samples import commit, draft_of, entries, push, section, sha_of, written
from hypothesis import given
from hypothesis import strategies as st

RING = commit("feat(bell): ring (#1)")


@pytest.mark.parametrize(
    "revert",
    [
        f'Revert "feat(bell): ring (#1)"\n\nThis reverts commit {RING.id}.',
        f'Revert "feat(bell): ring (#1)" (#2)\n\nThis reverts commit {RING.id[:9]}.',
        'Revert "feat(bell): ring (#1)" (#2)\n\nReverts acme/kettle#1',
        'Revert "feat(bell): ring"',
        f'Revert "words that fit nothing"\n\nThis reverts commit {RING.id}.',
        f"revert: no ringing\n\nRefs: {RING.id[:7]}",
        "revert: feat(bell): ring",
        "revert(bell): ring",
        "revert: ring",
        f'Revert "feat(bell): ring"\n\nThis reverts commit {sha_of("rebased away")}.',
    ],
)
def test_a_revert_and_what_it_reverts_both_vanish(revert: str) -> None:
    assert written(push(RING), push(revert)) is None


@pytest.mark.parametrize(
    ("revert", "line"),
    [
        ('Revert "feat(bell): ring (#1)" (#2)', "**bell:** Revert “ring”"),
        ('Revert "Ring the bell."', "Revert “Ring the bell”"),
        ("revert: feat(bell): ring", "**bell:** Revert “ring”"),
        (f"revert(bell): ring\n\nThis reverts commit {sha_of('older')}.", "**bell:** Revert “ring”"),
        ('Revert "Reapply "feat: ring""', "Revert “ring”"),
        ('Revert "Merge pull request #1 from ada/bell"', "Revert “Merge pull request #1 from ada/bell”"),
    ],
)
def test_a_revert_of_something_older_says_what_is_undone(revert: str, line: str) -> None:
    assert section(draft_of("fix: drip", revert).markdown, "Reverted") == [line]


@pytest.mark.parametrize(
    ("revert", "line"),
    [
        # Such words may name the undone or the new change: they stay unchanged.
        ("revert: let us forget the bell\n\nRefs: 676104e, a215868", "Revert: let us forget the bell"),
        ("revert(bell): use the old rope", "**bell:** Revert: use the old rope"),
        ("revert: revert to the old bell", "Revert to the old bell"),
    ],
)
def test_a_revert_never_says_the_opposite_of_what_happened(revert: str, line: str) -> None:
    assert section(draft_of("fix: drip", revert).markdown, "Changed") == [line]


@pytest.mark.parametrize("again", ['Reapply "feat(bell): ring"', 'Revert "Revert "feat(bell): ring (#1)" (#2)" (#3)'])
def test_what_comes_back_stands_where_it_stood(again: str) -> None:
    assert section(draft_of("fix: drip", again).markdown, "Added") == ["**bell:** Reapply “ring”"]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        (["Add a bell", "Drip less", "Remove the bell"], ["Drip less"]),
        (["feat: a bell", "fix(bell): ring once", "chore: drop bell"], ["**bell:** Ring once"]),
        (["Add a loud, red bell", "Fix the loud red bell at noon", "Remove loud and red bell"], []),
        (["Remove the bell", "Add a bell"], ["Add a bell", "Remove the bell"]),
        (["Add a bell", "feat!: remove the bell"], ["Remove the bell", "Add a bell"]),
        (["feat(Pot): add a bell", "feat(pot): remove the bell"], []),
        (["feat(pot): add a bell", "feat(lid): remove the bell"], ["**pot:** Add a bell", "**lid:** Remove the bell"]),
        (["Add a bell", "Remove the rope of the bell"], ["Add a bell", "Remove the rope of the bell"]),
    ],
)
def test_an_addition_that_was_removed_again_vanishes(messages: list[str], expected: list[str]) -> None:
    draft = written(push(*messages))
    assert (entries(draft.markdown) if draft else []) == expected


def test_a_revert_of_a_revert_restores_the_original() -> None:
    undo = commit(f'Revert "feat(bell): ring (#1)"\n\nThis reverts commit {RING.id}.')
    redo = f'Reapply "feat(bell): ring (#1)"\n\nThis reverts commit {undo.id}.'
    nested = 'Revert "Revert "feat(bell): ring (#1)""'
    for again in (redo, nested, 'Reapply "feat(bell): ring (#1)"'):
        assert entries(draft_of(RING, undo, again).markdown) == ["**bell:** Ring"]


def test_the_sha_decides_before_the_subject() -> None:
    first, second = (commit("fix: drip", sha=sha_of(name)) for name in ("one", "two"))
    draft = draft_of(first, second, f'Revert "fix: drip"\n\nThis reverts commit {first.id}.')
    assert second.url in draft.markdown
    assert first.url not in draft.markdown


def test_by_subject_the_latest_before_the_revert_goes() -> None:
    first, second, third = (commit("fix: drip", sha=sha_of(name)) for name in ("one", "two", "three"))
    draft = draft_of(first, second, 'Revert "fix: drip"', third)
    assert [each.url in draft.markdown for each in (first, second, third)] == [True, False, True]


def test_a_change_made_again_after_its_revert_is_reported() -> None:
    assert entries(draft_of("feat: ring", 'Revert "feat: ring"', "feat: ring").markdown) == ["Ring"]


def test_an_ambiguous_abbreviation_reverts_nothing_by_sha() -> None:
    one, two = commit("fix: drip", sha=f"abcdef0{1:033d}"), commit("fix: drop", sha=f"abcdef0{2:033d}")
    draft = draft_of(one, two, "revert: something\n\nRefs: abcdef0")
    assert len(entries(draft.markdown)) == 3


def test_what_comes_after_a_revert_is_not_what_it_reverts() -> None:
    draft = draft_of(f'Revert "older"\n\nThis reverts commit {RING.id}.', RING)
    assert entries(draft.markdown) == ["**bell:** Ring", "Revert “older”"]


def test_a_revert_of_several_stays_if_one_of_them_is_older() -> None:
    draft = draft_of(RING, f"revert: noise\n\nRefs: {RING.id[:8]}, {sha_of('older')[:8]}")
    assert entries(draft.markdown) == ["Revert: noise"]


def test_a_revert_undoes_64_commits_at_most() -> None:
    made = [commit(f"feat: ring bell {number}") for number in range(65)]
    undone = "\n".join(f"This reverts commit {each.id}." for each in made)
    shown = draft_of(*made, f"revert: no bells\n\n{undone}").markdown
    assert [each.url in shown for each in made] == [*[False] * 64, True]


def test_reverts_of_hidden_commits_vanish_with_them() -> None:
    assert written(push("ci: run twice", 'Revert "ci: run twice"')) is None


def test_a_revert_of_a_merge_undoes_the_pull_request() -> None:
    merge = commit("Merge pull request #1 from ada/bell\n\nRing")
    undone = f'Revert "Ring"\n\nThis reverts commit {merge.id}, reversing changes made to 1234567.'
    drip = push("fix: drip")
    markdown = written(drip, push(RING, merge))
    assert markdown is not None
    assert entries(markdown.markdown) == ["**bell:** Ring", "Drip"]
    markdown = written(drip, push(RING, merge), push(undone))
    assert markdown is not None
    assert entries(markdown.markdown) == ["Drip"]


@given(st.integers(0, 30))
def test_a_chain_of_reverts_leaves_the_original_exactly_if_it_is_even(length: int) -> None:
    chain = [RING]
    for _ in range(length):
        last = chain[-1]
        chain.append(commit(f'Revert "x"\n\nThis reverts commit {last.id}.', sha=sha_of(last.id)))
    draft = written(push(*chain))
    assert (draft is not None and entries(draft.markdown) == ["**bell:** Ring"]) == (length % 2 == 0)


@given(st.lists(st.sampled_from(["do", "undo", "redo"]), max_size=40))
def test_by_subject_alone_the_last_word_counts(steps: list[str]) -> None:
    messages = {"do": "feat: ring", "undo": 'Revert "feat: ring"', "redo": 'Revert "Revert "feat: ring""'}
    standing = 0
    undone = 0
    story: list[str] = []
    for step in steps:
        # Only possible steps: undo a change in effect, or restore an undone one.
        if step == "do":
            standing += 1
        elif step == "undo" and standing:
            standing, undone = standing - 1, undone + 1
        elif step == "redo" and undone:
            standing, undone = standing + 1, undone - 1
        else:
            continue
        story.append(messages[step])
    draft = written(push(*story))
    assert (draft.markdown.count("/commit/") if draft else 0) == standing
