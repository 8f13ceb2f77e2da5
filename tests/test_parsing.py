"""Text read as booleans, numbers, amounts of money and dates."""

import os
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics import parsing
from metrics.parsing import (
    currency_marks,
    decimal_text,
    normalize,
    parse_boolean,
    parse_date,
    parse_money,
    parse_number,
    parse_quantity,
)

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  A \t\n b ", "a b"),
        ("ＡＢＣ", "abc"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("e\u0301", "é"),
        ("ﬁn", "fin"),
        ("a\u00a0b\u2003c", "a b c"),
        ("", ""),
    ],
)
def test_normalize(text, expected):
    assert normalize(text) == expected


@given(st.text())
def test_normalizing_twice_changes_nothing(text):
    assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize("text", ["true", "YES", " y ", "1", "x", "X", "Checked", "☑", "☑\ufe0f", "[x]", "✓", "１"])
def test_true(text):
    assert parse_boolean(text) is True


@pytest.mark.parametrize("text", ["false", "No", "n", "0", "UNCHECKED", "☐", "[ ]", "٠"])
def test_false(text):
    assert parse_boolean(text) is False


@pytest.mark.parametrize("text", ["", "maybe", "10", "2", "yes no", "✗", "not", "n/a", "NOT_FOUND"])
def test_neither_true_nor_false(text):
    assert parse_boolean(text) is None


# ------------------------------------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", "4"),
        ("4.0", "4"),
        ("2.000", "2"),
        ("1.234", "1.234"),
        ("1,234", "1234"),
        ("1,5", "1.5"),
        ("0,500", "0.5"),
        ("1.234.567", "1234567"),
        ("1.234,56", "1234.56"),
        ("1,234.567", "1234.567"),
        ("1 234,5", "1234.5"),
        ("1'234", "1234"),
        ("1,23,456", "123456"),
        ("-3", "-3"),
        ("−3", "-3"),
        ("(3)", "-3"),
        ("3-", "-3"),
        ("+3", "3"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0", "0"),
        ("007", "7"),
        ("1e-05", "0.00001"),
        ("1E3", "1000"),
        ("１２３", "123"),
        ("١٢٣٫٥", "123.5"),
        ("१२", "12"),
        ("9" * 60, "9" * 60),
        ("2 kg", None),
        ("10%", None),
        ("$3", None),
        ("1 2", None),
        ("1-2", None),
        ("1/2", None),
        ("½", None),
        ("2²", None),
        ("1.2.3", None),
        ("12,34.5", None),
        ("--3", None),
        ("(3", None),
        ("", None),
        ("-", None),
        ("ten", None),
        ("九", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("1" * 81, None),
    ],
)
def test_number(text, expected):
    amount = parse_number(text)
    assert (None if amount is None else decimal_text(amount)) == expected


@pytest.mark.parametrize(
    ("text", "decimal", "expected"),
    [
        ("1.234", ",", "1234"),
        ("1,234", ",", "1.234"),
        ("1,234", ".", "1234"),
        ("1,5", ".", None),
        ("1.234.567", ".", None),
        ("1.234,5", ".", None),
        ("1.234,5", ",", "1234.5"),
    ],
)
def test_number_with_a_fixed_separator(text, decimal, expected):
    amount = parse_number(text, decimal)
    assert (None if amount is None else decimal_text(amount)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", 2), ("2.0", 2), ("2x", 2), ("x2", 2), ("2 ×", 2), ("2.5", None), ("1,000", 1000), ("-1", -1), ("x", None)],
)
def test_quantity(text, expected):
    assert parse_quantity(text) == expected


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12))
def test_a_number_written_plainly_is_read_back(amount):
    assert parse_number(format(amount, "f")) == amount
    assert parse_number(format(amount, ",f")) == amount


# -------------------------------------------------------------------------------------------------- money


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(12.50)", "-12.5"),
        ("12.50-", "-12.5"),
        ("-12.50", "-12.5"),
        ("−12.50", "-12.5"),
        ("– 12.50", "-12.5"),
        ("-$5", "-5"),
        ("$-5", "-5"),
        ("($5.00)", "-5"),
        ("$(5.00)", "-5"),
        ("1.234,56", "1234.56"),
        ("1 234,56", "1234.56"),
        ("1\u00a0234,56", "1234.56"),
        ("1\u202f234,56", "1234.56"),
        ("1\u2009234,56", "1234.56"),
        ("1,234.56", "1234.56"),
        ("1'234.50", "1234.5"),
        ("1’234.50", "1234.5"),
        ("12,345,678.90", "12345678.9"),
        ("1,23,456.00", "123456"),
        ("60.000", "60000"),
        ("29,091", "29091"),
        ("Rp 60.000", "60000"),
        ("1234.567", "1234.567"),
        ("0.500", "0.5"),
        ("1.5", "1.5"),
        ("1,5", "1.5"),
        (".50", "0.5"),
        ("Rs.500", "500"),
        ("5,-", "5"),
        ("5.–", "5"),
        ("5:-", "5"),
        ("12.50 CR", "12.5"),
        ("１２.５０", "12.5"),
        ("٣٫٥", "3.5"),
        ("5.00.", "5"),
        ("3x 4.50", None),
        ("2 @ 4.50", None),
        ("10%", None),
        ("free", None),
        ("N/A", None),
        ("5-10", None),
        ("1 2", None),
        ("12⁵⁰", None),
        ("$", None),
        ("", None),
        ("TOTAL 5", None),
        ("12.50 T", None),
        ("€5 USD", None),
        ("-5-", None),
        ("16/07/2025", None),
        ("1" * 1000, None),
    ],
)
def test_amount(text, expected):
    money = parse_money(text)
    assert (None if money is None else decimal_text(money.amount)) == expected


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("A$ 3", {"AUD"}),
        ("AU$3", {"AUD"}),
        ("USD 3", {"USD"}),
        ("usd 3", {"USD"}),
        ("US$3", {"USD"}),
        ("$3 AUD", {"AUD"}),
        ("AUD$3", {"AUD"}),
        ("3 EUR", {"EUR"}),
        ("€3", {"EUR"}),
        ("3 euros", {"EUR"}),
        ("¥3", {"JPY", "CNY"}),
        ("￥3", {"JPY", "CNY"}),
        ("3円", {"JPY"}),
        ("3 zł", {"PLN"}),
        ("3 kr", {"SEK", "NOK", "DKK", "ISK"}),
        ("3 руб.", {"RUB"}),
        ("R$ 3", {"BRL"}),
        ("R 3", {"ZAR"}),
        ("RM3", {"MYR"}),
        ("CHF 3", {"CHF"}),
        ("3", None),
    ],
)
def test_currency(text, codes):
    assert parse_money(text).currencies == codes


def test_a_dollar_sign_can_mean_every_dollar():
    assert {"USD", "AUD", "CAD", "NZD", "SGD", "HKD", "TWD"} <= currency_marks()["$"]
    assert "EUR" not in currency_marks()["$"]


def test_credit_and_debit_are_kept_beside_the_sign():
    assert parse_money("12.50 CR") == (Decimal("12.50"), None, "cr")
    assert parse_money("$12.50DR").side == "dr"
    assert parse_money("-12.50 Cr.").amount < 0


# -------------------------------------------------------------------------------------------------- dates

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
    ],
)
def test_range(text):
    assert parse_date(text) == (date(2025, 7, 1), date(2025, 7, 31))


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
    fast = parsing._fast_date(text.lower(), dayfirst)
    assert fast == parsing._date_parser(dayfirst).get_date_data(text).date_obj.date()


@pytest.mark.parametrize("year", range(0, 100, 7))
def test_two_digit_years_agree_with_dateparser(year):
    text = f"16/07/{year:02}"
    assert parse_date(text)[0] == parsing._date_parser(True).get_date_data(text).date_obj.date()


@pytest.mark.parametrize(("name", "number"), sorted(parsing._month_numbers().items())[::9])
def test_month_names_agree_with_dateparser_where_it_knows_them(name, number):
    found = parsing._date_parser(True).get_date_data(f"16 {name} 2025").date_obj
    assert found is None or found.month == number


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.sampled_from(["16", "7", "2025", " ", "/", "-", ".", ",", "to", "July", "mars", "a", "²", "T", ":"]))
)
def test_no_text_breaks_the_parsers(parts):
    text = "".join(parts)
    for parse in (parse_date, parse_money, parse_number, parse_quantity, parse_boolean):
        assert parse(text) == parse(text)


@settings(deadline=None)
@given(st.text(max_size=90))
def test_no_unicode_text_breaks_the_parsers(text):
    for parse in (parse_date, parse_money, parse_number, parse_quantity, parse_boolean):
        parse(text)


SCRIPT = """
import sys, locale, datetime
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    pass
from metrics.parsing import parse_date
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
    before = [parsing._single_date.__wrapped__(text.lower(), True) for text in texts]
    settings_of_parser = parsing._date_parser(True)._settings
    monkeypatch.setattr(settings_of_parser, "RELATIVE_BASE", datetime(1905, 2, 28))
    assert [parsing._single_date.__wrapped__(text.lower(), True) for text in texts] == before
