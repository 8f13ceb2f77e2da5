"""The comparators, one class per field type: when two values are the same, and how alike they are.

A comparator that is an equivalence maps each value to a key, and two values match exactly when their keys
are equal. The others (text, word_overlap, money, address) compare pairs. Partial credit never makes a match:
a pair matches when its similarity reaches `match_threshold` (text: also where one value contains the other).

A value that cannot be read as its type, or of which the comparator would leave nothing ("---" as digits), is
compared as `string`, and never equals a value that can be read. Decimal digits of every script are read by
value wherever digits matter (number, quantity, money, date, boolean, id, phone, digits).

>>> Money().matches("USD 1.234,50", "1,234.50"), Date(swap_day_month=True).describe()
(True, 'date(swap_day_month=True)')
"""

import math
import re
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Context, Decimal, localcontext
from functools import lru_cache
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from .dates import parse_date
from .parsing import (
    ascii_digits,
    decimal_text,
    digits_only,
    letters_and_digits,
    normalize,
    parse_boolean,
    parse_money,
    parse_number,
    parse_quantity,
)

# Amounts of money have at most 80 digits: differences and products of two stay exact.
_EXACT = Context(prec=200)


@dataclass(frozen=True)
class Comparator:
    """What all field types share; the dataclass fields of a subclass are its options."""

    name: ClassVar[str]
    is_equivalence: ClassVar[bool] = True
    match_threshold: ClassVar[float] = 1.0

    def key(self, value: str) -> str:
        """Return the text that is equal for two values exactly when they match."""
        raise TypeError(f"{self.name} compares pairs of values, it has no key")

    def matches(self, prediction: str, reference: str) -> bool:
        """Tell whether the two values count as the same."""
        return self.key(prediction) == self.key(reference)

    def similarity(self, prediction: str, reference: str) -> float:
        """Return the credit of the prediction, from 0 to 1."""
        return float(self.matches(prediction, reference))

    def match_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        """Tell for every prediction (row) and reference (column) whether they match.

        >>> Digits().match_matrix(["1-2", "3"], ["12"]).tolist()
        [[True], [False]]
        """
        rows, distinct_predictions = _codes(predictions)
        columns, distinct_references = _codes(references)
        if not predictions or not references:
            return np.zeros((len(predictions), len(references)), dtype=bool)
        return self._distinct_matrix(distinct_predictions, distinct_references)[np.ix_(rows, columns)]

    def describe(self) -> str:
        """Write the name and the options that differ from their defaults."""
        given = ((option.name, getattr(self, option.name), option.default) for option in fields(self))
        shown = [f"{name}={value!r}" for name, value, default in given if value != default]
        return f"{self.name}({', '.join(shown)})" if shown else self.name

    def _distinct_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        keys = [self.key(value) for value in [*predictions, *references]]
        codes = np.array(_codes(keys)[0])
        return codes[: len(predictions), None] == codes[None, len(predictions) :]


def _codes(values: list[str]) -> tuple[list[int], list[str]]:
    """Number the distinct values; return the number of each value, and the distinct values in that order."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(value, len(numbers)) for value in values], list(numbers)


def _tagged(tag: str, kept: str | None, value: str) -> str:
    """Make a key of what was read, or where nothing was, of the value as a string; these are never equal."""
    return f"{tag}:{kept}" if kept else f"text:{normalize(value)}"


# ------------------------------------------------------------------------------------------------ strings


@dataclass(frozen=True)
class Exact(Comparator):
    """Equal strings."""

    name: ClassVar[str] = "exact"

    def key(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class String(Comparator):
    """Equal after Unicode NFKC, casefold and whitespace collapse; alnum=True keeps letters and digits only.

    >>> String().matches("ＡＣＭＥ  Ltd", "acme ltd"), String(alnum=True).matches("A.B. 1", "ab1")
    (True, True)
    """

    name: ClassVar[str] = "string"
    alnum: bool = False

    def key(self, value: str) -> str:
        text = normalize(value)
        return _tagged("alnum", letters_and_digits(text), value) if self.alnum else text


@dataclass(frozen=True)
class Digits(Comparator):
    """Equal digits, everything else removed."""

    name: ClassVar[str] = "digits"

    def key(self, value: str) -> str:
        return _tagged("digits", digits_only(value), value)


@dataclass(frozen=True)
class Alnum(Comparator):
    """Equal ASCII letters and digits, case kept, everything else removed."""

    name: ClassVar[str] = "alnum"

    def key(self, value: str) -> str:
        return _tagged("alnum", re.sub("[^A-Za-z0-9]", "", value), value)


@dataclass(frozen=True)
class Name(Comparator):
    """Equal without whitespace, case kept."""

    name: ClassVar[str] = "name"

    def key(self, value: str) -> str:
        return "".join(value.split())


@dataclass(frozen=True)
class Phone(Digits):
    """Equal digits; of two numbers of the same length, 80 % equal digits earn 0.8 and 60 % earn 0.5.

    >>> Phone().similarity("(02) 9999 1234", "02 9999 1235"), Phone().matches("02 9999 1234", "02 9999 1235")
    (0.8, False)
    """

    name: ClassVar[str] = "phone"

    def similarity(self, prediction: str, reference: str) -> float:
        if self.matches(prediction, reference):
            return 1.0
        left, right = digits_only(prediction), digits_only(reference)
        if not left or len(left) != len(right):
            return 0.0
        share = sum(a == b for a, b in zip(left, right, strict=True)) / len(left)
        return 0.8 if share >= 0.8 else 0.5 if share >= 0.6 else 0.0


_ATTACHED_LABELS = ("abn", "acn", "arbn", "bsb", "tfn")
_LABELS = (
    *_ATTACHED_LABELS,
    *("gst", "vat", "tin", "ein", "ssn", "iban", "bic", "swift", "siren", "siret", "nif", "cif"),
    *("account", "acct", "invoice", "id", "ref", "reference"),
)


@lru_cache(256)
def _label_pattern(labels: tuple) -> re.Pattern:
    """Match a label (also "A.B.N."), maybe "No.", and what ends it; not a longer word that begins alike."""
    names = "|".join(r"\.?".join(map(re.escape, normalize(label))) for label in sorted(labels, key=len)[::-1])
    # What follows needs a digit after a bare label, anything after a colon, and only digits if attached;
    # \x23 is the number sign.
    return re.compile(
        rf"(?:{names})\.?(?:\s*(?:number|num|no|nr)\b\.?)?(?:\s*:\W*(?=\w)|[\s\x23.]+(?=.*\d))"
        rf"|(?:{'|'.join(_ATTACHED_LABELS)})(?=\d[\d\s-]*$)"
    )


@dataclass(frozen=True)
class Identifier(Comparator):
    """Equal letters and digits, caseless, without a label such as "ABN:", "BSB" or "VAT No." before them.

    >>> Identifier().matches("ABN: 51 824 753", "51824753"), Identifier().matches("ABNORMAL1", "ORMAL1")
    (True, False)
    """

    name: ClassVar[str] = "id"
    labels: tuple = _LABELS

    def key(self, value: str) -> str:
        text = ascii_digits(normalize(value))
        label = _label_pattern(self.labels).match(text) if self.labels else None
        return _tagged("id", letters_and_digits(text[label.end() :] if label else text), value)


# ------------------------------------------------------------------------------------------- parsed values

_DECIMAL = field(default="auto", metadata={"choices": ("auto", ".", ",")})


@dataclass(frozen=True)
class Number(Comparator):
    """Equal numbers. `decimal` fixes the decimal separator, see `parse_number` for "auto".

    >>> Number().matches("4", "4.0"), Number(decimal=",").matches("1.234", "1234")
    (True, True)
    """

    name: ClassVar[str] = "number"
    decimal: str = _DECIMAL

    def key(self, value: str) -> str:
        amount = parse_number(value, self.decimal)
        return _tagged("number", None if amount is None else decimal_text(amount), value)


@dataclass(frozen=True)
class Quantity(Comparator):
    """Equal whole numbers; "2x" and "x2" are 2."""

    name: ClassVar[str] = "quantity"
    decimal: str = _DECIMAL

    def key(self, value: str) -> str:
        amount = parse_quantity(value, self.decimal)
        return _tagged("number", None if amount is None else decimal_text(amount), value)


@dataclass(frozen=True)
class Boolean(Comparator):
    """Both a yes (true, yes, 1, y, x, checked) or both a no (false, no, 0, n, unchecked)."""

    name: ClassVar[str] = "boolean"

    def key(self, value: str) -> str:
        truth = parse_boolean(value)
        return _tagged("boolean", None if truth is None else str(truth), value)


@dataclass(frozen=True)
class Date(Comparator):
    """The same calendar day, or the same first and last day; swap_day_month=True ignores their order.

    >>> Date().matches("16-Jul-25", "16/07/2025"), Date(dayfirst=False).matches("3/4/2025", "2025-03-04")
    (True, True)
    """

    name: ClassVar[str] = "date"
    dayfirst: bool = True
    swap_day_month: bool = False

    def key(self, value: str) -> str:
        days = parse_date(value, self.dayfirst) or ()
        if self.swap_day_month:
            # The earlier of both readings stands for both, so that matching stays an equivalence.
            days = [min(day, date(day.year, day.day, day.month)) if day.day <= 12 else day for day in days]
        return _tagged("date", "/".join(day.isoformat() for day in days), value)


@dataclass(frozen=True)
class Money(Comparator):
    """Amounts within a tolerance, of the same sign, in currencies that can be the same.

    |prediction - reference| <= tolerance * |reference|, or <= tolerance with relative=False. Two currency
    marks conflict when no currency can be meant by both, and "CR" with "DR"; a missing mark fits all.

    >>> Money().matches("A$ 100.90", "$100"), Money().matches("US$ 100", "€100"), Money().matches("(5)", "5")
    (True, False, False)
    """

    name: ClassVar[str] = "money"
    is_equivalence: ClassVar[bool] = False
    tolerance: float = field(default=0.01, metadata={"minimum": 0.0})
    relative: bool = True
    decimal: str = _DECIMAL

    def matches(self, prediction: str, reference: str) -> bool:
        left, right = parse_money(prediction, self.decimal), parse_money(reference, self.decimal)
        if left is None or right is None:
            return left is right and normalize(prediction) == normalize(reference)
        if left.currencies and right.currencies and not left.currencies & right.currencies:
            return False
        if left.side and right.side and left.side != right.side:
            return False
        if min(left.amount, right.amount) < 0 < max(left.amount, right.amount):
            return False
        with localcontext(_EXACT):
            limit = Decimal(repr(self.tolerance)) * (abs(right.amount) if self.relative else 1)
            return abs(left.amount - right.amount) <= limit

    def _distinct_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        left, right = self._amounts(predictions)[:, None], self._amounts(references)[None, :]
        limit = self.tolerance * (np.abs(right) if self.relative else 1.0)
        # Floats only rule out: what is near is decided exactly, as are pairs of unreadable values (NaN).
        near = np.abs(left - right) <= limit + 1e-9 * (np.abs(left) + np.abs(right))
        near |= np.isnan(left) & np.isnan(right)
        for row, column in np.argwhere(near):
            near[row, column] = self.matches(predictions[row], references[column])
        return near

    def _amounts(self, values: list[str]) -> np.ndarray:
        parsed = (parse_money(value, self.decimal) for value in values)
        return np.array([math.nan if money is None else float(money.amount) for money in parsed])


# -------------------------------------------------------------------------------------------- alike texts


@dataclass(frozen=True)
class Text(Comparator):
    """1 - Levenshtein / longer length after the `string` normalisation, and 0 below 0.5.

    Matches at `threshold`, and where one value contains the other unless containment=False. The empty string
    is contained in nothing but itself.

    >>> Text().similarity("Test Compnay Pty Ltd", "Test Company Pty Ltd"), Text().matches("Acme", "Acme Ltd")
    (0.9, True)
    """

    name: ClassVar[str] = "text"
    is_equivalence: ClassVar[bool] = False
    threshold: float = field(default=0.75, metadata={"minimum": 0.5, "maximum": 1.0})
    containment: bool = True

    @property
    def match_threshold(self) -> float:
        return self.threshold

    def similarity(self, prediction: str, reference: str) -> float:
        left, right = normalize(prediction), normalize(reference)
        longer = max(len(left), len(right), 1)
        similarity = (longer - Levenshtein.distance(left, right)) / longer
        return similarity if similarity >= 0.5 else 0.0

    def matches(self, prediction: str, reference: str) -> bool:
        if self.similarity(prediction, reference) >= self.threshold:
            return True
        return self.containment and _contains(normalize(prediction), normalize(reference))

    def _distinct_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        left, right = [normalize(value) for value in predictions], [normalize(value) for value in references]
        lengths = np.array([len(value) for value in left])[:, None], np.array([len(value) for value in right])
        longer = np.maximum(np.maximum(*lengths), 1)
        distance = cdist(left, right, scorer=Levenshtein.distance, dtype=np.int32)
        matched = (longer - distance) / longer >= self.threshold
        if self.containment:
            # What is contained differs by the surplus length alone: few other pairs need the check.
            for row, column in np.argwhere(~matched & (distance == np.abs(lengths[0] - lengths[1]))):
                matched[row, column] = _contains(left[row], right[column])
        return matched


def _contains(left: str, right: str) -> bool:
    return bool(left and right) and (left in right or right in left)


@dataclass(frozen=True)
class WordOverlap(Comparator):
    """1 where the Jaccard index of the words reaches `threshold`, 0.9 where one holds the other, else 0.

    Words are what whitespace separates after the `string` normalisation, without punctuation around them;
    a value without words is one word. Only 1 is a match.

    >>> WordOverlap().similarity("4 Main St, Bath", "4 main st bath"), WordOverlap().similarity("4 Main", "4")
    (1.0, 0.9)
    """

    name: ClassVar[str] = "word_overlap"
    is_equivalence: ClassVar[bool] = False
    threshold: float = field(default=0.8, metadata={"minimum": 0.01, "maximum": 1.0})

    def similarity(self, prediction: str, reference: str) -> float:
        left, right = _words(prediction), _words(reference)
        if len(left & right) / len(left | right) >= self.threshold:
            return 1.0
        return 0.9 if left <= right or right <= left else 0.0

    def matches(self, prediction: str, reference: str) -> bool:
        return self.similarity(prediction, reference) == 1.0

    def _distinct_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        words = [_words(value) for value in [*predictions, *references]]
        columns = {word: column for column, word in enumerate(sorted(frozenset().union(*words)))}
        holds = np.zeros((len(words), len(columns)), dtype=np.float32)
        for row, found in enumerate(words):
            holds[row, [columns[word] for word in found]] = 1
        left, right = holds[: len(predictions)], holds[len(predictions) :]
        shared = (left @ right.T).astype(np.float64)
        return shared / (left.sum(1)[:, None] + right.sum(1)[None, :] - shared) >= self.threshold


def _words(value: str) -> frozenset:
    text = normalize(value)
    words = (re.sub(r"^[\W_]+|[\W_]+$", "", word) for word in text.split())
    return frozenset(word for word in words if word) or frozenset([text])


@dataclass(frozen=True)
class Address(Comparator):
    """At most `max_distance` characters to insert, delete or replace; nothing is normalised.

    >>> Address().matches("4, Main St.", "40 Main St.")
    True
    >>> Address(max_distance=0).matches("4, Main St.", "40 Main St.")
    False
    """

    name: ClassVar[str] = "address"
    is_equivalence: ClassVar[bool] = False
    max_distance: int = field(default=3, metadata={"minimum": 0})

    def matches(self, prediction: str, reference: str) -> bool:
        return Levenshtein.distance(prediction, reference) <= self.max_distance

    def _distinct_matrix(self, predictions: list[str], references: list[str]) -> np.ndarray:
        limit = self.max_distance
        options = {"scorer": Levenshtein.distance, "score_cutoff": limit, "dtype": np.int32}
        return cdist(predictions, references, **options) <= limit


COMPARATORS = {
    kind.name: kind
    for kind in (
        *(Exact, String, Text, WordOverlap, Money, Number, Quantity, Date, Boolean),
        *(Identifier, Phone, Digits, Alnum, Name, Address),
    )
}
