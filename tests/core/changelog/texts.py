"""Single messages, bodies, notes and titles at the limits of the rules of changelogs, written for these tests."""

from typing import Final

_MESSAGES: Final = r"""
feat: ring\r\n\r\nBREAKING CHANGE: it rings\r\nReviewed-by: Ada | Ring\rtwice | fix(#481): ring
fix(#481, bell): ring | fix( bell ): ring | fix(): ring | Fix (bell): ring | FIX: ring | feat (bell): ring
feat(bell) : ring | feat:ring | bell:ring | C:\bell | feat!!: ring | [bell] ring | [ bell ] ring | (bell) ring
{bell} ring | [bell][api] ring | [WIP] ring | [1.x] [bell] ring | [Feat] ring | [security] fix: ring
[feat] fix: ring | [`bell`]: ring | [bell] | (#12) | [#12] ring (#13) | bell - add a ring | bell - Adds a ring
add - ring it | bell - ring | lisp/bell.el: ring | * bell.el (ring): x | * lisp/bell.el (ring): add it | ; ring
bell, lid: ring | bell/lid.py, spout.py: ring | two words: ring | add this: ring | ✨ ring | ✨✨ ring
:sparkles: :bug: ring | :unknown: ring | 🔖 v1 | ✨ feat(bell)!: ring | a ✨ ring | BREAKING: ring | **BREAKING** ring
[breaking] ring | [!!!] ring | bc break: ring | Breaking changes in bells | ENH ring | enh ring | FIX: ring
CI ring | bug #12 ring | feature #12 [Bell] ring (ada) | Issue #1234 by ada: ring | Issue #123 by ada: ring
Bug 12345 - Part 2: ring | ABC-1: ring | [ABC-1][Core] ring | abc#123 ring | LAMP-12 ring
LAMP-12/ring-twice | feat/ring-twice | 57: ring | 404: ring | feat(bell) ring twice | feat ring twice
fix(app/(bell)/lid): ring | fix(ABC-1): ring | ABC-1(bell): ring
feat(*): ring | !12 ring | Input: bell - add a ring | feature/LAMP-12 ring
feat/ring at noon | fix/LAMP-1: ring | Draft: ring | rfc - ring | hotfix - ring | Fixed #12 -- ring | Fix #12: ring
fixes #12 | #12: ring | gh-12: ring | bpo-12: ring | Ring (closes #1, #2) | Ring #12 | Ring, #12 | Ring - #12
Ring (#1 and #2) | Fixes #12, #13 and #14
Follow-up to #12: ring
Ring acme/x#12 | Ring C#12 | Ring (!12) | Ring (GH-12) | Ring see #12 | Ring about #12 | Ring (#1) (#2) (#3).
Ring [skip ci] | Ring [ci skip] (#12) | [skip ci] Ring | Ring ***NO_CI*** | Ring [no-ci]
Ring. Contributed by Ada L. | Ring r=ada | Ring, r=ada,bob | Ring (by Ada) | Ring (@ada) (#12)
Ring (#12) (Ada, Bob) | Ring at noon…\n\n…and at one (#12) | Ring at noon…\n…and at one
Ring at noon…\n\nand at one | Ring…(#12) | net: phy: add x | net: phy: mdio: add x | fix: net: add x
net(phy): add x | net: fix: x | a: b: c: d: e: f: g: h: i | Revert ring | Reapply ring | revert: ring | Reverse ring
Re-land ring | Ring  twice | Ring- twice | RING twice | API: ring | UI rings | break: ring | backport: ring
Ring (Request #12) | breaking: ring | breaking(bell): ring | Ring - twice | feat: ring -twice | [docs] (bell) ring
(#12) bell: ring | draft: feat/ring at noon | [LAMP-1] [bell] fix: ring | ✨ [bell] ring (#1), fixes #2 | fix:  ring
net: phy: mdio: (eth) add x | [BREAKING] feat(bell): ring | Ring (by: Ada) (#12) | Ring (h/t @ada) | ring (via Ada)
CVE-2030-12: refuse it | [GHSA-1234-abcd-5678] refuse it | RUSTSEC-2030-0001: refuse it | [CVE-2030-12] refuse it
fix: [security] ring | bell: [lid] ring | [bell] lid: ring | Ring at noon\n\n…and at one | Fix [#12] | Fix (#12)
feat: ring\n\nBREAKING CHANGE: it rings\n- at noon\n- at one | #12: fix(#481): ring | Fix: ring | chore: CVE-2030-12
fix!: ring | [lid]: fix: bell: ring | lid: bell - add a ring | :bug: :sparkles: ring | ring (#1) (#1)
BREAKING: fix: ring | fix(bell): #12: ring | fix: FEAT ring | Add - remove it | • ring
"""
#: Messages at the limits of the parser; those of the styles are also read.
MESSAGES: Final = (
    "- fixed the drip",
    *("", "  ", "\n\n  feat: ring  ", "feat\uff1aring", "x" * 420, f"{'y ' * 300}(#12)"),
    *(
        each.replace(r"\n", "\n").replace(r"\r", "\r")
        for line in _MESSAGES.strip().split("\n")
        for each in line.split(" | ")
    ),
)

#: Bodies, and the explanation that each one has.
BODIES: Final = (
    "Reported by Ada Byron, who boils water in five kettles at once",
    "Adds a bell to the lid of each kettle. It rings whenever the water boils.\n\nCloses #12",
    "",
    "\r\n\r\nAdds a bell\r\nto the lid of each kettle in the house.\r\n\r\nMore.",
    "Adds a bell here.",
    "Adds a bell to the lid. It rings.",
    "This change adds a bell to the lid of each kettle; it rings at noon",
    "Rings a bell when water boils in each kettle of the house.",
    "The kettle now rings when water boils in the whole house.",
    "When water boils in the whole house. The kettle now rings and sings.",
    "Currently adds nothing to the lid of any kettle.",
    "Adds what was previously missing from the lid of each kettle.",
    "I added a bell to the lid of each kettle in the house.",
    "Adds `my_bell` to the lid of each kettle in the whole house.",
    "Adds https://bell.example to the lid of each kettle.",
    "Adds a bell to the lid of each kettle in the house:",
    "Adds a bell (to the lid of each kettle in the house.",
    "Adds a `bell to the lid of each kettle in the house.",
    "Adds ada@mail.example to the lid of each kettle in the house.",
    "Adds a bell (e.g. Big Ben) to the lid of each kettle. Also rings. And more sentences follow here.",
    "Adds " + "a bell and " * 20 + "a lid.",
    "Adds " + "a bell and " * 19 + "a lid.",
    "# Summary\n\nAdds a bell to the lid of each kettle in the house.",
    "## Summary\nAdds a bell to the lid of each kettle in the house.",
    "## Testing\n\nAdds a bell to the lid of each kettle.\n\n## What\n\nAdds a horn to the lid of each kettle.",
    "## Background\nAdds nothing to the lid of each kettle in the house.\n\nAdds nothing else to any lid of the house.",
    "#hashtag adds a bell to the lid of each kettle",
    "- Adds a bell to the lid of each kettle\n- Adds a horn to the spout",
    "* adds a bell to the lid of each kettle in the house\n  and to the spout",
    "Adds a bell to the lid of each kettle in the house.\n- one\n- two",
    "Adds a bell to the lid of each kettle in the house:\n- one\n- two",
    "```\nAdds a bell to the lid of each kettle\n```\nAdds a horn to the lid of each kettle in the house.",
    "~~~\nAdds a bell to the lid of each kettle\n\nAdds a horn to the lid of each kettle in the house.",
    "Adds a bell to the lid of each kettle in the house.\nSigned-off-by: Ada",
    "Co-authored-by: Ada\nAdds a bell to the lid of each kettle in the house.",
    "* one\n\nAdds a bell to the lid of each kettle in the house.",
    "Adds a bell to the lid of each kettle in the house.\n---\nAdds more and more and more to it.",
    "- fix(lid): adds a bell to the lid of each kettle in the house",
    "- Use a bell in the lid of each kettle in the house",
    "Ring at noon. Adds a bell to the lid of each kettle.",
    "Fixes #12. Adds a bell to the lid of each kettle.",
    "This PR adds a bell to the lid of each kettle in the house.",
    "Adds noon bells, ringing.",
    "Adds a lid “that closes”. “Now” it closes by itself in each house",
    "Adds a bell! Adds a horn? Adds a lid for each kettle of the house",
    "Adds thingies, noon ringing.",
    "This change quickly adds a bell to the lid of each kettle.",
    "~~~\ncode\n~~~\n\nAdds a bell to the lid of each kettle in the house.",
    "#\n\nAdds a bell to the lid of each kettle in the house.",
    "## Why\n\nWe adds a bell.\n\n## What it does\n- Adds a bell to the lid of each kettle in the house.",
    "x" * 3_990 + "\n\nAdds a bell to the lid of each kettle in the house.",
    "x" * 3_900 + "\n\nAdds a bell to the lid of each kettle in the house.",
)

#: Bodies that announce breaking changes, or seem to.
BREAKING: Final = (
    "BREAKING CHANGE: it rings",
    "BREAKING CHANGE #12 it rings",
    "BREAKING-CHANGE: it rings\ntwice\n\nReviewed-by: Ada",
    "breaking change: it rings",
    "**Breaking**: it rings",
    "[breaking] it rings",
    "(breaking): it rings",
    "We are [breaking a thing] here",
    "## Breaking changes\n\n- it rings\n- it sings\n  loudly\n\nMore.",
    "## Breaking changes\n\nIt rings\nand sings.\n\nMore.",
    "## Breaking changes\n\nNone",
    "## Breaking changes\n\nIt rings\n- at noon",
    "Breaking changes:\n- it rings\n\n- it sings\n# Next\n- no",
    "Breaking change? Yes, it rings",
    "### Breaking change?\n- [ ] no\n- [x] yes",
    "- [x] Breaking change",
    "- [x] Breaking changes are documented",
    "- [ ] Breaking change",
    "This is a breaking change.",
    "Is this a breaking change?",
    "This breaks backwards compatibility.",
    "BC break: it rings",
    "Backwards incompatible changes: it rings",
    "* feat(bell)!: it rings\n* fix: no",
    "- fix!: it rings",
    "<!-- BREAKING CHANGE: not this -->\nBREAKING CHANGE: n/a",
    "Breaking: no\nBreaking: not at all\nBreaking: it rings",
    "\n".join(f"Breaking: ring {number}" for number in range(12)),
    "## Breaking changes\n" + "\n".join(f"- ring {number}" for number in range(12)),
    "## Breaking changes\n\n" + "\n".join(f"line {number}" for number in range(12)),
    "\n".join(f"* feat!: ring {number}" for number in range(12)),
    "Nothing breaks. Incompatible with tea!: see",
    "> **Breaking change:** it rings",
    "💥 Breaking change: it rings",
    "API breaking changes: it rings\n---\nno",
    "Reviewed-by: Ada  \nFixes #12\n\nNo token\n\nSigned-off-by: Ada\nlonger\nBREAKING CHANGE: it rings",
    "Reviewed-by: Ada\n\nSigned-off-by: Bob\n \n\nRefs: 1234567",
    "BREAKING CHANGE:\nit rings",
    "* feat(x)!:no\n- feat(x): no\n  - fix(y)!: it sings\n- A!: no",
    "Breaking change: none\n\nBreaking: [none]\n\nBreaking: it rings\nat noon\n\nmore",
    "## Breaking changes\n\n- it rings\n\n  at noon\n- it sings\n\nBreaking: twice",
    "- [X] This introduces a breaking change",
    "It introduces a technically breaking change.",
    "- **BC break?** yes - it rings\n- Tests? no",
    "| BC breaks?    | yes |\n| Deprecations? | no |",
    "Does this PR introduce a breaking change? Yes/No",
    "### Is this a breaking change?\n\nYes: it rings.\n\n### Tests\n\nNone",
    "Breaking changes?\n\n- [x] Yes\n- [ ] No",
    "Breaking change? Perhaps",
    "Is this a breaking change for bells",
)

#: Notes of releases, as their authors wrote them.
NOTES: Final = (
    (
        "Bells for everyone. They ring at noon.\n\n## What's Changed\n* Ring at noon by @ada in #1\n* fix: drip"
        " (#2)\n\n## New Contributors\n* @ada made their first contribution in #1\n\n**Full Changelog**: https://x.example"
    ),
    (
        "## Fixed\n\n- The drip [#12](https://codehost.example/acme/kettle/pull/12), thanks @ada!\n- `lid()` closes\n\n"
        "### Security\n1. A lock for the lid (#3, #4)\n2) Another\n\n**Removed:**\n\n+ The lid\n  goes on\n\n  - nested"
    ),
    (
        "> quoted\n\n| a | b |\n\n<b>html</b>\n\n# v1.0\n\nA kettle that *sings* and **rings**, at __noon__. More…\n\n"
        "The kettle sings e.g. at noon. It rings!\n\n- [ ] Ring \\*once\\*\n- [x] ![a](b.png) Ring twice 1234567\n"
    ),
    "```\n- code\n# no heading\n```\n\n~~~~\n- more code\n~~~\n- still code\n~~~~\n- Ring at noon\n```\nopen",
    "<!-- one -->\nFull changelog: below.\n\nRing:\n\n- 1234567 Ring at noon\n- #12: Boil faster\n- dead123 - pour",
    "Removed\n\n## Removed\n\n* Cups. They leaked. All of them.\n* https://codehost.example/acme/kettle/issues/77\n",
    "\n".join(f"- Ring {number} times" for number in range(203)),
    "Word " * 120 + "\n\n- Ring",
    "one\n\ntwo words:\n\nask @ada now\n\nwww.kettle.example is here\n\n=====\n\na sixth one that counts\n\n- Ring",
    "  > quoted\n\n  | a | b |\n\n A lead that counts.\n\n  # Fixes\n\n  * Ring\n    at noon\n    - nested\n  * Sing",
    "## Code\n\n    - code",
    (
        "- [Ring](https://x.example/a_(b)) at _noon_ and __one__, `*two*` and 2*3*4 (abc1234, #5)\n"
        "- Sing by @ada, @bob and @carl[bot] in https://x.example/acme/kettle/pull/12\n- Thanks to @ada! Hum (#6).\n"
        "* #7, #8 - Pour. It pours slowly. At once.\n- **Stop it**: now\n- Oh. No it is short, #9"
    ),
    (
        "### New\n- a\n### Changes\n- Add b\n- fix: c\n- d breaks\n### Improvements\n- CVE-2030-1 in e\n"
        "### Performance\n- f\n### Deprecations\n- g\n### Bug fixes\n- h\n### Docs\n- i\n### Chores\n- j\n"
        "### Breaking\n- k\n### Thanks\n- l\n### Assets\n- m\n__Security__\n- n\n### Other\n- o"
    ),
    "A lead. It ends here...\nand goes on.\n\n- Ring\nat noon\n\nno lead\n- Sing\n\n## Thanks\n\nno lead here",
    "> A bell\n\nKettles: https://kettle.example/a\n\n- made their first contribution\n- Made a first pot",
    "<!-- a\nb --> A kettle <!-- c --> sings, `<!-- d -->` too.\n\n<!-- open\n\n- Ring\\@noon &#64; &commat; a@b.ex",
    "#hashtag\n\n```\ncode\n```  \n- Ring\n\n## Lid ##\n\n- 00000000 at noon\n- [Pour][1] it\n\n[1]: https://x.example",
    "A sentence of many words stands in front. " * 14 + "\n\n- Ring",
    (
        "> The kettle sings at noon.\n\n<p>It rings at one.</p>\n\n| The kettle hums |\n\n### Lids\n\n"
        "The lids close.\n\n- Ring"
    ),
    (
        "## Lids\n\nThe lids close.\n\n## Bells\n\nThe bells ring.\n\n## Spouts\n\nThe spouts pour.\n\n"
        "## Cups\n\nThe cups hold."
    ),
    (
        "## Highlights\n\n### Two lids at once!\nEach kettle closes both.\n\n"
        "- Ring. Adds a bell to the lid of each kettle in the house (#5)"
    ),
    "",
)

#: Titles of releases: tag, name, pre-release.
TITLES: Final = (
    ("v1.0.0", None, False),
    ("v1.0.0", "v1.0.0", False),
    ("v1.0.0", "Release 1.0.0", False),
    ("v1.0.0", "kettle v1.0.0", False),
    ("v1.0.0", "The singing release", False),
    ("v1.0.0", "1.0.0: The singing release", False),
    ("v1.0.0", "Kettle 1.0.0 sings", True),
    ("kettle-v1.0.0", None, True),
    ("kettle-v1.0.0", "Songs", True),
    ("v1.0.0-pre", None, True),
    ("v1.0.0", "Preview of songs", True),
    ("", None, False),
    ("", "Songs", True),
    ("v1", "x" * 200, True),
    ("t" * 60, "songs " * 30, False),
    ("kettle", "kettles sing", False),
    ("_", "-", False),
    ("v0.1.0", None, False),
    ("v0.2.1", "kettle", False),
    ("v0.0.1", "Version the 0.0.1", False),
    ("v2.1.0", "v2.1", False),
    ("acme-v3.0", "Release 3.0 of kettle", True),
    ("2.0.0+1.5", None, False),
)
