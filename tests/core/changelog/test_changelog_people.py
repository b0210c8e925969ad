import pytest
from changelog_samples import ADA, HOST, RENDERERS, announced, commit, draft_of, push, release, written
from hypothesis import given
from hypothesis import strategies as st

from contentsvc_core.content.changelog import ChangelogOptions
from contentsvc_core.content.changelog.markdown import mask_addresses
from contentsvc_core.events.normalized import Author


def _thanked(*authors: Author, options: ChangelogOptions | None = None) -> str:
    commits = (commit(f"fix: drip {index}", author=author) for index, author in enumerate(authors))
    draft = written(push(*commits), options=options)
    assert draft is not None
    _, found, names = draft.markdown.partition("\n## Contributors\n\n")
    return names.strip() if found else ""


def test_people_are_named_by_account_else_by_name_in_order_of_first_appearance() -> None:
    zoe, ned = Author(name="Zoë", email="zoe@mail.example"), Author(name="Ned", email="")
    known = Author(name="", email="", username="kim")
    assert _thanked(zoe, ADA, ned, zoe, known, ADA) == "Zoë, @ada, Ned, @kim"


def test_a_person_without_account_and_address_is_known_by_name() -> None:
    assert _thanked(Author(name="Ned", email=""), Author(name="ned", email="")) == "Ned"


@pytest.mark.parametrize(
    "name",
    [
        "dependabot[bot]",
        "anything[bot]",
        "kettle-bot",
        "kettle_bot",
        "Kettle Bot",
        "renovate",
        "github-actions",
        "web-flow",
    ],
)
def test_bots_are_not_thanked_but_their_changes_stay(name: str) -> None:
    assert _thanked(Author(name=name, email="")) == ""
    assert _thanked(Author(name="x", email="", username=name), ADA) == "@ada"


@pytest.mark.parametrize("name", ["abbot", "Talbot", "Marie Chabot", "Robota"])
def test_a_name_that_only_ends_alike_is_a_person(name: str) -> None:
    assert _thanked(Author(name=name, email="")) == name


def test_an_account_that_is_an_address_is_not_shown() -> None:
    assert _thanked(Author(name="Ned", email="", username="ned@mail.example")) == "Ned"


def test_further_bots_are_a_choice() -> None:
    options = ChangelogOptions(bots=frozenset({"Kettle"}))
    assert _thanked(Author(name="x", email="", username="kettle"), ADA, options=options) == "@ada"


@pytest.mark.parametrize(
    "program",
    [
        Author(name="Claude", email="noreply@anthropic.com"),
        Author(name="Copilot", email="", username="Copilot"),
        Author(name="Cursor Agent", email="cursoragent@cursor.example"),
        Author(name="Robot", email="", username="kettle-bot"),
        Author(name="KettleBot", email=""),
    ],
)
def test_programs_that_write_code_are_not_thanked(program: Author) -> None:
    assert _thanked(program, ADA) == "@ada"


def test_an_account_and_a_name_of_the_same_letters_are_one_person() -> None:
    named, known = Author(name="T-256", email="a@x.example"), Author(name="T", email="b@x.example", username="T-256")
    assert _thanked(named, known) == "@T-256"


def test_a_section_without_people_is_left_out() -> None:
    assert "Contributors" not in draft_of(commit("fix: drip", author=Author(name=" ", email=""))).markdown
    assert "Contributors" not in draft_of(commit("fix: x", author=Author(name="a@mail.example", email=""))).markdown


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("ask ada@mail.example now", "ask (email-hidden) now"),
        ("Ada <ada@mail.example>", "Ada (email-hidden)"),
        ("(ada.b+c@mail.co.example)", "((email-hidden))"),
        ("`ada@mail.example`", "`(email-hidden)`"),
        ('"ada byron"@mail.example', "(email-hidden)"),
        ("zoë@bücher.example", "(email-hidden)"),
        ("a@x.xn--p1ai", "(email-hidden)"),
        ("uses actions/checkout@v4.1 and cup@4.17.21", "uses actions/checkout@v4.1 and cup@4.17.21"),
        ("add @property and @acme/cup", "add @property and @acme/cup"),
        ("a@b", "a@b"),
        ("`@app.route` and h.example/@ada.b", "`@app.route` and h.example/@ada.b"),
    ],
)
def test_an_address_is_masked_and_a_version_is_not(text: str, masked: str) -> None:
    assert mask_addresses(text) == masked


# After a backtick or a slash, `@` begins a decorator or a page, not an address: `@app.route`, /@ada.b.
_EMAILS = st.emails().filter(lambda email: email.rpartition("@")[0][-1] not in "`/")


@pytest.mark.slow("a short campaign over generated examples")
@given(email=_EMAILS, before=st.text(max_size=20), after=st.text(max_size=20))
def test_no_address_of_any_field_is_ever_printed(email: str, before: str, after: str) -> None:
    text = f"{before} {email} {after}"
    author = Author(name=text, email=email)
    commits = (
        commit(f"feat: {text}\n\n{text}\n\nCo-authored-by: Ned {email} <{email}>", author=author, sha="a" * 40),
        commit(f"fix({email})!: x\n\nBREAKING CHANGE: {text}", author=author, sha="b" * 40),
        commit(text, author=author, sha=email, url=f"{HOST}/commit/{email}"),
        commit(f'Revert "{text}"', author=author, sha="d" * 40, url=f"https://{email}/commit/x"),
        commit(f"Merge pull request #1 from a/b\n\n{text}", author=Author(name=email, email="", username=email)),
    )
    named = release(email, name=text, body=text, url=f"{HOST}/releases/tag/{email}")
    drafts = [
        written(push(*commits), named),
        written(push(commits[-1])),
        written(push(commits[2])),
        announced(named, push(*commits), previous_tag=email),
        announced(release(email, name=text), push(*commits), previous_tag=f"1-{email}"),
        announced(release(email, name=text)),
    ]
    for draft in filter(None, drafts):
        shown = draft.title + draft.markdown + "".join(renderer.render(draft.markdown) for renderer in RENDERERS)
        assert email.casefold() not in shown.casefold()


@given(
    _EMAILS,
    st.sampled_from(["@", "\\@", "&#64;", "&#x40;", "&#0064;", "&commat;"]),
    st.sampled_from([".", "\\.", "&#46;", "&#x2E;", "&#0046;", "&period;"]),
)
def test_a_disguised_address_in_release_notes_is_masked_too(email: str, at: str, dot: str) -> None:
    name, _, domain = email.rpartition("@")
    draft = announced(release(body=f"Write to {name}{at}{domain.replace('.', dot)} please."))
    assert email not in RENDERERS[0].render(draft.markdown)


def test_an_address_that_a_cut_would_halve_is_dropped() -> None:
    # Masked addresses are shorter, so text beyond the cut becomes visible.
    prefix = f"{'x' * 98}@mail.example " * 14
    for length in range(40):
        assert "ada.byron@" not in draft_of(f"feat: {prefix}{'y' * length} ada.byron@mail.example").markdown
