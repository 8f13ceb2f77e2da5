"""Text read as calendar dates and ranges of dates."""

import os
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import dates
from metrics.dates import parse_date

ROOT = Path(__file__).parent.parent
DAY = "2025-07-16"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16/07/2025", DAY),
        ("16-07-2025", DAY),
        ("16.07.2025", DAY),
        ("16 07 2025", DAY),
        ("16/7/25", DAY),
        ("2025-07-16", DAY),
        ("2025/7/16", DAY),
        ("2025. 07. 16.", DAY),
        ("20250716", DAY),
        ("16072025", DAY),
        ("07/16/2025", DAY),
        ("16-Jul-25", DAY),
        ("16JUL25", DAY),
        ("16 Jul '25", DAY),
        ("16th of July, 2025", DAY),
        ("July 16th, 2025", DAY),
        ("Jul 16 2025", DAY),
        ("Wed, 16 July 2025", DAY),
        ("16 July 2025 (Wednesday)", DAY),
        ("16. Juli 2025", DAY),
        ("16 de julio de 2025", DAY),
        ("16 juillet 2025", DAY),
        ("mercredi 16 juillet 2025", DAY),
        ("16 luglio 2025", DAY),
        ("16 de julho de 2025", DAY),
        ("16 juli 2025", DAY),
        ("16 lipca 2025", DAY),
        ("16. července 2025", DAY),
        ("2025. július 16.", DAY),
        ("16 июля 2025 г.", DAY),
        ("16 липня 2025", DAY),
        ("16 Ιουλίου 2025", DAY),
        ("16. heinäkuuta 2025", DAY),
        ("16 temmuz 2025", DAY),
        ("16 d'octubre de 2025", "2025-10-16"),
        ("16.VII.2025", DAY),
        ("2025年7月16日", DAY),
        ("2025년 7월 16일", DAY),
        ("１６/０７/２０２５", DAY),
        ("١٦/٠٧/٢٠٢٥", DAY),
        ("1er mars 1871", "1871-03-01"),
        ("01/03/1871", "1871-03-01"),
        ("5 déc. 2024", "2024-12-05"),
        ("1.º de maio de 2024", "2024-05-01"),
        ("10 listopada 2024", "2024-11-10"),
        ("16/07/68", "2068-07-16"),
        ("16/07/69", "1969-07-16"),
        ("29/02/2024", "2024-02-29"),
        ("2025-07-16T23:30:00-05:00", DAY),
        ("2025-07-16 00:10:00Z", DAY),
        ("16 July 2025 23:30 EST", DAY),
        ("16/07/2025 11:59 PM", DAY),
        ("16.07.2025, 14:30 Uhr", DAY),
    ],
)
def test_date(text, expected):
    assert [day.isoformat() for day in parse_date(text) or ()] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        *("yesterday", "today", "2 days ago", "in 3 days", "now", "Monday", "12 mars", "July 2025", "2025", "16"),
        *("July 1-31", "July 1 - 31", "1-31 July"),
        *("31/02/2025", "29/02/2025", "31 February 2025", "00/00/0000", "32/13/2025", "160725", "16 Jul 125"),
        *("1.234,56", "12.5", "Invoice 16 July 2025", "16/07-2025", "", "---", "日本", "a" * 1000 + " 1 May 2025"),
        *("16/07/2025 16/08/2025", "16 July 2025 +1000", "0016-07-16"),
    ],
)
def test_no_date(text):
    assert parse_date(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "01/07/2025 - 31/07/2025",
        "01/07/2025-31/07/2025",
        "01/07/2025–31/07/2025",
        "01-07-2025 — 31-07-2025",
        "2025-07-01/2025-07-31",
        "2025-07-01 to 2025-07-31",
        "1 July 2025 to 31 July 2025",
        "from 1 Jul 2025 until 31 Jul 2025",
        "1 July - 31 July 2025",
        "1 - 31 July 2025",
        "1-31 July 2025",
        "01/07 - 31/07/2025",
        "July 1 - July 31, 2025",
        "du 1er juillet 2025 au 31 juillet 2025",
        "du 1er au 31 juillet 2025",
        "vom 1. Juli 2025 bis 31. Juli 2025",
        "del 1 al 31 de julio de 2025",
        "od 1 lipca 2025 do 31 lipca 2025",
        "с 1 июля 2025 до 31 июля 2025",
        "July 1-31, 2025",
        "July 1 - 31 2025",
        "July 1 to 31, 2025",
        "Jul. 1st-31st, 2025",
        "01.07.-31.07.2025",
        "1.7. - 31.7.2025",
        "07/01/2025 - 07/31/2025",
        "07/01 - 07/31/2025",
    ],
)
def test_range(text):
    assert parse_date(text) == (date(2025, 7, 1), date(2025, 7, 31))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("28 Dec - 3 Jan 2025", date(2024, 12, 28), date(2025, 1, 3)),
        ("28/12 - 03/01/2025", date(2024, 12, 28), date(2025, 1, 3)),
        ("28.12.-3.1.2025", date(2024, 12, 28), date(2025, 1, 3)),
        ("Dec 28 - Jan 3, 2025", date(2024, 12, 28), date(2025, 1, 3)),
        ("28 Dec 2025 - 3 Jan 2025", date(2025, 12, 28), date(2025, 1, 3)),
        ("May 10-12, 2025", date(2025, 5, 10), date(2025, 5, 12)),
        ("06/05/2025 - 13/05/2025", date(2025, 5, 6), date(2025, 5, 13)),
        ("05/06/2025 - 05/13/2025", date(2025, 5, 6), date(2025, 5, 13)),
        ("05/13/2025 - 06/05/2025", date(2025, 5, 13), date(2025, 6, 5)),
    ],
)
def test_ends_of_a_range(text, first, last):
    assert parse_date(text) == (first, last)


def test_dayfirst_decides_only_what_is_open():
    assert parse_date("03/04/2025") == (date(2025, 4, 3),)
    assert parse_date("03/04/2025", dayfirst=False) == (date(2025, 3, 4),)
    assert parse_date("2025-03-04", dayfirst=False) == (date(2025, 3, 4),)
    assert parse_date("16/07/2025", dayfirst=False) == (date(2025, 7, 16),)
    assert parse_date("3 April 2025", dayfirst=False) == (date(2025, 4, 3),)


days = st.dates(date(1500, 1, 1), date(2999, 12, 31))
FORMS = ["%d/%m/{0}", "%d-%m-{0}", "%d.%m.{0}", "{0}-%m-%d", "{0}/%m/%d", "%d %B {0}", "%d-%b-{0}", "%B %d, {0}"]


@settings(deadline=None, max_examples=50)
@given(days, st.sampled_from(FORMS), st.booleans())
def test_the_fast_forms_agree_with_dateparser(day, form, dayfirst):
    text = day.strftime(form.format(f"{day.year:04}"))
    fast = dates._fast_date(text.lower(), dayfirst)
    assert fast == dates._date_parser(dayfirst).get_date_data(text).date_obj.date()


@pytest.mark.parametrize("year", range(0, 100, 7))
def test_two_digit_years_agree_with_dateparser(year):
    text = f"16/07/{year:02}"
    assert parse_date(text)[0] == dates._date_parser(True).get_date_data(text).date_obj.date()


@pytest.mark.parametrize(("name", "number"), sorted(dates._month_numbers().items())[::9])
def test_month_names_agree_with_dateparser_where_it_knows_them(name, number):
    found = dates._date_parser(True).get_date_data(f"16 {name} 2025").date_obj
    assert found is None or found.month == number


SCRIPT = """
import sys, locale, datetime
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from metrics.dates import parse_date
texts = ["16/07/69", "16-Jul-25", "12 mars", "Monday", "1er mars 1871", "Wed 16 lipca 2025", "10 listopada 2024",
         "16 July 2025 23:30 EST", "2025-07-16T23:30:00-11:00", "16 July 2025 EST", "mercredi 5 dec. 24"]
if "backwards" in sys.argv:
    texts.reverse()
print(sorted(f"{text}={parse_date(text)}" for text in texts))
"""


def _dates_in_another_process(*arguments, **environment):
    command = [sys.executable, "-X", "utf8", "-c", SCRIPT, *arguments]
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_dates_do_not_depend_on_zone_locale_hash_seed_or_order():
    expected = _dates_in_another_process(TZ="UTC", LC_ALL="C", PYTHONHASHSEED="1")
    found = _dates_in_another_process("backwards", TZ="Pacific/Kiritimati", LC_ALL="de_DE.UTF-8", PYTHONHASHSEED="2")
    assert found == expected


def test_dates_do_not_depend_on_the_clock(monkeypatch):
    texts = ["Wed 16 lipca 69", "Wed 16 Jul 25", "mercredi 12 mars", "Monday 5", "5 o'clock"]
    before = [dates._single_date.__wrapped__(text.lower(), True) for text in texts]
    settings_of_parser = dates._date_parser(True)._settings
    monkeypatch.setattr(settings_of_parser, "RELATIVE_BASE", datetime(1905, 2, 28))
    assert [dates._single_date.__wrapped__(text.lower(), True) for text in texts] == before
