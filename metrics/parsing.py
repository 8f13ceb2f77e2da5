"""Read text as what it stands for: a boolean, a number or an amount of money.

Every function is pure and returns None for text it cannot read; nothing depends on the clock, the time zone,
the locale of the machine or on values read before. Decimal digits of any script (full-width, Arabic-Indic,
Devanagari, ...) count as the ASCII digits of the same value.
"""

import re
import unicodedata
from decimal import Context, Decimal
from functools import lru_cache
from typing import NamedTuple

from price_parser.parser import get_decimal_separator

# Longer text is no amount; the limit also bounds what a hostile value can cost.
LONGEST_PARSED_TEXT = 80
CACHE_SIZE = 1 << 16

# ---------------------------------------------------------------------------------------- normalisation


def normalize(text: str) -> str:
    """Apply Unicode NFKC, casefold, and collapse whitespace.

    >>> normalize("  Straße\\u00a0Ⅻ ")
    'strasse xii'
    """
    if text.isascii():
        return " ".join(text.lower().split())
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def ascii_digits(text: str) -> str:
    """Write decimal digits of any script as ASCII digits.

    >>> ascii_digits("١٢ ３")
    '12 3'
    """
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in text)


def letters_and_digits(text: str) -> str:
    """Keep letters, digits and the marks that letters of many scripts need (Devanagari vowel signs).

    >>> letters_and_digits("n° 12-b हिन्दी!")
    'n12bहिन्दी'
    """
    return "".join(char for char in text if char.isalnum() or unicodedata.category(char)[0] == "M")


def digits_only(text: str) -> str:
    """Keep decimal digits, as ASCII.

    >>> digits_only("(02) 9999-１２３４")
    '0299991234'
    """
    return "".join(char for char in ascii_digits(text) if char.isdecimal())


def plain_text(text: str) -> str:
    """Normalise for parsing: also ASCII digits, one minus, one apostrophe, no invisible characters."""
    text = ascii_digits(normalize(text))
    text = re.sub("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u061c]", "", text)
    text = re.sub("[−‐‑‒–﹣－]", "-", text)
    return re.sub("[’‘ʼ´`٬]", "'", text)


# ------------------------------------------------------------------------------------------------ boolean

TRUE_WORDS = frozenset({"true", "yes", "1", "y", "x", "checked", "[x]", "☑", "☒", "✓", "✔", "✅"})
FALSE_WORDS = frozenset({"false", "no", "0", "n", "unchecked", "[]", "☐", "□", "❑"})


def parse_boolean(text: str) -> bool | None:
    """Read a yes or no, or a ticked or empty box.

    >>> parse_boolean("Yes"), parse_boolean("☐"), parse_boolean("maybe")
    (True, False, None)
    """
    word = plain_text(text).replace(" ", "").replace("\ufe0f", "").replace("\ufe0e", "")
    return True if word in TRUE_WORDS else False if word in FALSE_WORDS else None


# ------------------------------------------------------------------------------------------------ numbers

_EXACT = Context(prec=2 * LONGEST_PARSED_TEXT)
# A point after a letter ends an abbreviation ("Rs.500"), it is no decimal point.
_RUN = re.compile(r"(?:(?<![^\W\d_])[.,٫])?\d(?:[\d.,٫' ]*\d)?")
_WHOLE_PART = re.compile(r"\d*|\d{1,3}([ .,'])\d{3}(?:\1\d{3})*|\d{1,2}(?:,\d{2})+,\d{3}")
_SCIENTIFIC = re.compile(r"[+-]?\d+(?:\.\d+)?e[+-]?\d{1,2}")


class Signed(NamedTuple):
    """A number found in a text, and what stands before and after it."""

    amount: Decimal
    before: str
    after: str


def _separator(number: str, decimal: str, lone: str) -> str | None:
    """Decide which character of a number separates the decimals, if any does.

    price-parser guesses right unless three digits follow the separator; then they are decimals where nothing
    else is possible ("0.500", "1 234.567", "1234.567"), or where `lone` says so, and thousands otherwise.
    """
    if decimal != "auto":
        return decimal if decimal in number else None
    if "٫" in number:
        return "٫"
    marks = re.findall("[.,]", number)
    if not marks or (len(marks) > 1 and len(set(marks)) == 1):
        return None
    last = marks[-1]
    head, _, tail = number.rpartition(last)
    if len(tail) != 3:
        return get_decimal_separator(number)
    grouped = len(marks) > 1 or " " in number or "'" in number
    return last if grouped or len(head) > 3 or head in ("", "0", "00", "000") or last in lone else None


def _read_decimal(number: str, decimal: str, lone: str) -> Decimal | None:
    """Read digits with separators; None where the groups of thousands are malformed ("1 2", "12,34.5")."""
    separator = _separator(number, decimal, lone)
    whole, _, fraction = number.rpartition(separator) if separator else (number, "", "")
    groups = _WHOLE_PART.fullmatch(whole)
    if not groups or groups[1] == separator is not None or not re.fullmatch(r"\d*", fraction):
        return None
    return Decimal(f"{re.sub('[^0-9]', '', whole) or '0'}.{fraction or '0'}")


def _read_signed(text: str, decimal: str, lone: str) -> Signed | None:
    """Read the only number of a text with its sign: "-5", "5-", "(5)", "$ -5". Two numbers are none."""
    # Superscripts, fractions and circled digits would silently turn into plain digits under NFKC.
    if len(text) > LONGEST_PARSED_TEXT or any(unicodedata.category(char) == "No" for char in text):
        return None
    # "5,-" and "5.--" write whole amounts, they are not negative; "5." ends a sentence.
    plain = re.sub(r"(?<=\d)(?:[.,:][-—]{1,2}(?!\d)|[.,]$)", "", plain_text(text))
    runs = list(_RUN.finditer(plain))
    if len(runs) != 1:
        return None
    amount = _read_decimal(runs[0][0], decimal, lone)
    before, after = plain[: runs[0].start()], plain[runs[0].end() :]
    brackets = before.count("("), after.count(")"), (before + after).count("("), (before + after).count(")")
    minus, plus = (before + after).count("-"), (before + after).count("+")
    if amount is None or brackets not in ((0, 0, 0, 0), (1, 1, 1, 1)) or minus + plus > 1:
        return None
    negative = bool(minus) or (brackets[0] == 1 and not plus)
    before, after = (re.sub("[-+()]", " ", part).strip() for part in (before, after))
    return Signed(-amount if negative and amount else amount, before, after)


def _read_scientific(text: str) -> Decimal | None:
    """Read a number as programs write very large and very small ones ("1e+16")."""
    plain = plain_text(text) if len(text) <= LONGEST_PARSED_TEXT else ""
    return Decimal(format(Decimal(plain), "f")) if _SCIENTIFIC.fullmatch(plain) else None


@lru_cache(CACHE_SIZE)
def parse_number(text: str, decimal: str = "auto") -> Decimal | None:
    """Read a number that stands alone; units, words and percent signs make it unreadable.

    With decimal="auto" a single point is a decimal point ("1.234" is less than two); a single comma groups
    thousands where exactly three digits follow ("1,234") and is a decimal comma otherwise ("1,5", "0,500").

    >>> [str(parse_number(text)) for text in ("2.000", "1,234", "1.234,56", "-3", "1e-05", "2 kg")]
    ['2.000', '1234.0', '1234.56', '-3.0', '0.00001', 'None']
    """
    if (scientific := _read_scientific(text)) is not None:
        return scientific
    signed = _read_signed(text, decimal, lone=".")
    return signed.amount if signed and not signed.before and not signed.after else None


def parse_quantity(text: str, decimal: str = "auto") -> Decimal | None:
    """Read a whole number, also one with a multiplication mark.

    >>> [str(parse_quantity(text)) for text in ("2.0", "2x", "x 2", "1.5")]
    ['2.0', '2.0', '2.0', 'None']
    """
    amount = parse_number(re.sub(r"^\s*[xX×]\s*(?=\d)|(?<=\d)\s*[xX×]\s*$", "", text, count=1), decimal)
    return amount if amount is not None and amount == amount.to_integral_value() else None


def decimal_text(amount: Decimal) -> str:
    """Write equal numbers alike.

    >>> decimal_text(Decimal("2.50")), decimal_text(Decimal("100")), decimal_text(Decimal("-0"))
    ('2.5', '100', '0')
    """
    return format(_EXACT.normalize(amount), "f") if amount else "0"


# -------------------------------------------------------------------------------------------------- money

# Where these locales write a currency sign, it can mean that currency.
_CURRENCY_LOCALES = (
    "en", "en_AU", "en_CA", "en_NZ", "en_SG", "en_ZA", "en_HK", "en_IN", "en_PK", "en_PH", "en_NG", "en_KE",
    "en_GB", "es", "es_MX", "es_AR", "es_CO", "es_CL", "es_PE", "pt", "pt_PT", "fr", "fr_CA", "fr_CH", "de",
    "de_CH", "it", "nl", "da", "sv", "nb", "is", "fi", "pl", "cs", "sk", "hu", "ro", "bg", "hr", "sr", "uk",
    "ru", "tr", "he", "ar", "hi", "ja", "zh", "zh_Hant", "ko", "id", "ms", "th", "vi", "el",
)  # fmt: skip
# Everyday marks that Babel's data lacks.
_MORE_MARKS = {
    "s$": "SGD", "j$": "JMD", "mop$": "MOP", "euro": "EUR", "euros": "EUR", "円": "JPY", "圆": "CNY",
    "원": "KRW", "rmb": "CNY", "lei": "RON", "руб": "RUB", "р": "RUB", "грн": "UAH", "sfr": "CHF",
    "fr": "CHF FRF BEF",
}  # fmt: skip


class Money(NamedTuple):
    """An amount, the ISO codes its currency mark can mean (None: no mark), and "cr" or "dr" if written."""

    amount: Decimal
    currencies: frozenset | None = None
    side: str = ""


@lru_cache(1)
def currency_marks() -> dict:
    """Map each currency mark to the ISO codes it can mean.

    >>> sorted(currency_marks()["a$"]), sorted(currency_marks()["¥"])
    (['AUD'], ['CNY', 'JPY'])
    """
    from babel import Locale
    from babel.numbers import list_currencies

    marks = {code.lower(): {code} for code in list_currencies() if code != "XXX"}
    pairs = [(mark, code) for mark, codes in _MORE_MARKS.items() for code in codes.split()]
    for name in _CURRENCY_LOCALES:
        pairs += [(_mark(sign), code) for code, sign in Locale.parse(name).currency_symbols.items()]
    for mark, code in pairs:
        # Single letters are units, tax classes or list marks more often than money, except South Africa's R.
        if mark and mark not in ("¤", code.lower()) and (not re.fullmatch("[a-z]", mark) or mark == "r"):
            marks.setdefault(mark, set()).add(code)
    for sign in "$£¥":
        marks[sign] = set().union(*(codes for mark, codes in marks.items() if sign in mark))
    return {mark: frozenset(codes) for mark, codes in marks.items()}


def _mark(text: str) -> str:
    return plain_text(text).replace(" ", "").strip(".")


def _currencies(text: str) -> frozenset | None:
    """Return the codes that all marks can mean together; None where one is unknown or two contradict."""
    marks = currency_marks()
    if _mark(text) in marks:
        return marks[_mark(text)]
    found = [marks.get(part) for part in re.findall(r"[^\W\d_]+|[^\w\s.]+", text)]
    return (frozenset.intersection(*found) or None) if len(found) > 1 and all(found) else None


@lru_cache(CACHE_SIZE)
def parse_money(text: str, decimal: str = "auto") -> Money | None:
    """Read an amount with its sign and currency mark; other words, "%" or a second number are unreadable.

    With decimal="auto" a single separator before exactly three digits groups thousands ("60.000", "29,091").
    "CR" and "DR" are kept as a mark and do not change the sign: what they mean depends on whose books it is.

    >>> str(parse_money("(1.234,56)").amount), str(parse_money("0.500").amount), parse_money("3x 4.50")
    ('-1234.56', '0.500', None)
    >>> sorted(parse_money("A$ 3").currencies), parse_money("12.50 CR").side
    (['AUD'], 'cr')
    """
    if (scientific := _read_scientific(text)) is not None:
        return Money(scientific)
    signed = _read_signed(text, decimal, lone="")
    if signed is None:
        return None
    amount, before, after = signed
    side = re.search(r"(?:^|\s)([cd]r)\.?$", after)
    if side:
        after = after[: side.start()]
    marks = f"{before} {after}".strip()
    currencies = _currencies(marks) if marks else None
    if marks and currencies is None:
        return None
    return Money(amount, currencies, side[1] if side else "")
