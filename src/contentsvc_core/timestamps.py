"""Points in time: aware UTC ``datetime`` values with whole milliseconds, and their two written forms."""

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
#: Every time zone can show the points in time from the first one to before the last one.
_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, tzinfo=UTC)


def refuse_local(at: datetime) -> None:
    """Raise ``ValueError`` for a time without a time zone."""
    if at.tzinfo is None:
        message = f"a point in time needs a time zone: {at!r}"
        raise ValueError(message)


def whole_ms(at: datetime) -> datetime:
    """Return ``at`` in UTC, cut to whole milliseconds; without a time zone, raise ``ValueError``."""
    refuse_local(at)
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def read_iso(text: str) -> datetime | None:
    """Return the point in time of an ISO 8601 text, in UTC unless it has an offset; ``None``: the text is invalid."""
    try:
        # GitLab dates releases so: 2026-01-01 12:00:00 UTC.
        at = datetime.fromisoformat(text.removesuffix(" UTC"))
        at = whole_ms(at if at.tzinfo is not None else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None
    return at if _FIRST <= at < _LAST else None


def is_within(at: datetime, since: datetime | None, until: datetime | None) -> bool:
    """Return whether ``at`` is ``since`` or later, and before ``until``; ``None``: no limit."""
    return (since is None or at >= since) and (until is None or at < until)


def to_ms(at: datetime) -> int:
    """Return the whole milliseconds since 1970-01-01T00:00Z, for a store; raise ``TypeError`` without a time zone."""
    return (at - EPOCH) // MILLISECOND


def from_ms(ms: int) -> datetime:
    """Return the UTC time that is ``ms`` milliseconds after 1970-01-01T00:00Z, the inverse of :func:`to_ms`."""
    return EPOCH + ms * MILLISECOND


def iso_ms(at: datetime) -> str:
    """Return ``at`` as ``YYYY-MM-DDTHH:MM:SS.mmmZ``."""
    return whole_ms(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
