"""Read text as a calendar date or a range of dates.

As in `parsing`, every function is pure and returns None for text it cannot read.
"""

import re
import unicodedata
from datetime import date
from functools import lru_cache

from .parsing import CACHE_SIZE, LONGEST_PARSED_TEXT, plain_text

# In this order: a month name of several languages ("listopada") is read as the first of them reads it.
DATE_LANGUAGES = (
    "en", "fr", "de", "es", "it", "pt", "nl", "pl", "cs", "sk", "sl", "hu", "ro", "bg", "el", "da", "sv",
    "nb", "fi", "et", "lv", "lt", "ru", "uk", "ca", "tr", "hr",
)  # fmt: skip
_ROMAN_MONTHS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_NUMERIC = re.compile(r"(\d{1,4})\s*([-/. ])\s*(\d{1,2})\s*\2\s*(\d{1,4})\.?")
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_COMPACT = re.compile(r"\d{8}")
_ORDINAL = r"\.?(?:st|nd|rd|th|er|re|e|o|a)?\.?"
_DAY_NAME_YEAR = re.compile(
    rf"(\d{{1,2}}){_ORDINAL}[\s/-]*(?:(?:de|of)\s+|d')?([^\W\d_]+)\.?[\s/,-]*(?:(?:de|del|of)\s+)?'?(\d{{4}}|\d\d)\.?"
)
_NAME_DAY_YEAR = re.compile(rf"([^\W\d_]+)\.?[\s-]*(\d{{1,2}}){_ORDINAL}(?:\s*,\s*|[\s-]+)'?(\d{{4}}|\d\d)")
_DAYS = rf"\d{{1,2}}{_ORDINAL}\s*-\s*\d{{1,2}}{_ORDINAL}"
# "July 1-31" names two days and no year.
_DAYS_WITHOUT_YEAR = re.compile(rf"[^\W\d_]+\.?\s+{_DAYS}|{_DAYS}\s+[^\W\d_]+\.?")
# The calendar day is the one that is written: a time or a zone behind it never moves it.
_TIME = re.compile(
    r"(?:(?<=\d)t|,?\s+(?:at\s+)?)\d{1,2}(?::\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s*[ap]\.?m\.?)?|\s*[ap]\.?m\.?)"
    r"\s*(?:z|[a-z]{3,4})?\s*(?:[+-]\d\d:?\d\d)?$"
)
_RANGE_OPENING = re.compile("(?:from|between|du|de|del|dal|dall'|vom|von|van|od|desde|från|fra|с|από)[ .]+")
_RANGE_SEPARATOR = re.compile(
    r"\s+(?:to|until|till|til|through|thru|and|au|à|a|al|bis|tot|t/m|do|až|ate|até|до|по|έως|[-~〜—]+)\s+|\s*[~〜—]\s*"
)


def _calendar_date(year: str, month: str, day: str) -> date | None:
    """Build a date; two digits of a year mean 1969 to 2068, as POSIX and dateparser have it."""
    if len(year) not in (2, 4) or len(month) > 2 or len(day) > 2:
        return None
    number = int(year) + (0 if len(year) == 4 else 1900 if int(year) > 68 else 2000)
    try:
        return date(number, int(month), int(day)) if number >= 1000 else None
    except ValueError:
        return None


def _from_numbers(first: str, second: str, third: str, dayfirst: bool) -> date | None:
    if len(first) > 2:
        return _calendar_date(first, second, third) or _calendar_date(first, third, second)
    day, month = (first, second) if dayfirst else (second, first)
    return _calendar_date(third, month, day) or _calendar_date(third, day, month)


def _without_accents(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))


@lru_cache(1)
def _month_numbers() -> dict:
    """Map the month names on which all languages agree to their numbers."""
    from babel import Locale

    numbers = {name: {number} for number, name in enumerate(_ROMAN_MONTHS, 1)}
    numbers["sept"] = {9}
    for language in DATE_LANGUAGES:
        for widths in Locale.parse(language).months.values():
            for width in ("wide", "abbreviated"):
                for number, name in widths[width].items():
                    words = _without_accents(plain_text(name)).replace("'", " ").strip(". ").split()
                    numbers.setdefault(words[-1], set()).add(number)
    return {name: found.pop() for name, found in numbers.items() if len(found) == 1 and not name.isdigit()}


def _from_name(text: str) -> date | None:
    day_first = _DAY_NAME_YEAR.fullmatch(text)
    name_first = None if day_first else _NAME_DAY_YEAR.fullmatch(text)
    if not day_first and not name_first:
        return None
    day, name, year = day_first.groups() if day_first else (name_first[2], name_first[1], name_first[3])
    month = _month_numbers().get(_without_accents(name))
    return _calendar_date(year, str(month), day) if month else None


def _fast_date(text: str, dayfirst: bool) -> date | None:
    """Read the common forms, many times faster than dateparser and with the same result."""
    text = _TIME.sub("", text)
    numeric = _NUMERIC.fullmatch(text)
    if numeric:
        return _from_numbers(numeric[1], numeric[3], numeric[4], dayfirst)
    if _COMPACT.fullmatch(text):
        year_first = _calendar_date(text[:4], text[4:6], text[6:])
        return year_first or _from_numbers(text[:2], text[2:4], text[4:], dayfirst)
    east_asian = _EAST_ASIAN.fullmatch(text)
    return _calendar_date(*east_asian.groups()) if east_asian else _from_name(text)


@lru_cache(2)
def _date_parser(dayfirst: bool):
    from dateparser.date import DateDataParser

    settings = {
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": ["day", "month", "year"],
        "DATE_ORDER": "DMY" if dayfirst else "MDY",
        "PREFER_LOCALE_DATE_ORDER": False,
        "TIMEZONE": "UTC",
    }
    languages = list(DATE_LANGUAGES)
    return DateDataParser(languages, settings=settings, try_previous_locales=False, use_given_order=True)


@lru_cache(CACHE_SIZE)
def _single_date(text: str, dayfirst: bool) -> date | None:
    found = _fast_date(text, dayfirst)
    # Without letters the fast forms are all there is.
    if found or not (re.search(r"\d", text) and re.search(r"[^\W\d_]", text)):
        return found
    moment = _date_parser(dayfirst).get_date_data(_TIME.sub("", text)).date_obj
    # dateparser moves a date with a time zone to UTC, maybe to another day.
    return moment.date() if moment and moment.tzinfo is None and moment.year >= 1000 else None


def _both_ends(left: str, right: str, dayfirst: bool, read) -> tuple | None:
    """Read both ends of a range; each may leave something to the other ("1 - 31 July 2025", "July 1-31, 2025")."""
    if not (re.search(r"\d", left) and re.search(r"\d", right)):
        return None
    dayfirst = _written_order(left, right, dayfirst)
    month = re.match(r"[^\W\d_]+\.?\s+", left)
    rights = [right, month[0] + right] if month else [right]
    right, end = next(((text, end) for text in rights if (end := read(text, dayfirst))), (right, None))
    if end is None:
        return None
    start = read(left, dayfirst)
    return (start, end) if start else _with_start_completed(left, right, end, dayfirst, read)


def _with_start_completed(left, right, end, dayfirst, read):
    tails = [right[gap.start() :] for gap in re.finditer(r"[\s/.-]+", right)]
    texts = (left.rstrip(" .") + tail for tail in reversed(tails))
    start = next((start for text in texts if (start := read(text, dayfirst))), None)
    if start and start > end:
        # The year is that of the end: "28 Dec - 3 Jan 2025" begins the year before.
        start = _calendar_date(str(end.year - 1), str(start.month), str(start.day))
    return (start, end) if start else None


def _written_order(left: str, right: str, dayfirst: bool) -> bool:
    """Whether both ends of a range write the day first: one that can be read in one order only tells."""
    for text in (left, right):
        numeric = re.match(r"(\d{1,2})\s*[-/. ]\s*(\d{1,2})(?!\d)", text)
        if numeric and (int(numeric[1]) > 12) != (int(numeric[2]) > 12):
            return int(numeric[1]) > 12
    return dayfirst


def _date_range(text: str, dayfirst: bool) -> tuple | None:
    text = _RANGE_OPENING.sub("", text, count=1) if _RANGE_OPENING.match(text) else text
    # A bare hyphen also stands inside dates: there only the fast forms are tried, at every place.
    for read, separator in ((_single_date, _RANGE_SEPARATOR), (_fast_date, re.compile("[-/]"))):
        for gap in separator.finditer(text):
            ends = _both_ends(text[: gap.start()], text[gap.end() :], dayfirst, read)
            if ends:
                return ends
    return None


@lru_cache(CACHE_SIZE)
def parse_date(text: str, dayfirst: bool = True) -> tuple | None:
    """Read a calendar date as (day,) or a date range as (first, last); a time of day is dropped.

    Numeric dates are read in the order `dayfirst` says, and in the other order where that is impossible.
    Text that leaves out the day, month or year, or counts from today, is unreadable.

    >>> [str(day) for day in parse_date("16-Jul-25") + parse_date("07/16/2025") + parse_date("1er mars 1871")]
    ['2025-07-16', '2025-07-16', '1871-03-01']
    >>> [str(day) for day in parse_date("1 - 31 July 2025")]
    ['2025-07-01', '2025-07-31']
    >>> parse_date("yesterday"), parse_date("12 mars"), parse_date("31/02/2025")
    (None, None, None)
    """
    if len(text) > LONGEST_PARSED_TEXT or not re.search(r"\d", text):
        return None
    plain = plain_text(text)
    if _DAYS_WITHOUT_YEAR.fullmatch(plain):
        return None
    found = _fast_date(plain, dayfirst)
    if found:
        return (found,)
    found = _date_range(plain, dayfirst) or _single_date(plain, dayfirst)
    return found if found is None or isinstance(found, tuple) else (found,)
