"""What the writers say in their own words: one table with a row for each phrase, one value of it for each language.

``{…}`` is where something is put; whatever is put into Markdown is escaped by who puts it there. A language that
lacks a phrase does not type-check, and a test compares the places of all languages.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import final

from attrs import frozen

from contentsvc_core.content.brand import ToneProfile
from contentsvc_core.content.sections import Section
from contentsvc_core.content.windows import LookbackWindow


@final
@frozen(kw_only=True)
class Count:
    """A phrase that has two forms; ``{n}`` is the number."""

    one: str
    many: str


@final
@frozen(kw_only=True)
class Toned:
    """A phrase that each tone says in its own way."""

    conversational: str
    professional: str
    casual: str
    formal: str

    def of(self, tone: ToneProfile) -> str:
        """Give the form for a tone."""
        match tone:
            case ToneProfile.CONVERSATIONAL:
                return self.conversational
            case ToneProfile.PROFESSIONAL:
                return self.professional
            case ToneProfile.CASUAL:
                return self.casual
            case ToneProfile.FORMAL:
                return self.formal


@final
@frozen(kw_only=True)
class Phrasebook:
    """Every phrase of one language."""

    # Numbers, lists, dates.
    thousands: str
    #: Whether nought goes with the singular.
    zero_is_one: bool
    conjunction: str
    months: tuple[str, ...]
    first_of_month: str
    full_date: str
    date_in_year: str
    dates_in_month: str

    # Kinds of change.
    headings: Mapping[Section, str]
    kinds: Mapping[Section, Count]
    more_kinds: Mapping[Section, Count]
    dependency: Count
    more_dependency: Count
    more_changes: Count
    #: What a title says where no heading stands above it.
    title_leads: Mapping[Section, str]
    #: What a line says where no heading stands above it.
    leads: Mapping[Section, str]

    # Changelogs.
    releases: str
    contributors: str
    full_changelog: str
    #: The heading above changes that came after the last release, and the same in a line.
    unreleased: str
    not_released: str
    not_released_counts: str
    #: Beside a release: what it does not contain.
    elsewhere: str
    #: Said once where the post is in another language than English.
    as_written: str
    pre_release: str
    new_release: str
    this_release: str
    new_release_of: str
    released: str
    releases_up_to: str
    earlier_releases: str
    #: What was too much to be read.
    not_covered: Count
    plus: str
    not_shown: Count
    incomplete: str
    more_people: str
    more_commits: str
    notes_cut: str
    read_on: str
    release_page: str
    maintenance: str
    no_notes: str
    no_message: str
    untitled: str

    # What several kinds of content share.
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
    figures: str
    figures_in: str

    # Blog posts.
    most_important: str
    areas: str
    upgrade: str
    upgrade_advice: Toned
    behind_the_scenes: str
    release_notes: str
    thanks_heading: str
    thanks: Toned
    about: str
    signature: Toned
    source_note: str
    compare: str

    # LinkedIn and Twitter posts.
    breaking_warning: Toned
    thanks_people: Toned
    more_in_notes: str
    more_in_repository: str

    # Investor updates.
    investor_title: str
    investor_title_in: str
    summary: str
    covers: str
    covers_in: str
    released_versions: Count
    pre_released_versions: Count
    #: Where days that are known lie outside the reported time.
    received_versions: Count
    received_pre_versions: Count
    nothing_released: str
    comprises: str
    shipped: str
    nothing_shipped: str
    themes: Mapping[Section, str]
    corrected: str
    activity: str
    repository: str
    commits: str
    total: str
    commits_told: Count
    risks: str
    breaking_marked: Count
    nothing_breaking: str
    deprecated: Count
    security_marked: Count
    figures_incomplete: str
    unknown: str
    unknown_text: str

    def number(self, number: int) -> str:
        """Write a number with its thousands set apart."""
        return f"{number:,}".replace(",", self.thousands)

    def count(self, number: int, phrase: Count, **values: str) -> str:
        """Say a number with its noun: ``1 fix``, ``2,048 fixes``."""
        singular = number == 1 or (number == 0 and self.zero_is_one)
        return (phrase.one if singular else phrase.many).format(n=self.number(number), **values)

    def enumerated(self, parts: Sequence[str]) -> str:
        """Join parts as in a sentence: ``a, b and c``."""
        return self.conjunction.join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""

    def period(self, window: LookbackWindow) -> str:
        """Name the days of a window: from the first to the last one that it touches, in UTC."""
        first, last = window.since.date(), (window.until - timedelta(microseconds=1)).date()
        if first >= last:
            return self._date(self.full_date, first)
        if (first.year, first.month) == (last.year, last.month):
            return self.dates_in_month.format(
                first=self._day(first), last=last.day, month=self.months[last.month - 1], year=last.year
            )
        start = self._date(self.full_date if first.year != last.year else self.date_in_year, first)
        return f"{start} \u2013 {self._date(self.full_date, last)}"

    def on(self, day: date) -> str:
        """Name one day."""
        return self._date(self.full_date, day)

    def _date(self, form: str, day: date) -> str:
        return form.format(day=self._day(day), month=self.months[day.month - 1], year=day.year)

    def _day(self, day: date) -> str:
        return self.first_of_month if day.day == 1 else str(day.day)
