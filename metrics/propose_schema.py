"""A schema proposed from documents: the type of each field guessed from its values, rows from groups and lists.

    python -m metrics schema references.jsonl       proposes a schema
    python -m metrics schema business_documents     prints a shipped one

The proposal is a YAML file to check and edit: a guess is right often, not always.
"""

import re
from collections import Counter
from pathlib import Path

import yaml

from .comparators import load_schema, parse_schema_text
from .dates import parse_date
from .files import read_documents
from .parsing import parse_boolean, parse_money, parse_number, parse_quantity
from .schema_source import schema_text
from .shipped_schemas import SHIPPED_SCHEMAS

SEPARATOR, ABSENT = " | ", "NOT_FOUND"
VALUES_READ = 500
ENOUGH = 0.9
HEAD = """\
# Proposed from {documents} documents: check each line, edit it, and pass the file as schema.
# What each comparator means, and its options, is in COMPARATORS.md.
"""

_PHONE = re.compile(r"[+(]?\d[\d\s()./-]{5,}\d")
_PHONE_NAME = re.compile(r"phone|mobile|\btel\b|\bfax\b")
_ID_NAME = re.compile(r"\b(id|abn|acn|bsb|iban|bic|vat|tin|ssn|ref|reference|number|no|num|code|account)\b")
_ADDRESS_NAME = re.compile(r"address")
_CATEGORY_NAME = re.compile(r"\b(type|kind|category|status|currency|country|language|gender|unit)\b")
_ID_VALUE = re.compile(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9/._-]*")
_CENTS = re.compile(r"[.,]\d\d\b")


def add_schema(verbs):
    parser = verbs.add_parser("schema", help="print a shipped schema, or propose one from documents")
    parser.add_argument("source", metavar="NAME_OR_PATH", help="a shipped schema, or a file or folder of documents")
    parser.set_defaults(run=print_schema)


def print_schema(given, unknown):
    if unknown:
        raise ValueError(f"schema takes no options, got {unknown[0]!r}")
    if given.source in SHIPPED_SCHEMAS:
        print(schema_text(given.source), end="")
    elif not Path(given.source).exists():
        shipped = ", ".join(SHIPPED_SCHEMAS)
        raise ValueError(f"{given.source}: there is no such file or folder, and no such shipped schema ({shipped})")
    else:
        print(propose_schema(read_documents(given.source).to_arrow("references").to_pylist()), end="")


def propose_schema(documents):
    """The text of a schema for documents in nested groups.

    >>> print(propose_schema([[{"type": "", "entities": [{"type": "total", "value": "$3.00"}]}]]))
    # Proposed from 1 documents: check each line, edit it, and pass the file as schema.
    # What each comparator means, and its options, is in COMPARATORS.md.
    fields:
      total: money
    """
    values, lists, groups = {}, [], {}
    tables = {name for document in documents for name, n in Counter(g["type"] for g in document).items() if n > 1}
    for document in documents:
        found = {}
        for group in document:
            for entity in group["entities"]:
                if entity["type"] == "":
                    continue
                items = [item.strip() for item in entity["value"].split(SEPARATOR)]
                values.setdefault(entity["type"], []).extend(item for item in items if item and item != ABSENT)
                if group["type"] in tables - {""}:
                    members = groups.setdefault(group["type"], [])
                    members += [entity["type"]] * (entity["type"] not in members)
                elif not group["type"] and items != [ABSENT]:
                    found.setdefault(entity["type"], []).extend(items)
        lists.append({name: len(items) for name, items in found.items()})
    schema = {"fields": {name: guess_comparator(name, found) for name, found in values.items()}}
    rows = [members for members in groups.values() if len(members) > 1] + _aligned(lists)
    if rows := _distinct_fields(rows):
        schema["rows"] = rows
    text = HEAD.format(documents=len(documents)) + yaml.safe_dump(schema, sort_keys=False, allow_unicode=True)
    load_schema(parse_schema_text(text))
    return text


def guess_comparator(name, values):
    """The comparator that fits the values of a field; its name decides where values alone cannot.

    >>> [guess_comparator("x", values) for values in (["16/07/2025"], ["2", "3"], ["yes", "no"], ["INV-7", "INV-8"])]
    ['date', 'quantity', 'boolean', 'id']
    """
    values = list(dict.fromkeys(values))[:VALUES_READ]
    words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower()
    if not values:
        return "string"
    guesses = {
        "boolean": lambda value: parse_boolean(value) is not None and not value.strip().isdigit(),
        "date": lambda value: parse_date(value) is not None and not value.strip().isdigit(),
        "phone": lambda value: bool(_PHONE_NAME.search(words) and _PHONE.fullmatch(value.strip())),
        "id": lambda value: bool(_ID_NAME.search(words) and re.search(r"\d", value)),
        "quantity": lambda value: parse_quantity(value) is not None and not _CENTS.search(value),
        "money": lambda value: parse_money(value) is not None and _looks_like_money(value),
        "number": lambda value: parse_number(value) is not None,
    }
    for comparator, fits in guesses.items():
        if _share(fits, values) >= ENOUGH:
            return comparator
    if _share(lambda value: parse_money(value) is not None, values) >= ENOUGH:
        return "money"
    if _share(lambda value: bool(_ID_VALUE.fullmatch(value)), values) >= ENOUGH:
        return "id"
    if _ADDRESS_NAME.search(words):
        return "word_overlap"
    if _CATEGORY_NAME.search(words):
        return "string"
    has_spaces = _share(lambda value: len(value.split()) > 1, values) > 0
    return "text" if has_spaces else "string"


def _looks_like_money(value):
    return bool(_CENTS.search(value) or parse_money(value).currencies)


def _share(fits, values):
    return sum(map(fits, values)) / len(values)


def _aligned(lists):
    """Fields whose lists have the same length in every document that has one of them, and often more than one item."""
    names = Counter(name for document in lists for name, length in document.items() if length > 1)
    sets = {}
    for name in names:
        sets.setdefault(tuple(document.get(name, 0) for document in lists), []).append(name)
    return [members for members in sets.values() if len(members) > 1]


def _distinct_fields(rows):
    """Sets of fields of which none is in two."""
    taken, kept = set(), []
    for members in rows:
        members = [name for name in members if name not in taken]
        taken.update(members)
        if len(members) > 1:
            kept.append(members)
    return kept
