"""Tense, tone, audience and plain text of written posts."""

from itertools import permutations
from typing import Any, Final

import pytest
from attrs import evolve
from writing_samples import MONTH, brand, push, release, written

from contentsvc_core.content.brand import ToneProfile, unsupported_settings
from contentsvc_core.content.changelog.tenses import conjugated
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.plain import text_of
from contentsvc_core.content.posts import ContentType
from contentsvc_core.events.normalized import Event

_POSTS: Final = [each for each in ContentType if each is not ContentType.CHANGELOG]
#: Words of the sample month: a line with one of them is its author's.
_UNTRUSTED_WORDS: Final = ("kelvin", "boil_now", "firmware", "lid", "litres", "drip", "codehost.example", "#Kettle")


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Add a spring", "Added a spring"),
        ("add a spring", "added a spring"),
        ("Avoid false alarms", "Avoids false alarms"),
        ("Require Python 3.9", "Requires Python 3.9"),
        ("Raise the minimum level to 5", "Raised the minimum level to 5"),
        ("Raise an error when the lid is open", "Raises an error when the lid is open"),
        ("Use the new lid", "Uses the new lid"),
        ("Load the lids lazily", "Loads the lids lazily"),
        ("Parse lid.conf", "Parses lid.conf"),
        ("Use case of lids", "Use case of lids"),
        ("Fix Lid.remove, Lid.close", "Fixed Lid.remove, Lid.close"),
        ("Forbid lids that leak", "Forbids lids that leak"),
        ("Throw an error for open lids", "Throws an error for open lids"),
        ("Append mode of lids", "Append mode of lids"),
        ("Support minimum Python 3.9", "Supports minimum Python 3.9"),
        ("Support min go version 1.18", "Supports min go version 1.18"),
        ("Exit code for open lids", "Exit code for open lids"),
        ("Make rg faster", "Made rg faster"),
        ("Speed up the start", "Sped up the start"),
        ("Drop support for Python 3.9", "Dropped support for Python 3.9"),
        ("Support zstd", "Added support for zstd"),
        ("Document the lid", "Documented the lid"),
        ("Fix crash when the file is empty", "Fixed crash when the file is empty"),
        ("Fix for the crash", "Fix for the crash"),
        ("Add lids and remove spouts", "Added lids and removed spouts"),
        ("Update dialog is gone", "Update dialog is gone"),
        ("Support in the browser", "Support in the browser"),
        ("Added a spring", "Added a spring"),
        ("Lid stays open", "Lid stays open"),
        ("Show the level", "Shows the level"),
        ("Add lids, fix spouts & deprecate whistles", "Added lids, fixed spouts & deprecated whistles"),
        ("Formalize and refine the lid", "Formalized and refined the lid"),
        ("Add or modify lids", "Added or modified lids"),
        ("Fix sorting and support iron lids", "Fixed sorting and added support for iron lids"),
        ("Fix sorting and support of lids", "Fix sorting and support of lids"),
        ("Use lids instead of pots and avoid steam", "Uses lids instead of pots and avoids steam"),
        ("Throw errors", "Throws errors"),
        ("Check for open lids", "Checks for open lids"),
        ("Escape steam in lids", "Escapes steam in lids"),
        ("Escape key in pots", "Escape key in pots"),
        ("Export LidType of pots", "Exports LidType of pots"),
        ("Mark lids as open", "Marks lids as open"),
        ("Warn when the lid is open", "Warns when the lid is open"),
        ("Don't close the lid after cook or boil", "No longer closes the lid after cook or boil"),
        ("Prevent steam while opening and close", "Prevents steam while opening and close"),
        ("Allow to add and remove lids", "Allows to add and remove lids"),
        ("Add a lid to the pot and remove the spout", "Added a lid to the pot and removed the spout"),
        ("Rework the lid, start closing pots", "Rework the lid, start closing pots"),
        ("Fix lid + remove spout", "Fixed lid + removed spout"),
        ("Fix lid in pots, drop the spout and use it", "Fixed lid in pots, dropped the spout and uses it"),
        ("Use an iron lid, drop the spout", "Use an iron lid, drop the spout"),
        ("Deprecate the lid; use the spout instead", "Deprecated the lid; use the spout instead"),
        ("Drop the lid and use the spout instead", "Dropped the lid and uses the spout instead"),
        ('Fix "the lid is open" in pots', 'Fixed "the lid is open" in pots'),
        ("Mark as open button", "Mark as open button"),
        ("Send rings before noon", "Sends rings before noon"),
        ("Send button", "Send button"),
        ("Write access for guests", "Write access for guests"),
        ("Render target leaks", "Render target leaks"),
        ("Compute units", "Compute units"),
        ("Describe the lid, and record who opens it", "Describe the lid, and record who opens it"),
        ("Rename the lid of pots, cups, and records of ada", "Renamed the lid of pots, cups, and records of ada"),
        ("Rename the lid of pots, cups, and cache layers", "Renamed the lid of pots, cups, and cache layers"),
        ("Describe the lid, and close the spout", "Describes the lid, and closes the spout"),
        ("Revert the lid", "Reverted the lid"),
        ("Fix sorting and update order", "Fix sorting and update order"),
        ("Deprecate gas and upgrade Oil", "Deprecated gas and upgraded Oil"),
        ("Drop gas & switch to oil", "Dropped gas & switched to oil"),
        ("Return 503 for open lids", "Returns 503 for open lids"),
        ("Return type of lids", "Return type of lids"),
        ("Return specific lids", "Returns specific lids"),
        ("Load lids lazily", "Loads lids lazily"),
        ("Only load lids lazily", "Only loads lids lazily"),
        ("Strip steam from lids", "Strips steam from lids"),
        ("Strip steam of lids", "Strip steam of lids"),
        ("Map `lid` to pots", "Maps `lid` to pots"),
        ("Store lids is slow in pots", "Store lids is slow in pots"),
        ("Register key in pots", "Register key in pots"),
        ("Exit with code 1", "Exits with code 1"),
        ("Clean up lids", "Cleaned up lids"),
        ("Auto-close lids", "Auto-closes lids"),
        ("Re-enable lids", "Re-enabled lids"),
        ("Use lids when the pot is open", "Uses lids when the pot is open"),
        ("Fix lid stays open", "Fix: lid stays open"),
        ("Fix lid of `is`", "Fixed lid of `is`"),
        ("Fix how the lid is closed", "Fixed how the lid is closed"),
        ("Honour the lid", "Honours the lid"),
        ("Fix the add and remove buttons", "Fix the add and remove buttons"),
        ("Escalate false alarms", "Escalated false alarms"),
        ("Verify the lid", "Verifies the lid"),
        ("Refuse broken lids", "Refuses broken lids"),
        ("Tune the whistle", "Tuned the whistle"),
        ("Set the whistle", "Sets the whistle"),
        ("Set point of the lid", "Set point of the lid"),
        ("Always include the lid", "Always includes the lid"),
        ("correctly handle lids", "correctly handles lids"),
        ("Only support lids of iron", "Only supports lids of iron"),
        ("Automatically update lids", "Automatically updates lids"),
        ("Fully remove lids", "Fully removed lids"),
        ("Stop button does nothing", "Stop button does nothing"),
        ("Don't boil an empty pot", "No longer boils an empty pot"),
        ("do not push lids that are open", "no longer pushes lids that are open"),
        ("Add a lid; fix(spout): keep it", "Added a lid; fix(spout): keep it"),
        ("Don't carry lids", "No longer carries lids"),
        ("Add drag and drop of lids", "Added drag and drop of lids"),
        ("Prevent copy and paste of lids", "Prevents copy and paste of lids"),
        ("Drop rate of lids doubled", "Drop rate of lids doubled"),
        ("Drop the rate of lids", "Dropped the rate of lids"),
        ("Dont carry lids", "No longer carries lids"),
        ("Don't boil pots and kettles", "No longer boils pots and kettles"),
        ("Don't play with lids", "No longer plays with lids"),
        ("Deprecate gas, Upgrade Oil", "Deprecated gas, Upgraded Oil"),
        ("Don't always close the lid", "Don't always close the lid"),
        ("Don't close the lid and open the spout", "Don't close the lid and open the spout"),
        ("Don't", "Don't"),
        ("Don't leak", "No longer leaks"),
        ("No longer require lids", "No longer requires lids"),
        ("no longer disable lids", "no longer disables lids"),
        ("No longer apply lids twice", "No longer applies lids twice"),
        ("No longer fail when the lid is open", "No longer fails when the lid is open"),
        ("No longer valid lids", "No longer valid lids"),
        ("No longer available for pots", "No longer available for pots"),
        ("No longer needed lids", "No longer needed lids"),
        ("No longer closes the lid", "No longer closes the lid"),
        ("Create and use a lid", "Create and use a lid"),
        ("Add & use LID", "Add & use LID"),
        ("Allow for lids of iron", "Allows for lids of iron"),
        ("Plug the leak", "Plugged the leak"),
        ("Silence the whistle", "Silenced the whistle"),
        ("Handle and compare lids", "Handles and compares lids"),
        ("Load and cache the lids", "Loads and caches the lids"),
        ("Load and store buffers", "Load and store buffers"),
        ("Add and remove lids", "Added and removed lids"),
        ("Chunk lids using a table", "Chunks lids using a table"),
        ("Chunk order using a table", "Chunk order using a table"),
        ("Batch lids in parallel", "Batches lids in parallel"),
        ("Separate lids from pots", "Separates lids from pots"),
        ("Translate the lid", "Translates the lid"),
        ("Track lid", "Track lid"),
        ("Rebuild lids at night", "Rebuilt lids at night"),
        ("Reset the pot and close the lid", "Resets the pot and closes the lid"),
        ("Reset the pot and close buttons", "Resets the pot and close buttons"),
        ("Copy to clipboard button", "Copy to clipboard button"),
        ("Copy lids to the clipboard", "Copies lids to the clipboard"),
        ("Select all checkbox", "Select all checkbox"),
        ("Search all lids is broken", "Search all lids is broken"),
        ("Check for lids button is missing", "Check for lids button is missing"),
        ("Only link owners can open lids", "Only link owners can open lids"),
        ("Automatically add and remove lids", "Automatically add and remove lids"),
        ("Ring a bell at noon", "Rings a bell at noon"),
        ("Ring a bell is slow", "Ring a bell is slow"),
        ("Ring bell at noon", "Ring bell at noon"),
        ("Amplify the bell", "Amplifies the bell"),
        ("Under the lid", "Under the lid"),
        ("Ringing the bell", "Ringing the bell"),
        ("Now the bell rings", "Now the bell rings"),
        ("Despite the wind", "Despite the wind"),
        ("Unless the pot boils", "Unless the pot boils"),
        ("Otherwise the lid falls", "Otherwise the lid falls"),
        ("Twice the heat", "Twice the heat"),
        ("Undid the lid", "Undid the lid"),
        ("Brought a pot", "Brought a pot"),
        ("See the manual", "See the manual"),
        ("Adicionar a tela", "Adicionar a tela"),
        ("Boil a pot and ring a bell", "Boil a pot and ring a bell"),
        ("Add", "Add"),
        ("", ""),
    ],
)
def test_an_action_is_in_the_past_tense_and_behaviour_in_the_present_tense_where_that_is_safe(
    subject: str, expected: str
) -> None:
    assert conjugated(subject) == expected


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("Add a spring", "Adds a spring"),
        ("Support zstd", "Supports zstd"),
        ("Speed up the start", "Speeds up the start"),
        ("Fix sorting and support iron lids", "Fixes sorting and supports iron lids"),
        ("Use an iron lid, drop the spout", "Uses an iron lid, drops the spout"),
        ("Deprecate the lid; use the spout instead", "Deprecates the lid; use the spout instead"),
        ("Add or modify lids", "Adds or modifies lids"),
        ("Add drag and drop of lids", "Adds drag and drop of lids"),
        ("No longer require lids", "No longer requires lids"),
        ("Clean up lids", "Cleans up lids"),
        ("Don't boil an empty pot", "No longer boils an empty pot"),
        ("Fix lid stays open", "Fix: lid stays open"),
        ("Lid stays open", "Lid stays open"),
    ],
)
def test_all_verbs_are_in_the_present_tense_behind_it(subject: str, expected: str) -> None:
    assert conjugated(subject, present=True) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("feat: add a spring", "It adds a spring."),
        ("feat(lid): show `Spring`", "It shows Spring (lid)."),
        ("feat!: drop the lid", "Breaking: it drops the lid."),
        ("fix: don't boil an empty pot", "It no longer boils an empty pot."),
        ("fix: lid stays open", "Fix: lid stays open."),
        ("feat: a lid of brass", "A lid of brass."),
        ("feat: deprecate the lid", "It deprecates the lid."),
    ],
)
def test_the_first_change_of_a_release_is_a_whole_sentence(message: str, expected: str) -> None:
    for kind in (ContentType.TWITTER_POST, ContentType.LINKEDIN_POST):
        markdown = written(kind, push(message), release=release(), window=None).markdown
        assert markdown.startswith(f"kettle v1.2.0 is available. {expected}\n")


def test_a_thing_that_notes_name_is_new() -> None:
    noted = release(body="## Added\n- Night mode, which dims the lid\n- A bell\n")
    blog = written(ContentType.BLOG_POST, release=noted, window=None).markdown
    assert "is available. New: night mode, which dims the lid." in blog
    assert "\n- A bell." in blog


def test_changes_of_several_releases_or_of_none_are_no_sentences_about_one() -> None:
    ring = "feat: add a bell of brass"
    assert " new in kettle. Added a bell" in written(ContentType.TWITTER_POST, ring).markdown
    two = written(ContentType.TWITTER_POST, push(ring), release("v1"), push("feat: add a lid of iron"), release("v2"))
    assert "kettle v1 and v2 are available. Added a" in two.markdown


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("fix: lid stays open", "Fix: lid stays open"),
        ("fix(Lid): close the LID", "Closes the LID"),
        ("fix: avoid false alarms", "Avoids false alarms"),
        ("fix: properly close the lid", "Properly closes the lid"),
        ("feat!: report kelvin", "Breaking: report kelvin"),
        ("feat!: Report kelvin", "Breaking: report kelvin"),
        ("feat!: breaks the old lid", "Breaks the old lid"),
        ("security: patch CVE-2030-1", "Patched CVE-2030-1"),
        ("fix(deps): update ladle to v2 [security]", "Security: updated ladle to v2 (deps)"),
        ("Behebe den Absturz", "Behebe den Absturz"),
        ("security: Sicherheitslücke im Deckel geschlossen", "Sicherheitslücke im Deckel geschlossen"),
        ("feat!: rend le couvercle incompatible", "Rend le couvercle incompatible"),
        ("fix: Absturz der Lampe behoben", "Absturz der Lampe behoben"),
        ("Supprime la prise", "Supprime la prise"),
        ("Steckdose der Kanne entfernt", "Steckdose der Kanne entfernt"),
    ],
)
def test_a_line_says_its_kind_only_where_its_words_do_not(message: str, expected: str) -> None:
    assert written(ContentType.TWITTER_POST, message).markdown.startswith(f"Here is what is new in kettle. {expected}.")


@pytest.mark.parametrize("content_type", [each for each in ContentType if each is not ContentType.INVESTOR_UPDATE])
@pytest.mark.parametrize(
    ("events", "more"),
    [
        (MONTH, {}),
        ([push("fix: stop the drip")], {"window": None}),
        ([push("feat: close the lid", "fix: stop the drip")], {"window": None, "release": release()}),
        ([], {"window": None, "release": release(body="- feat: close the lid\n")}),
    ],
    ids=["month", "push", "release", "notes"],
)
def test_each_tone_changes_a_third_of_the_lines_from_the_phrasebook(
    content_type: ContentType, events: list[Event], more: dict[str, Any]
) -> None:
    def phrasebook_lines(tone: ToneProfile, language: str) -> list[str]:
        voice = brand(tone=tone, language=language, company="Acme")
        draft = written(content_type, *events, brand=voice, **more)
        first, *rest = draft.markdown.splitlines()
        # The first line may continue with the authors' words: only its beginning is checked.
        lines = [draft.title, first[:30], *rest]
        return [line for line in lines if line and not any(word in line for word in _UNTRUSTED_WORDS)]

    languages = ["English"] if content_type in {ContentType.LINKEDIN_POST, ContentType.TWITTER_POST} else PHRASEBOOKS
    for language in languages:
        for one, other in permutations(ToneProfile, 2):
            lines, others = phrasebook_lines(one, language), phrasebook_lines(other, language)
            assert sum(line not in others for line in lines) * 3 >= len(lines), (one, other, language)


def test_english_imperatives_have_no_capitals_inside_a_german_title() -> None:
    more: dict[str, Any] = {"window": None, "release": release("v1.2.0"), "brand": brand(language="German")}
    draft = written(ContentType.BLOG_POST, push("feat: Add a lid that closes", "feat: Deckel, die klingen"), **more)
    assert draft.title == "kettle v1.2.0: add a lid that closes; Deckel, die klingen"
    draft = written(ContentType.BLOG_POST, push("feat: Lids for all pots"), **more)
    assert draft.title == "kettle v1.2.0: lids for all pots"


def test_german_nouns_keep_their_capital_inside_an_english_title() -> None:
    title = written(ContentType.BLOG_POST, push("feat: Deckel können klingen")).title
    assert title == "What's new in kettle: Deckel können klingen"
    title = written(ContentType.BLOG_POST, push("feat: Suche deutlich beschleunigt")).title
    assert title == "What's new in kettle: Suche deutlich beschleunigt"


def test_a_french_colon_has_a_space_before_it() -> None:
    more: dict[str, Any] = {"window": None, "release": release("v1.2.0"), "brand": brand(language="French")}
    draft = written(ContentType.BLOG_POST, push("feat: ring", "feat(lid): close"), **more)
    assert draft.title.startswith("kettle v1.2.0 : ring")
    assert "- lid\u00a0: Close." in draft.markdown
    assert ": " not in draft.markdown.replace("\u00a0: ", "")


@pytest.mark.parametrize("content_type", _POSTS)
def test_customers_read_nothing_of_the_inside(content_type: ContentType) -> None:
    inside = (
        *("feat: apply clippy suggestions", "fix(api): update yarn.lock", "perf: faster unit tests"),
        *("feat: improve type hinting of lids", "feat: remove the node-fetch dependency", "feat: export TypeVar"),
    )
    voice = brand(audience="our customers")
    markdown = written(content_type, push(*inside, "feat(lid): ring at noon (#12)"), brand=voice).markdown
    assert "ing at noon" in markdown
    for word in ("clippy", "yarn", "unit", "hint", "node", "TypeVar", "lid", "#12", "/issues/"):
        assert word not in markdown


@pytest.mark.parametrize("content_type", [ContentType.CHANGELOG, ContentType.BLOG_POST])
def test_customers_read_the_part_of_a_change_that_says_nothing_without_it(content_type: ContentType) -> None:
    changes = push("feat: add tea", "feat(lid): roles", "feat(spout): open twice")
    markdown = written(content_type, changes, brand=brand(audience="our customers")).markdown
    assert "lid" in markdown
    assert "spout" not in markdown


@pytest.mark.parametrize("content_type", _POSTS)
def test_customers_read_a_breaking_change_without_abbreviations_of_developers(content_type: ContentType) -> None:
    message, voice = "feat!: bump the MSRV to 1.85", brand(audience="our customers")
    assert "umped the minimum Rust version to 1.85" in written(content_type, message, brand=voice).markdown
    assert "umped the MSRV to 1.85" in written(content_type, message).markdown


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("\\[ty\\] a\\*b \\#1  \n• c\u200bd\n", "[ty] a*b #1\n• cd"),
        ("# Head\n\n**b** _i_ `c_d_e` 2 * 3\n* x\n- y", "Head\n\nb i c_d_e 2 * 3\n• x\n• y"),
        ("[a](https://h.example/b_c_d) <https://h.example>", "a https://h.example/b_c_d https://h.example"),
        ("https://h.example/a%5Fb", "https://h.example/a%5Fb"),
        ("", ""),
    ],
)
def test_plain_text_has_no_marks_and_no_invisible_signs(markdown: str, text: str) -> None:
    assert text_of(markdown) == text


def test_wishes_that_rules_cannot_follow_are_named() -> None:
    voice = brand()
    assert unsupported_settings(None) == unsupported_settings(voice) == []
    assert unsupported_settings(evolve(voice, custom_tone="x")) == [
        "customTone was not applied: it needs a language model"
    ]
    assert unsupported_settings(evolve(voice, custom_tone="x", custom_instructions="y")) == [
        "customTone and customInstructions were not applied: they need a language model"
    ]


def test_french_elides_and_spanish_says_e_before_an_i() -> None:
    french, spanish = PHRASEBOOKS["French"], PHRASEBOOKS["Spanish"]
    for name, expected in (("kettle", "de kettle"), ("orhun/x", "d'orhun/x"), ("httpx", "d'httpx"), ("Éva", "d'Éva")):
        assert french.format("{name:de}", name=name) == expected
    for last, expected in (("ink", "a e ink"), ("hierro", "a y hierro"), ("iOS", "a y iOS"), ("hilo", "a e hilo")):
        assert spanish.enumerated(["a", last]) == expected
