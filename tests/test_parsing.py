"""Text read as booleans, numbers and amounts of money."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.dates import parse_date
from metrics.parsing import (
    currency_marks,
    decimal_text,
    normalize,
    parse_boolean,
    parse_money,
    parse_number,
    parse_quantity,
)


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


@pytest.mark.parametrize(
    ("number", "expected"), [(1e16, "1" + "0" * 16), (1e-05, "0.00001"), (-2.5e20, "-25" + "0" * 19)]
)
def test_money_reads_numbers_as_python_writes_them(number, expected):
    assert decimal_text(parse_money(str(number)).amount) == expected


def test_credit_and_debit_are_kept_beside_the_sign():
    assert parse_money("12.50 CR") == (Decimal("12.50"), None, "cr")
    assert parse_money("$12.50DR").side == "dr"
    assert parse_money("-12.50 Cr.").amount < 0


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
