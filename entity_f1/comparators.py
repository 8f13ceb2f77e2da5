"""Schemas: which comparator each entity type has, and which fields each document type has.

A schema is a mapping, in Python, in a YAML file or in a JSON file. The short form maps entity types, or
patterns of them ("menu.*", "*" for all others), to comparators:

    {"total": "money", "date": {"type": "date", "dayfirst": False}, "menu.*": "text", "*": "string"}

The long form has these keys, all but `fields` optional:

    fields:                       the short form
    rows: [[item, price], ..]     fields whose lists are aligned, so that they zip to rows
    document_type_field: TYPE     the field that names the document type
    document_types:               name -> its fields, in documents of that type the only ones evaluated
      invoice:
        fields: [TYPE, item, price, total]
        validation_only: [note]   fields that are known, and never scored
        aliases: [tax invoice]    other names of the type; case, spaces and punctuation do not matter
        rows: [[item, price]]     in place of the rows above

An entity type has the comparator of its own name, else of the first pattern that matches it (case matters),
"*" being tried last; else it is compared exactly. A mapping with any key of the long form has that form.
"""

import difflib
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .field_types import COMPARATORS, Comparator, Exact, String
from .problems import quote
from .shipped_schemas import SHIPPED_SCHEMAS

_LONG_FORM = ("fields", "rows", "document_type_field", "document_types")
_DOCUMENT_TYPE_KEYS = ("fields", "validation_only", "aliases", "rows")


@dataclass(frozen=True)
class DocumentType:
    """What a schema says about one type of document."""

    name: str
    fields: tuple[str, ...]
    validation_only: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Schema:
    """Comparators by entity type, and document types; make one with `load_schema`.

    >>> schema = load_schema({"total": "money", "menu.*": "text"})
    >>> [schema.comparator(name).name for name in ("total", "menu.name", "menu")]
    ['money', 'text', 'exact']
    >>> load_schema("business_documents").document_type("Tax Invoice").name
    'invoice'
    """

    fields: tuple[tuple[str, Comparator], ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    document_types: tuple[DocumentType, ...] = ()
    document_type_field: str | None = None

    def comparator(self, entity_type: str) -> Comparator:
        """Return the comparator of an entity type."""
        by_name = dict(self.fields)
        if entity_type in by_name:
            return by_name[entity_type]
        matching = (found for name, found in self.fields if name != "*" and fnmatchcase(entity_type, name))
        return next(matching, by_name.get("*", Exact()))

    def document_type(self, name: str | None) -> DocumentType | None:
        """Return the document type of that name or alias; None for an unknown one."""
        key = _type_key(name or "")
        for found in self.document_types:
            if key in map(_type_key, (found.name, *found.aliases)):
                return found
        return None

    def aligned_rows(self, document_type: DocumentType | None = None) -> tuple[tuple[str, ...], ...]:
        """Return the sets of aligned fields of a document type, or those for every type."""
        return document_type.rows if document_type and document_type.rows else self.rows

    def describe(self) -> str:
        """Name the schema in a signature: "exact", the shipped name, or a digest of what it says.

        >>> load_schema(None).describe(), load_schema("business_documents").describe()
        ('exact', 'business_documents')
        >>> load_schema({"total": "money"}).describe() == load_schema({"total": {"type": "money"}}).describe()
        True
        """
        content = self._content()
        if content == Schema()._content():
            return "exact"
        shipped = (name for name in SHIPPED_SCHEMAS if load_schema(name)._content() == content)
        return next(shipped, "custom-" + hashlib.sha256(content.encode()).hexdigest()[:8])

    def _content(self) -> str:
        """Write what changes a score as canonical JSON: patterns in their order, names sorted."""
        described = [(name, comparator.describe()) for name, comparator in self.fields]
        if all(comparator == "exact" for _, comparator in described):
            described = []
        patterns = [pair for pair in described if pair[0] != "*" and any(char in pair[0] for char in "*?[")]
        names = sorted(pair for pair in described if pair not in patterns)
        types = sorted((vars(kind) for kind in self.document_types), key=lambda kind: kind["name"])
        return json.dumps([names, patterns, self.rows, types, self.document_type_field], sort_keys=True)


def _type_key(name: str) -> str:
    return String(alnum=True).key(name)


# ---------------------------------------------------------------------------------------------- checking


def _problem(where: str, found: Any, allowed: str) -> ValueError:
    return ValueError(f"{where}: {allowed}, got {quote(found)}")


def _unknown(where: str, kind: str, found: Any, known: Any) -> ValueError:
    nearest = difflib.get_close_matches(str(found)[:80], list(known), n=1)
    hint = f" (did you mean {nearest[0]!r}?)" if nearest else ""
    return ValueError(f"{where}: unknown {kind} {quote(found)}{hint}; known: {', '.join(known) or 'none'}")


def _check_keys(mapping: Mapping, where: str) -> None:
    for key in mapping:
        if not isinstance(key, str) or not key.strip():
            raise _problem(f"{where}: key {quote(key)}", key, "keys must be text (in YAML, quote it)")


def _names(value: Any, where: str) -> tuple[str, ...]:
    """Check a list of distinct names."""
    if not isinstance(value, list | tuple):
        raise _problem(where, value, "expected a list of names")
    for position, name in enumerate(value):
        if not isinstance(name, str) or not name.strip():
            raise _problem(f"{where}[{position}]", name, "expected a name (in YAML, quote it)")
        if name in value[:position]:
            raise _problem(f"{where}[{position}]", name, "expected each name once")
    return tuple(value)


def _rows(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list | tuple):
        raise _problem(where, value, "expected a list of lists of field names")
    return tuple(_names(names, f"{where}[{position}]") for position, names in enumerate(value))


def _option(option: Field, value: Any, where: str) -> Any:
    """Check an option against the type of its default and the range or choices it declares."""
    choices, low, high = (option.metadata.get(name) for name in ("choices", "minimum", "maximum"))
    kind = type(option.default)
    if choices and not (isinstance(value, str) and value in choices):
        raise _problem(where, value, f"expected one of {', '.join(map(repr, choices))}")
    if kind is bool and not isinstance(value, bool):
        raise _problem(where, value, "expected true or false")
    if kind is tuple:
        return _names(value, where)
    if kind in (int, float):
        text = f"expected a {'whole ' if kind is int else ''}number of at least {low}"
        text += f" and at most {high}" if high is not None else ""
        numeric = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not numeric or (kind is int and value != int(value)) or not low <= value <= (high or math.inf):
            raise _problem(where, value, text)
        return kind(value)
    return value


def create_comparator(specification: Any, where: str = "comparator") -> Comparator:
    """Make a comparator of its name, or of {"type": name, option: value}.

    >>> create_comparator({"type": "money", "tolerance": 0}).describe()
    'money(tolerance=0.0)'
    >>> create_comparator("mony")
    Traceback (most recent call last):
    ValueError: comparator: unknown comparator 'mony' (did you mean 'money'?); known: exact, string, ...
    """
    if isinstance(specification, Comparator):
        return specification
    if isinstance(specification, str):
        specification = {"type": specification}
    if not isinstance(specification, Mapping):
        allowed = f'a comparator name or {{"type": name, option: value}} (names: {", ".join(COMPARATORS)})'
        raise _problem(where, specification, f"expected {allowed}")
    _check_keys(specification, where)
    name = specification.get("type")
    if not isinstance(name, str) or name not in COMPARATORS:
        raise _unknown(where, "comparator", name, COMPARATORS)
    options = {option.name: option for option in fields(COMPARATORS[name]) if option.default is not MISSING}
    given = {key: value for key, value in specification.items() if key != "type"}
    for key in given:
        if key not in options:
            raise _unknown(where, f"option of {name}", key, options)
    return COMPARATORS[name](**{key: _option(options[key], given[key], f"{where}.{key}") for key in given})


def _document_type(name: str, value: Any, where: str) -> DocumentType:
    if not isinstance(value, Mapping) or "fields" not in value:
        raise _problem(where, value, f"expected a mapping with the keys {', '.join(_DOCUMENT_TYPE_KEYS)}")
    for key in value:
        if key not in _DOCUMENT_TYPE_KEYS:
            raise _unknown(where, "key", key, _DOCUMENT_TYPE_KEYS)
    found = DocumentType(
        name=name,
        fields=_names(value["fields"], f"{where}.fields"),
        validation_only=_names(value.get("validation_only", ()), f"{where}.validation_only"),
        aliases=_names(value.get("aliases", ()), f"{where}.aliases"),
        rows=_rows(value.get("rows", ()), f"{where}.rows"),
    )
    for field_name in found.validation_only:
        if field_name in found.fields:
            raise _problem(f"{where}.validation_only", field_name, "expected no field of its fields")
    for field_name in (field_name for row in found.rows for field_name in row):
        if field_name not in found.fields + found.validation_only:
            raise _unknown(f"{where}.rows", "field", field_name, found.fields + found.validation_only)
    return found


def _document_types(value: Any, where: str) -> tuple[DocumentType, ...]:
    if not isinstance(value, Mapping):
        raise _problem(where, value, "expected a mapping from names to document types")
    _check_keys(value, where)
    found = tuple(_document_type(name, value[name], f"{where}.{name[:80]}") for name in value)
    owners: dict[str, str] = {}
    for kind in found:
        for name in (kind.name, *kind.aliases):
            owner = owners.setdefault(_type_key(name), kind.name)
            if owner != kind.name:
                raise _problem(f"{where}.{kind.name[:80]}", name, f"expected no name of {owner[:80]!r}")
    return found


def _comparators(value: Any, where: str) -> tuple[tuple[str, Comparator], ...]:
    if not isinstance(value, Mapping):
        raise _problem(where, value, "expected a mapping from entity types to comparators")
    _check_keys(value, where)
    return tuple((name, create_comparator(value[name], f"{where}[{quote(name)}]")) for name in value)


def _check_schema(value: Any, where: str) -> Schema:
    if not isinstance(value, Mapping):
        raise _problem(where, value, "expected a mapping from entity types to comparators")
    if not any(key in value for key in _LONG_FORM):
        return Schema(_comparators(value, where))
    for key in value:
        if key not in _LONG_FORM:
            hint = ", ".join(_LONG_FORM) + " (beside these, entity types belong under fields)"
            raise _unknown(where, "key", key, [hint])
    for key in _LONG_FORM:
        if key != "document_type_field" and isinstance(value.get(key), str):
            remedy = f"an entity type of this name stands under fields, {{'fields': {{{key!r}: ..}}}}"
            raise _problem(f"{where}.{key}", value[key], f"expected no text; {remedy}")
    type_field = value.get("document_type_field")
    if type_field is not None and not (isinstance(type_field, str) and type_field.strip()):
        raise _problem(f"{where}.document_type_field", type_field, "expected a field name")
    types = _document_types(value.get("document_types", {}), f"{where}.document_types")
    if types and type_field is None:
        raise _problem(f"{where}.document_type_field", type_field, "expected the field that names the type")
    compared = _comparators(value.get("fields", {}), f"{where}.fields")
    return Schema(compared, _rows(value.get("rows", ()), f"{where}.rows"), types, type_field)


# ----------------------------------------------------------------------------------------------- loading


def _distinct_pairs(pairs: list) -> dict:
    """Make a JSON object, unless a key occurs twice: json would silently keep the last."""
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key {quote(key)} occurs twice")
    return dict(pairs)


def _check_yaml_keys(node: Any, checked: set) -> None:
    """Refuse what YAML reads otherwise than it looks: keys such as yes, 1 or null, and repeated keys."""
    if id(node) in checked:
        return
    checked.add(id(node))
    if node.id == "sequence":
        for child in node.value:
            _check_yaml_keys(child, checked)
    if node.id != "mapping":
        return
    seen = set()
    for key, child in node.value:
        place = f"line {key.start_mark.line + 1}: the key {quote(key.value)}"
        if key.tag != "tag:yaml.org,2002:str":
            raise ValueError(f"{place} is not text for YAML ({key.tag.rpartition(':')[2]}), put it in quotes")
        if key.value in seen:
            raise ValueError(f"{place} occurs twice")
        seen.add(key.value)
        _check_yaml_keys(child, checked)


def parse_schema_text(text: str, is_json: bool = False) -> Any:
    """Read YAML or JSON text, strictly.

    >>> parse_schema_text("yes: text")
    Traceback (most recent call last):
    ValueError: line 1: the key 'yes' is not text for YAML (bool), put it in quotes
    """
    import yaml

    try:
        if is_json:
            return json.loads(text, object_pairs_hook=_distinct_pairs)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None:
            _check_yaml_keys(root, set())
        return yaml.safe_load(text)
    except (yaml.YAMLError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not valid {'JSON' if is_json else 'YAML'}: {str(error)[:200]}") from error


def _read_file(path: Path, where: str) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        shipped = ", ".join(SHIPPED_SCHEMAS)
        reason = getattr(error, "strerror", None) or type(error).__name__
        allowed = f"a mapping, a readable YAML or JSON file, or a shipped schema ({shipped})"
        raise ValueError(f"{where}: expected {allowed}: {reason}") from error
    try:
        return parse_schema_text(text, is_json=path.suffix.lower() == ".json")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def load_schema(schema: Any = None) -> Schema:
    """Make a Schema of None (all exact), a mapping, the path of a YAML or JSON file, or a shipped name.

    >>> load_schema({"total": "money"}).comparator("total").describe()
    'money'
    >>> load_schema({"total": {"type": "money", "tolerance": -1}})
    Traceback (most recent call last):
    ValueError: schema['total'].tolerance: expected a number of at least 0.0, got -1
    """
    if schema is None:
        return Schema()
    if isinstance(schema, Schema):
        return schema
    if isinstance(schema, str) and schema in SHIPPED_SCHEMAS:
        return _check_schema(SHIPPED_SCHEMAS[schema], f"schema {schema}")
    where = f"schema {quote(os.fspath(schema))}" if isinstance(schema, str | os.PathLike) else "schema"
    return _check_schema(read_schema(schema), where)


def read_schema(schema: Any) -> Any:
    """What a file says, where a schema is given as one: plain data that means the same on another machine."""
    if not isinstance(schema, str | os.PathLike) or schema in SHIPPED_SCHEMAS:
        return schema
    return _read_file(Path(schema), f"schema {quote(os.fspath(schema))}")
