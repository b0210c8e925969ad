"""Public changelogs as sites: paths and facets of posts, colours, pictures, trimming, and folding."""

import struct
from hashlib import sha256
from itertools import islice
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from tests.core.test_public_changelog import OFF, POST
from tests.refusals import accepted, message_of

from contentsvc_adapters.markup import SafeMarkdown
from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.phrases import PHRASEBOOKS
from contentsvc_core.content.posts import ContentType, Post
from contentsvc_core.content.public.colours import DARK_GROUND, LIGHT_GROUND, Shades, contrast, read_colour, shades_of
from contentsvc_core.content.public.facets import Label, facets_of, labels_of, scopes_of
from contentsvc_core.content.public.folds import MOST_ENTRIES, SHOWN_ENTRIES, folded
from contentsvc_core.content.public.html import excerpt, shown_in_full
from contentsvc_core.content.public.images import IMAGE_LIMIT, Image, ImageKind, read_image
from contentsvc_core.content.public.paths import is_post_path, post_paths, readable
from contentsvc_core.content.public.trimming import trimmed
from contentsvc_core.content.sections import Section
from contentsvc_core.refusals import Refusal


def written(markdown: str, **changes: Any) -> Post:
    return evolve(POST, markdown=markdown, content=SafeMarkdown().html(markdown), **changes)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Steer the beam", "steer-the-beam"),
        ("Über die Brücke: it's 100 % — done!", "uber-die-brucke-its-100-done"),
        ("灯塔 2.0 — 光", "灯塔-2-0-光"),
        # Marks of other scripts are parts of their letters.
        ("ガイド", "ガイド"),
        ("हिन्दी लेख", "हिन्दी-लेख"),
        ("🚀", ""),
        (f"{'word ' * 16}and more", "-".join(["word"] * 16)),
        ("x" * 99, "x" * 80),
        (f"{'x' * 50}-{'y' * 29}", f"{'x' * 50}-{'y' * 29}"),
        # A long title is cut between words, if the first words fill half of the room.
        (f"a-{'x' * 60}-{'y' * 30}", f"a-{'x' * 60}"),
        (f"{'x' * 30}-{'y' * 60}", f"{'x' * 30}-{'y' * 49}"),
    ],
)
def test_a_title_becomes_a_part_of_an_address(title: str, name: str) -> None:
    assert readable(title) == name


@given(st.text(max_size=300), st.none() | st.text(max_size=300))
def test_every_post_has_paths_that_are_found_again(title: str, tag: str | None) -> None:
    paths = list(islice(post_paths(evolve(POST, title=title, release_tag=tag)), 12))

    assert len(set(paths)) == 12 or not title.strip("0123456789-")
    for path in paths:
        assert is_post_path(path)
        assert path == path.strip("/-")


def test_many_posts_of_one_title_have_the_end_of_their_id() -> None:
    paths = list(islice(post_paths(evolve(POST, id="post_01a2-0123456789ab")), 7))

    assert paths[4:] == ["2026/01/a-lamp-5", "2026/01/a-lamp-0123456789ab", "2026/01/a-lamp-0123456789ab-2"]


def test_the_path_of_a_release_is_its_tag_and_that_of_a_post_its_month_and_title() -> None:
    first = [list(islice(post_paths(post), 3)) for post in (
        POST,
        evolve(POST, release_tag="v2.0.0"),
        evolve(POST, release_tag="@acme/lens@1.2.0", content_type=ContentType.BLOG_POST, source_metadata=None),
        evolve(POST, title="🚀"),
        evolve(POST, release_tag="v2", source_metadata={"repositories": ["acme/tea/pot.js"]}),
    )]  # fmt: skip

    assert first == [
        ["2026/01/a-lamp", "2026/01/a-lamp-2", "2026/01/a-lamp-3"],
        ["releases/v2.0.0", "releases/lighthouse-v2.0.0", "releases/v2.0.0-2"],
        [f"releases/acme-lens@1.2.0-blog-post{number}" for number in ("", "-2", "-3")],
        ["2026/01/post", "2026/01/post-2", "2026/01/post-3"],
        ["releases/v2", "releases/pot.js-v2", "releases/v2-2"],
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["2026/13/a", "2026/01/", "2026/01/a/b", "releases/", f"releases/{'a' * 200}", "a/b"])
def test_an_invalid_path_is_not_a_post_path(path: str) -> None:
    assert not is_post_path(path)


def test_labels_follow_from_the_sections() -> None:
    names = {section: section.value for section in Section}
    post = written("\n\n".join(f"## {name}\n\n- x" for name in names.values()))

    assert labels_of(post) == (Label.BREAKING, Label.SECURITY, Label.NEW, Label.IMPROVED, Label.FIXED)
    assert labels_of(written("Fixed: a lamp\n\n- Added a door")) == ()
    assert labels_of(written("## Dependencies\n\n- x\n\n## Removed\n\n- y")) == ()
    notes = written("- **New:** a lens\n- **Changed:** angles\n- **Security:** tokens\n- **beam:** brighter")
    assert labels_of(notes) == (Label.SECURITY, Label.NEW, Label.IMPROVED)
    assert scopes_of(notes) == ("beam",)
    # Usual spellings.
    assert labels_of(written("## Bug fixes\n\n- x\n\n### New features\n\n- y")) == (Label.NEW, Label.FIXED)
    for book in PHRASEBOOKS.values():
        assert labels_of(written(f"## {book.headings[Section.FIXED]}\n\n- x")) == (Label.FIXED,)
        for tone in ToneProfile:
            assert labels_of(written(f"## 🐛 {book.fixes.of(tone)}\n\n- x")) == (Label.FIXED,)
            assert labels_of(written(f"## {book.new.of(tone)}\n\n- x")) == (Label.NEW,)


def test_a_post_is_found_by_its_repositories_scopes_and_package() -> None:
    post = written(
        "## Fixed\n\n- **beam:** A\n- **API:** B\n- C **not:** D",
        release_tag="lens@1.2.0",
        source_metadata={"repositories": ["Acme/Lighthouse", "acme/lens"]},
    )

    assert scopes_of(post) == ("lens", "beam", "api")
    assert facets_of(post) == (
        *("label:fixed", "repository:acme/lighthouse", "repository:acme/lens"),
        *("scope:lens", "scope:beam", "scope:api"),
    )
    packages = {"v1.2.0": (), "1.2": (), "@acme/a@1.0": ("@acme/a",), "b/v2.0": ("b",), "c-d-v1": ("c-d",)}
    assert {tag: scopes_of(written("", release_tag=tag)) for tag in packages} == packages
    # Several packages in one post, and entries below the name of their scope.
    tags = {"releaseTags": ["lens@1.2.0", "Beam@2.0.0"]}
    assert scopes_of(written("", release_tag="lens@1.2.0", source_metadata=tags)) == ("lens", "beam")
    assert scopes_of(written("## Fixed\n\n- **API**\n  - B\n  - C\n- **D** and E")) == ("api",)


@given(st.lists(st.text(min_size=1), max_size=99), st.text(max_size=9))
def test_facets_have_a_bound_and_repositories_that_do_not_fit_are_known_to_be_missing(
    repositories: list[str], tag: str
) -> None:
    post = evolve(POST, source_metadata={"repositories": repositories}, release_tag=tag)
    facets = facets_of(post)

    assert sum(len(facet.encode()) + 1 for facet in facets) <= 1_000
    assert not any("\n" in facet for facet in facets)
    named = [facet for facet in facets if facet.startswith("repository:")]
    if len(named) < len(dict.fromkeys(repositories)):
        assert "repository:*" in named


def test_a_changelog_of_some_repositories_shows_no_post_about_others() -> None:
    chosen = evolve(OFF, repositories=("ACME/lighthouse",))
    for repositories, is_shown in (
        (["acme/lighthouse"], True),
        (["acme/lighthouse", "acme/secret"], False),
        (["acme/lighthouse-2"], False),
        ([], False),
    ):
        assert chosen.shows(evolve(POST, source_metadata={"repositories": repositories})) is is_shown
    assert not chosen.shows(evolve(POST, source_metadata=None))
    scoped = evolve(OFF, scopes=("beam",))
    assert scoped.shows(written("- **beam:** A\n- **api:** B"))
    assert not scoped.shows(written("- **api:** B"))
    both = evolve(OFF, repositories=("acme/lens",), scopes=("beam", "horn"))
    of_lens = {"repositories": ["acme/lens"]}
    assert both.shows(evolve(written("- **beam:** A"), source_metadata=of_lens))
    assert not both.shows(evolve(written("- **beam:** A"), source_metadata={"repositories": ["acme/lid"]}))
    assert not both.shows(evolve(written("- **api:** B"), source_metadata=of_lens))


@given(st.from_regex(r"[0-9a-f]{6}", fullmatch=True))
def test_every_accent_can_be_read_in_light_and_dark(accent: str) -> None:
    shades = shades_of(accent)

    for shade, ground in ((shades.light, LIGHT_GROUND), (shades.dark, DARK_GROUND)):
        assert contrast(shade, ground) >= 4.5
    assert contrast(shades.light, shades.light_ground) >= 4.5
    assert contrast(shades.dark, shades.dark_ground) >= 4.5


def test_a_colour_that_can_be_read_stays() -> None:
    assert contrast("000000", "ffffff") == 21
    assert shades_of("0b6b63").light == "0b6b63"
    assert shades_of("ffe600").dark == "ffe600"
    assert shades_of("b03a2e") == Shades(light="b03a2e", light_ground="f5eae7", dark="d77267", dark_ground="2e1b1a")
    assert (read_colour("#0B6B63 "), read_colour("0b6b63"), read_colour("teal"), read_colour("#fff")) == (
        "0b6b63",
        "0b6b63",
        None,
        None,
    )


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\0\0\0\0IEND\xaeB`\x82"


def jpeg(width: int, height: int) -> bytes:
    return b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width) + b"\x03"


def webp(kind: bytes, tail: bytes) -> bytes:
    body = b"WEBP" + kind + b"\0\0\0\0" + tail.ljust(14, b"\0")
    return b"RIFF" + struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (png(64, 32), "image/png"),
        (jpeg(64, 32), "image/jpeg"),
        (webp(b"VP8X", b"\0\0\0\0\x3f\0\0\x1f\0\0"), "image/webp"),
        (webp(b"VP8L", b"\x2f" + struct.pack("<I", 63 | 31 << 14)), "image/webp"),
        (webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 64, 32)), "image/webp"),
    ],
)
def test_a_picture_is_known_by_its_own_bytes(content: bytes, media_type: str) -> None:
    image = accepted(read_image(ImageKind.LOGO, content))

    assert (image.mark.media_type, image.mark.width, image.mark.height) == (media_type, 64, 32)
    assert image.content == content
    assert image.mark.digest == sha256(content).hexdigest()[:16]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "logo must be a PNG, JPEG or WebP picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "logo must be a PNG, JPEG or WebP picture"),
        (png(64, 32)[:-1], "logo must be a PNG, JPEG or WebP picture"),
        (jpeg(64, 32).replace(b"ab\xff", b"ab\xfe"), "logo must be a PNG, JPEG or WebP picture"),
        (webp(b"VP8X", b"").replace(b"RIFF\x1a", b"RIFF\x1b"), "logo must be a PNG, JPEG or WebP picture"),
        (jpeg(64, 32)[:12], "logo must be a PNG, JPEG or WebP picture"),
        (webp(b"VP8X", b"")[:20], "logo must be a PNG, JPEG or WebP picture"),
        (png(64, 4_097), "logo must have 1 to 4,096 pixels in width and in height"),
        (png(0, 1), "logo must have 1 to 4,096 pixels in width and in height"),
        (b"\0" * (IMAGE_LIMIT + 1), "logo must be a picture of at most 512 KiB"),
    ],
)
def test_an_invalid_image_is_refused_with_its_fault(content: bytes, fault: str) -> None:
    assert message_of(read_image(ImageKind.LOGO, content)) == fault


def test_a_picture_may_have_one_pixel_and_the_longest_side() -> None:
    for width, height in ((1, 4_096), (4_096, 1)):
        assert isinstance(read_image(ImageKind.LOGO, png(width, height)), Image)


@given(st.binary(max_size=64), st.sampled_from([b"", b"\xff\xd8\xff", b"RIFF", b"\x89PNG\r\n\x1a\n"]))
def test_no_bytes_break_the_reader_of_pictures(content: bytes, start: bytes) -> None:
    assert isinstance(read_image(ImageKind.ICON, start + content), Image | Refusal)


_INTERNAL = """\
**3 October 2025** · 1 feature ([2 commits](https://x.example/y))

## Added

- **api:** Report ([#17](https://x.example/1)) ([6662648](https://x.example/6662648), [abc1234](https://x.example/2))
- Plain (abc1234)

## {internal}

- Move the tests

## Fixed

- Keep (this) in

{also} ([all commits](https://x.example/z)). Dependencies: tide 2.4.1 → 2.5.0.

## {contributors}

Ines Kaya, @maralind
"""


@pytest.mark.parametrize("tone", ToneProfile)
@pytest.mark.parametrize("book", PHRASEBOOKS.values(), ids=PHRASEBOOKS)
def test_public_pages_omit_the_sections_for_the_team(book: Any, tone: ToneProfile) -> None:
    also = book.also_upkeep.of(tone).format(counts=book.count(2, book.kinds[Section.INTERNAL]))
    internal = book.headings[Section.INTERNAL]
    content = SafeMarkdown().html(
        _INTERNAL.format(
            internal=internal if tone is ToneProfile.FORMAL else f"🔨 {internal}",
            also=also,
            contributors=book.contributors,
        )
    )

    kept = trimmed(content)

    assert "Report" in kept
    assert "#17" in kept
    assert "Keep (this) in" in kept
    for gone in ("3 October", "6662648", "abc1234", "Move the tests", "all commits", "Ines Kaya", book.contributors):
        assert gone not in kept, gone


def test_nothing_takes_the_place_of_trimmed_parts() -> None:
    lead, entry = "**3 October 2030** · 1 feature · [2 commits](https://h.example)\n\n", "- Ring (6662648, abc1234)\n\n"
    content = SafeMarkdown().html(f"{lead}{entry}Also 1 internal change.\n\n## Contributors\n\nAda\n\n## Next\n")
    assert trimmed(content).split() == SafeMarkdown().html("- Ring\n\n## Next\n").split()


@pytest.mark.parametrize(
    ("markdown", "kept"),
    [
        # One section after the other, one within the other, and one at the end.
        ("## Internal changes\n\na\n\n## Contributors\n\nb\n\n## Next\n\nc", "## Next\n\nc"),
        ("## Internal changes\n\n### Contributors\n\na\n\n### More\n\nb\n\n## Next\n\nc", "## Next\n\nc"),
        ("# Notes\n\n## Contributors\n\na\n\n### More\n\nb\n\n# Next\n\nc", "# Notes\n\n# Next\n\nc"),
        # The first line with a date and counts alone.
        ("**3 May 2030** · 1 fix\n\n**4 May 2030** · news", "**4 May 2030** · news"),
        # A post that would become empty is not trimmed.
        ("Also 1 internal change.\n\n## Contributors\n\na", "Also 1 internal change.\n\n## Contributors\n\na"),
    ],
)
def test_sections_for_the_team_end_with_their_subsections(markdown: str, kept: str) -> None:
    assert trimmed(SafeMarkdown().html(markdown)).strip() == SafeMarkdown().html(kept).strip()


def test_a_post_without_such_sections_is_not_trimmed() -> None:
    internal = "## Internal changes\n\n- Move the tests"
    for markdown in (internal, "Also, a lamp.", "A (b) c", "## Contributors to the lamp"):
        content = SafeMarkdown().html(markdown)
        assert trimmed(content) == content


def listed(*sections: int) -> str:
    numbers = iter(range(sum(sections)))
    return SafeMarkdown().html(
        "\n\n".join(
            f"## S{at}\n\n" + "\n".join(f"- entry {next(numbers)}" for _ in range(size))
            for at, size in enumerate(sections)
        )
    )


@given(st.lists(st.integers(min_value=1, max_value=20), min_size=1, max_size=8))
def test_a_long_post_is_folded_behind_its_first_entries_and_nothing_is_lost(sections: list[int]) -> None:
    content, total = listed(*sections), sum(sections)
    shown = folded(content)

    if total <= MOST_ENTRIES:
        assert shown == content
        return
    before, summary, after = shown.partition(f"<summary>Show all {total} changes</summary>")
    assert summary
    # A heading without content would remain above the fold.
    assert not before.partition("<details")[0].rstrip().endswith("</h2>")
    assert 1 <= before.count("<li>") <= SHOWN_ENTRIES
    assert [before.count(tag) + after.count(tag) for tag in ("<li>", "<h2>")] == [total, len(sections)]
    assert shown.count("<ul>") == shown.count("</ul>")
    assert after.rstrip().endswith("</details>")


def test_text_without_a_long_list_is_not_folded() -> None:
    nested = SafeMarkdown().html("- a\n" + "".join(f"  - {n}\n" for n in range(30)))
    prose = SafeMarkdown().html("\n\n".join(["word " * 200] * 20))

    assert (folded(nested), folded(prose)) == (nested, prose)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("Ring at noon", "Ring at noon"),
        # A sentence ends at the limit, one character behind it, or within a number.
        ("Ring, twice. Sing", "Ring, twice."),
        ("Ring it twice. Sing", "Ring it…"),
        ("Ring at v1.5 of it", "Ring at…"),
        ("See lamps 11.5 now", "See lamps…"),
        # A sentence of a third of the room, and a shorter one.
        ("Ring. Sing at noon", "Ring."),
        ("Oh. Sing at noon", "Oh. Sing at…"),
        # A word that ends in the middle of the room, and one before it.
        ("Lights onandonandon", "Lights…"),
        ("Light onandonandon", "Light onand…"),
        ("Lights, onandonandon", "Lights…"),
        ("onandonandonandon", "onandonando…"),
        ("Bells\n and &amp; lamps", "Bells and &…"),
    ],
)
def test_an_excerpt_of_twelve_characters(text: str, cut: str) -> None:
    assert excerpt(f"<p>{text}</p>", 12) == cut


def test_an_excerpt_that_ends_within_a_tag_has_nothing_of_the_tag() -> None:
    assert excerpt(f'<p>Bell <a href="{"x" * 600}">z</a></p>', 12) == "Bell"


def test_posts_are_shown_in_full_up_to_the_limit() -> None:
    posts = [evolve(POST, id=name, content="x" * size) for name, size in (("a", 6), ("b", 5), ("c", 4), ("d", 1))]

    assert shown_in_full(posts, budget=10) == {"a", "c"}


@pytest.mark.parametrize(
    ("sections", "cut"),
    [
        # Within a list, before a heading, and at the beginning of a list of which nothing fits.
        ((13,), "<li>entry 8</li>"),
        ((3, 10), "<li>entry 8</li>"),
        ((8, 5), "<h2>S1</h2>"),
        ((4, 4, 5), "<h2>S2</h2>"),
    ],
)
def test_a_fold_begins_at_the_ninth_entry_or_at_its_heading(sections: tuple[int, ...], cut: str) -> None:
    content = listed(*sections)
    before, after = content[: content.index(cut)], content[content.index(cut) :]
    ends, begins = ("</ul>\n", "<ul>") if cut.startswith("<li>") else ("", "")
    summary = f'<details class="fold">\n<summary>Show all {sum(sections)} changes</summary>\n'

    assert folded(content) == f"{before}{ends}{summary}{begins}{after}</details>\n"


def test_a_numbered_list_is_folded_as_a_whole() -> None:
    numbered = SafeMarkdown().html("## First\n\n- a\n\n## Steps\n\n" + "\n".join(f"{n}. step" for n in range(1, 14)))
    before, _, after = numbered.partition("<h2>Steps</h2>")

    assert folded(numbered).startswith(f'{before}<details class="fold">\n<summary>Show all 14 changes</summary>\n<h2>')
    assert folded(numbered).endswith(f"{after}</details>\n")
