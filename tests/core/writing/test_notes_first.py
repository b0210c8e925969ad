"""The notes of a release's author have precedence over its commits."""

from typing import Final

import pytest
from writing_samples import HOST, brand, brief, push, release, written

from contentsvc_core.content.changelog.release_notes import notes_of, plain_line
from contentsvc_core.content.forms import silence, write_content
from contentsvc_core.content.posts import ContentType
from contentsvc_core.content.sections import Section
from contentsvc_core.content.writing import Draft, Silence

_POSTS: Final = [each for each in ContentType if each is not ContentType.CHANGELOG]
_NOTES: Final = """\
# v1.2.0

The lid closes **by itself** now. Nobody burns their [fingers](https://x.example/f) any more.

PyPI: https://pypi.example/kettle

## Added
- Add a `spring` to the lid by @ada in https://codehost.example/acme/kettle/pull/12
  - of steel
- Whistle at noon. Two tones are to be had. ([#13](https://codehost.example/acme/kettle/issues/13), #14)

### 🐛 Bug fixes

* 66d21cb Thanks @grace! - the spout
  drips no more

```
- no entry
```

## What's Changed
* docs: spell the lid right
* Change the pitch at noon
* Update the old handle.

## New Contributors
* @grace made their first contribution in https://codehost.example/acme/kettle/pull/14

**Full Changelog**: https://codehost.example/acme/kettle/compare/v1...v2
"""


def test_notes_are_read_as_a_lead_and_entries_below_headings() -> None:
    notes = notes_of(release(body=_NOTES))
    assert notes.lead == "The lid closes by itself now. Nobody burns their fingers any more."
    assert [(change.section, change.text, change.numbers) for change in notes.changes] == [
        (Section.ADDED, "Add a `spring` to the lid", ("12",)),
        (Section.ADDED, "Whistle at noon", ("13", "14")),
        (Section.FIXED, "The spout drips no more", ()),
        (Section.DOCUMENTATION, "Spell the lid right", ()),
        (Section.CHANGED, "Change the pitch at noon", ()),
        (Section.CHANGED, "Update the old handle", ()),
    ]


@pytest.mark.parametrize(
    "body", [None, "", "https://x.example", "| a |\n|---|", "<b>x</b>", "```\n- x\n```", "Sponsors:"]
)
def test_notes_may_say_nothing(body: str | None) -> None:
    notes = notes_of(release(body=body))
    assert (notes.lead, notes.changes) == ("", ())


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a **b** _c_ `d_e_f` [g](https://h.example/(i)) ![j](k)", "a b c `d_e_f` g"),
        ("5 * 3 * 2 and snake_case_name", "5 * 3 * 2 and snake_case_name"),
        (r"\*no\* ada@mail.example", "*no* (email-hidden)"),
    ],
)
def test_a_line_of_markdown_is_read_as_text(markdown: str, shown: str) -> None:
    assert plain_line(markdown, 200) == shown


@pytest.mark.parametrize(
    "announcement",
    [
        "We are happy to announce Kettle 3.0! \U0001f389",
        "Today, we're excited to share the release of Kettle 3.0.",
        "Kettle 3.0 is now available!",
        "Announcing Kettle 3.0.",
        "Wir freuen uns, Kettle 3.0 anzukündigen.",
        "Nous sommes ravis d'annoncer Kettle 3.0.",
        "Thanks to all who helped!",
    ],
)
def test_a_lead_is_no_announcement_and_a_blog_post_says_it_once(announcement: str) -> None:
    body = f"{announcement}\n\nThe lid closes by itself now. Nobody burns their fingers.\n"
    assert notes_of(release(body=body)).lead == "The lid closes by itself now. Nobody burns their fingers."
    assert notes_of(release(body=body.replace("\n\n", " "))).lead.startswith("The lid closes")
    blog = written(ContentType.BLOG_POST, release=release(body=body), window=None)
    assert blog.markdown.count("The lid closes by itself") == 1


@pytest.mark.parametrize(
    "lead", ["We are happy to announce kettles that sing at noon.", "Boiling is available on all stoves."]
)
def test_a_sentence_that_says_what_is_new_is_a_lead(lead: str) -> None:
    assert notes_of(release(body=f"{lead}\n")).lead == lead


@pytest.mark.parametrize("content_type", _POSTS)
def test_every_post_takes_lead_and_entries_from_the_notes(content_type: ContentType) -> None:
    draft = write_content(brief(content_type, push("feat: add a sponsor"), release=release(body=_NOTES)))
    assert isinstance(draft, Draft)
    assert "The lid closes by itself now." in draft.markdown
    assert "sponsor" not in draft.title + draft.markdown
    assert "dded a" in draft.markdown
    title = "kettle v1.2.0: add a spring to the lid, whistle at noon, change the pitch at noon"
    assert draft.title == title or content_type is ContentType.INVESTOR_UPDATE


_PROSE: Final = """\
Kettle 5 is the quietest one yet.

## Highlights

### Two lids at once
Every kettle closes two lids. They close
in turn.

### Faster boiling
One litre boils in a minute.

## Upgrading
Turn the old lid by hand once.

## Fixes
- The spout drips no more (#12)
"""


def test_headings_of_highlights_are_entries_and_a_blog_post_shows_prose_as_it_is() -> None:
    notes = notes_of(release(body=_PROSE))
    assert [(change.section, change.text) for change in notes.changes] == [
        (Section.ADDED, "Two lids at once"),
        (Section.ADDED, "Faster boiling"),
        (Section.FIXED, "The spout drips no more"),
    ]
    blog = written(ContentType.BLOG_POST, release=release(body=_PROSE), window=None)
    assert blog.title == "kettle v1.2.0: two lids at once, faster boiling; Fix: the spout drips no more"
    assert _PROSE in blog.markdown
    assert blog.markdown.count("drips no more") == 1
    post = written(ContentType.TWITTER_POST, release=release(body=_PROSE), window=None)
    assert "quietest one yet.\n\n• Two lids at once  \n• Faster boiling  \n• Fix: the" in post.markdown


_UPGRADING: Final = """\
## Added
- A lid of iron

## Upgrading

Turn the old lid by hand once.

### On stoves of gas
- [ ] Close the gas
- [x] Remove the whistle

## Fixed
- A drip at the spout
"""


def test_steps_of_an_upgrade_are_no_changes_and_are_in_the_part_of_a_blog_post_about_upgrading() -> None:
    noted = release(body=_UPGRADING)
    assert [change.text for change in notes_of(noted).changes] == ["A lid of iron", "A drip at the spout"]
    blog = written(ContentType.BLOG_POST, release=noted, window=None).markdown
    assert (
        "## Before you upgrade\n\nTurn the old lid by hand once.\n\n"
        "### On stoves of gas\n- \u2610 Close the gas\n- \u2611 Remove the whistle\n\n## Fixes\n"
    ) in blog
    assert "whistle" not in written(ContentType.TWITTER_POST, release=noted, window=None).markdown
    shown = release(body="It rings now.\n\n## Upgrading\n\nTurn the lid by hand.\n")
    markdown = written(ContentType.BLOG_POST, push("feat: ring"), release=shown, window=None).markdown
    assert (markdown.count("## Upgrading"), markdown.count("by hand")) == (1, 1)


def test_changes_below_a_heading_about_upgrading_are_no_steps() -> None:
    body = (
        "## Upgrading\n\nTurn the lid by hand.\n\n"
        "### Breaking changes\n\n- Remove the whistle\n\n#### Why\n\n- It rang\n\n"
        "### On stoves of gas\n\n- Close the gas\n\n## Breaking changes when upgrading\n\n- Remove the spout\n"
    )
    noted = release(body=body)
    assert [change.text for change in notes_of(noted).changes] == ["Remove the whistle", "It rang", "Remove the spout"]
    blog = written(ContentType.BLOG_POST, release=noted, window=None).markdown
    assert "\n\nTurn the lid by hand.\n\n### On stoves of gas\n\n- Close the gas\n\n" in blog
    assert "Remove the" not in blog
    assert "Breaking changes" not in blog


def test_steps_of_an_upgrade_alone_are_a_blog_post_and_no_other_one() -> None:
    noted = release(body="## Upgrading\n\nTurn the lid by hand.\n")
    assert (
        "\n\n## Before you upgrade\n\nTurn the lid by hand.\n"
        in written(ContentType.BLOG_POST, release=noted, window=None).markdown
    )
    assert write_content(brief(ContentType.TWITTER_POST, release=noted)) == Silence(
        reason="nothing to report: no commits, and no changes in the release notes"
    )


@pytest.mark.parametrize(
    ("heading", "is_upgrade"),
    [
        ("Upgrade guide", True),
        ("Upgrade", True),
        ("How to migrate from v1", True),
        ("Before you upgrade", True),
        ("Migration notes", True),
        ("Dependency upgrades", False),
        ("Fixed migrations", False),
    ],
)
def test_headings_say_what_is_done_before_an_upgrade(heading: str, is_upgrade: bool) -> None:
    notes = notes_of(release(body=f"## {heading}\n\n- Turn the old lid by hand\n"))
    assert (notes.changes == ()) is is_upgrade


def test_the_headings_of_changelogs_in_other_languages_are_read() -> None:
    german = "## Neue Funktionen\n- Deckel aus Eisen\n## Entfernt:\n- Griff aus Holz\n"
    body = f"{german}## Corrections\n- Le bec ne goutte plus\n"
    assert [(change.section, change.text) for change in notes_of(release(body=body)).changes] == [
        (Section.ADDED, "Deckel aus Eisen"),
        (Section.REMOVED, "Griff aus Holz"),
        (Section.FIXED, "Le bec ne goutte plus"),
    ]


def test_entries_that_tools_repeat_and_refer_with_are_read_once_and_without_references() -> None:
    body = (
        "### \u26a0 BREAKING CHANGES\n\n* **lid:** it rings\n\n### Features\n\n"
        "* **lid:** it rings ([#12](https://x.example/12)) ([1bc1236](https://x.example/1))\n"
        "* **cup:** it rings ([1bc1237](https://x.example/2)), closes [#9](https://x.example/9)\n\n"
        "### Removed\n\n- Support for gas. ([#8])\n- Ability to whistle\n- The lid is gone\n\n[#8]: https://x.example/8\n"
    )
    announced = release(body=body)
    assert [(change.section, change.text, change.numbers) for change in notes_of(announced).changes] == [
        (Section.BREAKING, "It rings", ("12",)),
        (Section.ADDED, "It rings", ("9",)),
        (Section.REMOVED, "Remove support for gas", ("8",)),
        (Section.REMOVED, "Remove ability to whistle", ()),
        (Section.REMOVED, "The lid is gone", ()),
    ]
    title = written(ContentType.BLOG_POST, release=announced, window=None).title
    assert title == "kettle v1.2.0 \u2013 Breaking: it rings (lid); it rings (cup), remove support for gas"


def test_notes_of_releases_in_a_window_are_entries_and_commits_after_them_are_their_own() -> None:
    noted = release("v1", body="- Add a lid"), release("v2", body="- Add a whistle")
    markdown = written(ContentType.LINKEDIN_POST, *noted, push("feat: ring at noon")).markdown
    assert "Added a lid" in markdown
    assert "Added a whistle" in markdown
    assert "Ring at noon (not released yet)" in markdown


def test_a_blog_post_shows_notes_without_a_list_as_they_are() -> None:
    body = "It **rings** now.\n\nAnd *sings*."
    draft = written(ContentType.BLOG_POST, release=release(body=body))
    assert draft.title == "kettle v1.2.0: It rings now"
    assert "is available.\n\nIt **rings** now.\n\nAnd *sings*.\n" in draft.markdown
    with_commits = written(ContentType.BLOG_POST, push("fix: stop the drip"), release=release(body=body), window=None)
    assert "And *sings*.\n\n## Fixes\n" in with_commits.markdown
    lead = "It rings at noon, and at one, and at two, and at three, and at four, and at five, and at six, and at seven."
    assert written(ContentType.BLOG_POST, release=release(body=lead)).title == "kettle v1.2.0 released"
    long = written(ContentType.BLOG_POST, release=release(body="It boils.\n\n" * 900)).markdown
    assert f"[read on in the release]({HOST}/releases/tag/v1.2.0)" in long


@pytest.mark.parametrize("content_type", [ContentType.BLOG_POST, ContentType.LINKEDIN_POST, ContentType.TWITTER_POST])
def test_there_is_no_post_about_nothing_that_users_notice(content_type: ContentType) -> None:
    for events in ((release(),), (push("docs: spell it right", "chore(deps): bump cup from 1 to 2"), release())):
        given = brief(content_type, *events)
        assert write_content(given) == Silence(reason=str(silence(given)))
    assert silence(brief(content_type, push("feat: ring"))) is None


@pytest.mark.parametrize("content_type", [ContentType.LINKEDIN_POST, ContentType.TWITTER_POST])
def test_social_posts_in_another_language_need_a_model(content_type: ContentType) -> None:
    voice = brand(language="German")
    foreign = brief(content_type, push("feat: ring at noon for the guests"), brand=voice)
    written = write_content(foreign)
    assert isinstance(written, Silence)
    assert written.reason.endswith("in German needs a language model: the changes are described in English")
    assert silence(foreign, translates=True) is None
    for few in ("Ladezeit der Suche halbiert", "Rechnungen für Kunden", "Permite nueva forma de pagar con Bizum"):
        assert isinstance(write_content(brief(content_type, push(few))), Silence)
    for other in ("添加夜间模式", "Добавить ночной режим", "Add 夜间模式 夜灯 to 设置"):
        silent = write_content(brief(content_type, push(f"feat: {other}")))
        assert isinstance(silent, Silence)
        assert silent.reason.endswith(
            "in English needs a language model: the changes are described in another language"
        )
    for english in ("Support La Poste and DHL", "Add El Niño warnings", "Show the temperature in µ°C and Ω"):
        assert isinstance(write_content(brief(content_type, push(english))), Draft)
    german = push("feat: Glocke läutet für die Gäste")
    assert isinstance(write_content(brief(content_type, german, brand=voice)), Draft)
