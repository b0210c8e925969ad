import time

import pytest
from attrs import evolve
from changelog_samples import ADA, HOST, commit, draft_of, headings, push, sha_of, written

from contentsvc_core.content.writing import Draft


def test_a_push_reads_like_this() -> None:
    messages = (
        "feat(lid)!: close by itself (#12)\n\nBREAKING CHANGE: `lid.open()` is gone",
        "fix: keep `water_level` right (#14)",
        "docs: spell it right",
        "ci: run twice",
    )
    draft = written(push(*(commit(message, sha=f"{index}" * 40) for index, message in enumerate(messages))))
    assert draft == Draft(
        title="Breaking: close by itself (lid)",
        markdown=f"""\
## Breaking changes

- **lid:** Close by itself ([#12]({HOST}/issues/12)) ([0000000]({HOST}/commit/{"0" * 40}))
  > `lid.open()` is gone

## Fixed

- Keep `water_level` right ([#14]({HOST}/issues/14)) ([1111111]({HOST}/commit/{"1" * 40}))

Also 1 documentation change and 1 internal change ([all commits]({HOST}/commits)).

## Contributors

@ada
""",
    )


def test_no_events_make_no_post() -> None:
    assert written() is None


def test_a_push_as_large_as_the_code_host_sends_may_be_incomplete_and_says_so() -> None:
    commits = [f"fix: drip {number % 9}" for number in range(2_048)]
    assert "at most 2,048 commits with one push, so this list may be incomplete." in draft_of(*commits).markdown
    assert "incomplete" not in draft_of(*commits[:-1]).markdown


@pytest.mark.slow("writes or reads very large texts")
def test_ten_thousand_commits_are_written_fast_and_fit_into_a_post() -> None:
    commits = [commit(f"feat(lid): turn {n} (#{n})\n\nprose\n\nRefs: #{n}", sha=sha_of(str(n))) for n in range(10_000)]
    begun = time.process_time()
    draft = written(push(*commits))
    # About a second of processor time; the limit is for slow machines and for measured coverage.
    assert time.process_time() - begun < 10
    assert draft is not None
    assert len(draft.markdown) <= 100_000
    shown = sum(line.startswith("  - ") for line in draft.markdown.splitlines())
    assert f"\n{10_000 - shown:,} more changes are not shown here.\n" in draft.markdown
    assert draft.title == "Turn 0 (lid)"


def test_nothing_depends_on_time_or_on_who_asks() -> None:
    made = commit("feat: ring", author=ADA)
    later = evolve(made, timestamp="1999-12-31T23:59:59-08:00")
    assert written(push(made)) == written(push(later))
    assert headings(draft_of(made).markdown) == ["Added", "Contributors"]
