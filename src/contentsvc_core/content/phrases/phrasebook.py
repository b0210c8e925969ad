"""The phrases of the writers. Each language has a file, ``english.json`` and so on.

A list of two phrases is for one and for many; a list of four has a phrase for each tone. ``{…}`` is a placeholder
of a value, which callers escape. A file without all phrases is refused, and a test compares the placeholders of all
languages.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Final, final

from msgspec import Struct, json

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.sections import Section

if TYPE_CHECKING:
    from contentsvc_core.content.windows import LookbackWindow


@final
class Count(Struct, frozen=True, array_like=True):
    """A phrase that has two forms; ``{n}`` is the number."""

    one: str
    many: str


@final
class Toned(Struct, frozen=True, array_like=True):
    conversational: str
    professional: str
    casual: str
    formal: str

    def of(self, tone: ToneProfile) -> str:
        return str(getattr(self, tone.name.lower()))


class _Filling(Formatter):
    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec != "de":
            return str(format(value, format_spec))
        return f"d'{value}" if _ELIDED.match(str(value)) else f"de {value}"


#: French elides before a vowel and before the h of most names, also behind markup.
_ELIDED: Final = re.compile(r"[\W_]*[aeiouhàâäéèêëîïôöùûüœæ]", re.IGNORECASE)
#: Spanish says ``e`` before the sound of an i, which ``hie`` and ``hia`` do not have.
_SOUNDS_AS_I: Final = re.compile(r"[\W_]*h?[ií](?![aeo])", re.IGNORECASE)
_FILLING: Final = _Filling()


@final
class Phrasebook(Struct, frozen=True, kw_only=True):
    thousands: str
    semicolon: str
    colon: str
    zero_is_one: bool
    conjunction: str
    conjunction_before_i: str | None
    months: tuple[str, ...]
    first_of_month: str
    full_date: str
    date_in_year: str
    dates_in_month: str
    dates: str

    headings: Mapping[Section, str]
    kinds: Mapping[Section, Count]
    title_leads: Mapping[Section, str]

    releases: str
    contributors: str
    full_changelog: str
    unreleased: str
    not_released: str
    as_written: str
    pre_release: str
    new_release: str
    this_release: str
    new_release_of: str
    released_in: str
    released: str
    more_packages: Count
    across_packages: str
    also_in_release: str
    also_released: str
    earlier_releases: str
    not_covered: Count
    not_shown: Count
    incomplete: str
    newcomer: str
    more: str
    notes_cut: str
    read_on: str
    release_page: str
    maintenance: str
    maintenance_counts: str
    no_notes: str
    no_message: str
    private_fix: str
    also_upkeep: Toned
    all_commits: str
    dependencies: str
    build_actions: Count
    smaller: Count
    untitled: str

    release_count: Count
    pre_release_count: Count
    release_range: str
    commit_count: Count
    contributor_count: Count
    repository_count: Count
    announced_one: Toned
    announced_many: Toned
    announced_by: Toned
    news: Toned
    news_by: Toned
    news_title: str
    figures: Toned
    also: Toned
    not_released_counts: str
    elsewhere: str
    more_in_notes: Toned
    more_in_repository: Toned

    upgrade: Toned
    upgrade_advice: Toned
    themes: Mapping[Section, str]
    new: Toned
    fixes: Toned
    thanks_heading: Toned
    thanks: Toned
    about: str
    signature: Toned
    compare: str

    breaking_warning: Toned
    thanks_people: Toned

    investor_title: str
    summary: str
    covers: str
    covers_releases: str
    nothing_released: str
    shipped: str
    nothing_shipped: str
    activity: str
    risks: str
    breaking_marked: Count
    nothing_breaking: str
    deprecated: Count
    scope: str

    def format(self, phrase: str, **values: str) -> str:
        return _FILLING.vformat(phrase, (), values) if ":de}" in phrase else phrase.format(**values)

    def number(self, number: int) -> str:
        return f"{number:,}".replace(",", self.thousands)

    def count(self, number: int, phrase: Count, **values: str) -> str:
        singular = number == 1 or (number == 0 and self.zero_is_one)
        return self.format(phrase.one if singular else phrase.many, n=self.number(number), **values)

    def enumerated(self, parts: Sequence[str]) -> str:
        if not parts:
            return ""
        other = self.conjunction_before_i if _SOUNDS_AS_I.match(parts[-1]) else None
        return (other or self.conjunction).join(filter(None, (", ".join(parts[:-1]), parts[-1])))

    def period(self, window: "LookbackWindow") -> str:
        first, last = window.since.date(), (window.until - timedelta(microseconds=1)).date()
        if first >= last:
            return self._date(self.full_date, first)
        if (first.year, first.month) == (last.year, last.month):
            return self.dates_in_month.format(
                first=self._day(first), last=last.day, month=self.months[last.month - 1], year=last.year
            )
        start = self._date(self.full_date if first.year != last.year else self.date_in_year, first)
        return self.dates.format(first=start, last=self._date(self.full_date, last))

    def on(self, day: date) -> str:
        return self._date(self.full_date, day)

    def _date(self, form: str, day: date) -> str:
        return form.format(day=self._day(day), month=self.months[day.month - 1], year=day.year)

    def _day(self, day: date) -> str:
        return self.first_of_month if day.day == 1 else str(day.day)


def _book(language: str) -> Phrasebook:
    file = Path(__file__).with_name(f"{language.lower()}.json")
    return json.decode(file.read_bytes(), type=Phrasebook)


PHRASEBOOKS: Final = {name: _book(name) for name in ("English", "French", "German", "Spanish")}
ENGLISH: Final = PHRASEBOOKS["English"]
_NAMES: Final = {
    "German": ("de", "deutsch", "german"),
    "French": ("fr", "francais", "français", "french"),
    "Spanish": ("es", "castellano", "espanol", "español", "spanish"),
}
_WORD: Final = re.compile(r"[^\W\d_]+")
#: Words of most texts in a language, and of few texts in others.
_FREQUENT: Final = {
    language: frozenset(words.split())
    for language, words in {
        "English": "the and for with from of is when now to in not this add remove",
        "French": "le la les des du et pour avec dans une est quand sur nouveau nouvelle aux",
        "German": "der die das und für mit ist wenn nicht ein eine wird sich jetzt als beim zu neue",
        "Spanish": "el los las y para con del una es cuando por en al nuevo nueva",
    }.items()
}
#: The endings of German participles and nouns, such as ``aktualisiert`` and ``Rechnungen``.
_ENDINGS: Final = {"German": ("iert", "ungen", "keit")}
_LETTERS: Final = {"French": frozenset("éèêàçûœ"), "German": frozenset("äöüß"), "Spanish": frozenset("ñáéíóú")}
#: The last letter of European languages with Latin letters; a text has another script from a third of its letters on.
_LATIN: Final = "\u024f"
_UNREAD: Final = 3
#: The words of another language that an English text may have: names, and words that both languages share.
_FEW: Final = 2


def phrases_in(language: str | None) -> Phrasebook:
    """Return the phrases for a language by its name or code (``German``, ``Deutsch``, ``de-AT``); else English."""
    match = _WORD.search((language or "")[:64].casefold())
    return next((PHRASEBOOKS[name] for name, asked in _NAMES.items() if match and match[0] in asked), ENGLISH)


def language_in(phrases: Phrasebook) -> str:
    """Return the English name of the language of phrases."""
    return next(name for name, book in PHRASEBOOKS.items() if book is phrases)


def language_of(texts: Iterable[str], asked: str) -> str:
    """Return the language of most texts, English in case of doubt; ``asked`` is the language of the post.

    Of texts in a script without phrases, such as Chinese, it is "another language".
    """
    counted: Counter[str] = Counter()
    unread = read = 0
    for text in texts:
        # Most texts repeat many words, and splitting at white space is ten times as fast as the pattern.
        distinct = " ".join(set(text.split()))
        words, letters = set(_WORD.findall(distinct.casefold())), set(distinct)
        for language, frequent in _FREQUENT.items():
            counted[language] += len(words & frequent) + (not _LETTERS.get(language, frozenset()).isdisjoint(letters))
            counted[language] += sum(word.endswith(_ENDINGS[language]) for word in words) if language in _ENDINGS else 0
        unread += 0 if distinct.isascii() else _UNREAD * sum(letter > _LATIN for letter in letters if letter.isalpha())
        read += sum(map(str.isalpha, letters))
    if unread > read:
        return "another language"
    likely = max(_FREQUENT, key=lambda language: counted[language])
    # Few words prove little: a brief with English words needs more of them.
    few = _FEW if counted["English"] else _FEW - 1
    sure = counted[likely] > 2 * counted["English"] + few if asked == "English" else True
    return likely if sure else "English"


def is_foreign(texts: Sequence[str], phrases: Phrasebook) -> bool:
    """Check whether texts of commits may be in another language than the phrases."""
    if not texts or (phrases is ENGLISH and all(map(str.isascii, texts))):
        return False
    language = language_in(phrases)
    return language_of(texts, language) != language
