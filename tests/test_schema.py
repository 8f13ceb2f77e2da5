"""Schemas: the forms they are given in, how an entity type finds its comparator, and errors that say what is wrong."""

import json
import pickle
from pathlib import Path

import pytest

from metrics.comparators import COMPARATORS, Schema, load_schema
from metrics.schema_source import FOLDER, generate_shipped_schemas, schema_text

LINE_ITEMS = ("LINE_ITEM_DESCRIPTIONS", "LINE_ITEM_QUANTITIES", "LINE_ITEM_PRICES", "LINE_ITEM_TOTAL_PRICES")
FLAT = {"total": "money", "date": {"type": "date", "dayfirst": False}, "menu.*": "text"}
LONG = {
    "fields": FLAT,
    "rows": [["a", "b"]],
    "document_type_field": "TYPE",
    "document_types": {"invoice": {"fields": ["TYPE", "total"], "aliases": ["tax invoice"]}},
}


def _write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# ------------------------------------------------------------------------------------- finding comparators


def test_without_a_schema_everything_is_exact():
    assert load_schema(None).comparator("total").name == "exact"
    assert load_schema({}).comparator("").name == "exact"


def test_a_name_comes_before_patterns_and_the_star_comes_last():
    schema = load_schema({"*": "string", "menu.*": "text", "*.price": "money", "menu.price": "number"})
    found = {name: schema.comparator(name).name for name in ("menu.price", "menu.name", "item.price", "x")}
    assert found == {"menu.price": "number", "menu.name": "text", "item.price": "money", "x": "string"}


def test_patterns_are_tried_as_written_and_case_matters():
    assert load_schema({"a*": "text", "*b": "money"}).comparator("ab").name == "text"
    assert load_schema({"*b": "money", "a*": "text"}).comparator("ab").name == "money"
    assert load_schema({"a*": "text"}).comparator("AB").name == "exact"
    assert load_schema({"item[0]": "money"}).comparator("item[0]").name == "money"


@pytest.mark.parametrize("content", [FLAT, LONG], ids=["flat", "long"])
def test_all_ways_to_give_a_schema_are_equal(content, tmp_path):
    expected = load_schema(content)
    json_path = _write(tmp_path, "schema.json", json.dumps(content))
    yaml_path = _write(tmp_path, "schema.yaml", "\ufeff" + json.dumps(content))  # JSON is YAML; with a byte order mark
    for given in (expected, json_path, str(json_path), yaml_path, str(yaml_path)):
        assert load_schema(given) == expected


def test_a_comparator_object_is_accepted_in_a_mapping():
    money = COMPARATORS["money"](tolerance=0.5)
    assert load_schema({"total": money}).comparator("total") is money


def test_schemas_survive_pickling():
    schema = load_schema("business_documents")
    assert pickle.loads(pickle.dumps(schema)) == schema


# ---------------------------------------------------------------------------------------------- signatures


def test_description():
    assert load_schema(None).describe() == load_schema({"a": "exact", "*": {"type": "exact"}}).describe() == "exact"
    assert load_schema("business_documents").describe() == "business_documents"
    assert load_schema(FOLDER / "business_documents.yaml").describe() == "business_documents"
    assert load_schema({"total": "money"}).describe() == "custom-d6a5d7e8"


def test_the_description_changes_with_the_meaning_only():
    described = load_schema({"a": "text", "b": "money"}).describe()
    assert load_schema({"b": {"type": "money", "tolerance": 0.01}, "a": "text"}).describe() == described
    assert load_schema({"fields": {"a": "text", "b": "money"}}).describe() == described
    assert load_schema({"b": {"type": "money", "tolerance": 0.02}, "a": "text"}).describe() != described
    assert load_schema({"a": "text", "b": "money", "*": "string"}).describe() != described
    assert load_schema({"a": "exact", "*": "text"}).describe() != load_schema({"*": "text"}).describe()
    assert (
        load_schema({"a*": "text", "*b": "money"}).describe() != load_schema({"*b": "money", "a*": "text"}).describe()
    )
    assert load_schema({"fields": {}, "rows": [["a", "b"]]}).describe().startswith("custom-")


# ------------------------------------------------------------------------------------- document types, rows


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("invoice", "invoice"),
        ("TAX INVOICE", "invoice"),
        ("Estimate", "invoice"),
        ("receipt", "receipt"),
        ("Bank Statement", "bank_statement"),
        ("bank-statement", "bank_statement"),
        ("statement", "bank_statement"),
        ("letter", None),
        ("", None),
        (None, None),
    ],
)
def test_document_type(name, expected):
    found = load_schema("business_documents").document_type(name)
    assert (found.name if found else None) == expected


def test_business_documents():
    schema = load_schema("business_documents")
    invoice, receipt, statement = map(schema.document_type, ("invoice", "receipt", "bank_statement"))
    assert schema.document_type_field == "DOCUMENT_TYPE"
    assert invoice.fields == receipt.fields and len(invoice.fields) == 14
    assert len(statement.fields) == 5
    assert statement.validation_only == ("TRANSACTION_AMOUNTS_RECEIVED", "ACCOUNT_BALANCE")
    assert schema.aligned_rows(invoice) == schema.aligned_rows(receipt) == (LINE_ITEMS,)
    assert schema.aligned_rows(statement) == (
        ("LINE_ITEM_DESCRIPTIONS", "TRANSACTION_DATES", "TRANSACTION_AMOUNTS_PAID"),
    )
    every_field = {*invoice.fields, *statement.fields, *statement.validation_only}
    assert {name for name, _ in schema.fields} == every_field
    assert schema.comparator("BUSINESS_ABN").matches("ABN 51 824 753 556", "51824753556")
    assert schema.comparator("STATEMENT_DATE_RANGE").matches("01/07/2025 - 31/07/2025", "1 to 31 July 2025")


def test_rows_of_the_schema_stand_in_where_a_type_has_none():
    schema = load_schema(LONG)
    assert schema.aligned_rows() == schema.aligned_rows(schema.document_type("invoice")) == (("a", "b"),)


def test_the_shipped_file_is_what_the_yaml_says():
    text = generate_shipped_schemas()
    assert (FOLDER / "shipped_schemas.py").read_text("utf-8") == text, "run: python -m metrics.vendor"
    assert "#" not in text  # evaluate's hash of a module ignores what follows
    for path in FOLDER.glob("*.yaml"):
        assert load_schema(path) == load_schema(path.stem)
        assert schema_text(path.stem) == path.read_text("utf-8")


# -------------------------------------------------------------------------------------------------- errors

TYPES = {"document_type_field": "T", "fields": {}}
ERRORS = [
    ({"total": "mony"}, ["schema['total']", "'mony'", "did you mean 'money'", "word_overlap"]),
    ({"total": {"tolerance": 1}}, ["schema['total']", "unknown comparator None", "known: exact"]),
    ({"total": 3}, ["schema['total']", "got 3", "money"]),
    ({"total": None}, ["schema['total']", "got None"]),
    ({"total": ["money"]}, ["schema['total']", "a list"]),
    ({"total": {"type": ["money"]}}, ["schema['total']", "unknown comparator"]),
    ({"total": {"type": "money", "tolerence": 1}}, ["'tolerence'", "did you mean 'tolerance'", "relative"]),
    ({"total": {"type": "exact", "a": 1}}, ["option of exact", "known: none"]),
    ({"total": {"type": "money", "tolerance": "1"}}, ["schema['total'].tolerance", "at least 0", "'1'"]),
    ({"total": {"type": "money", "tolerance": -1}}, ["tolerance", "at least 0", "got -1"]),
    ({"total": {"type": "money", "tolerance": True}}, ["tolerance", "got True"]),
    ({"total": {"type": "money", "tolerance": float("nan")}}, ["tolerance", "got nan"]),
    ({"total": {"type": "money", "tolerance": float("inf")}}, ["tolerance", "got inf"]),
    ({"total": {"type": "money", "relative": 1}}, ["relative", "true or false", "got 1"]),
    ({"total": {"type": "money", "decimal": ";"}}, ["decimal", "'auto', '.', ','", "';'"]),
    ({"total": {"type": "text", "threshold": 1.1}}, ["threshold", "at most 1"]),
    ({"total": {"type": "address", "max_distance": 1.5}}, ["max_distance", "whole number", "1.5"]),
    ({"total": {"type": "id", "labels": "ABN"}}, ["labels", "list of names", "'ABN'"]),
    ({"total": {"type": "id", "labels": [1]}}, ["labels[0]", "got 1"]),
    ({1: "money"}, ["key 1", "text"]),
    ({True: "money"}, ["key True"]),
    ({"": "money"}, ["key ''"]),
    ({"total": {"type": "money", 1: 2}}, ["schema['total']", "key 1"]),
    ({"x" * 500: "mony"}, ["..."]),
    ({"total": "x" * 500}, ["..."]),
    (3, ["schema: expected a mapping", "got 3"]),
    (["money"], ["schema: expected a mapping"]),
    (b"money", ["schema: expected a mapping"]),
    ("no_such_file.yaml", ["'no_such_file.yaml'", "business_documents", "No such file"]),
    (Path("/"), ["directory"]),
    ("a\x00b", ["business_documents"]),
    ({"fields": {}, "total": "money"}, ["'total'", "fields, rows, document_type_field, document_types"]),
    ({"rows": "money"}, ["schema.rows", "under fields, {'fields': {'rows': ..}}"]),
    ({"fields": "string"}, ["schema.fields", "{'fields': {'fields': ..}}"]),
    ({"rows": {"a": 1}}, ["schema.rows", "list of lists"]),
    ({"fields": [], "rows": []}, ["schema.fields", "mapping"]),
    ({"fields": {"a": "mony"}}, ["schema.fields['a']", "'mony'"]),
    ({"rows": [["a", 1]]}, ["schema.rows[0][1]", "got 1"]),
    ({"rows": [["a", "a"]]}, ["schema.rows[0][1]", "once"]),
    ({"document_type_field": 3}, ["schema.document_type_field", "got 3"]),
    ({"document_types": {"a": {"fields": ["x"]}}}, ["schema.document_type_field"]),
    ({**TYPES, "document_types": []}, ["schema.document_types", "mapping"]),
    ({**TYPES, "document_types": {"a": ["x"]}}, ["schema.document_types.a", "fields, validation_only"]),
    ({**TYPES, "document_types": {"a": {"fields": "x"}}}, ["schema.document_types.a.fields", "list"]),
    ({**TYPES, "document_types": {"a": {"fields": [], "alias": []}}}, ["'alias'", "did you mean 'aliases'"]),
    ({**TYPES, "document_types": {"a": {"fields": ["x"], "rows": [["y"]]}}}, ["a.rows", "'y'", "known: x"]),
    ({**TYPES, "document_types": {"a": {"fields": ["x"], "validation_only": ["x"]}}}, ["validation_only", "'x'"]),
    (
        {**TYPES, "document_types": {"a b": {"fields": []}, "c": {"fields": [], "aliases": ["A-B"]}}},
        ["document_types.c", "'A-B'", "'a b'"],
    ),
]


@pytest.mark.parametrize(("schema", "expected"), ERRORS, ids=range(len(ERRORS)))
def test_a_wrong_schema_says_what_is_wrong(schema, expected):
    with pytest.raises(ValueError) as caught:
        load_schema(schema)
    message = str(caught.value)
    assert [part for part in expected if part not in message] == [], message
    assert "x" * 81 not in message


FILE_ERRORS = [
    ("s.yaml", "yes: money", ["line 1", "'yes'", "bool", "quotes"]),
    ("s.yaml", "a: text\nno: money", ["line 2", "'no'"]),
    ("s.yaml", "12: money", ["'12'", "int"]),
    ("s.yaml", "null: money", ["'null'"]),
    ("s.yaml", "2025-07-16: date", ["timestamp"]),
    ("s.yaml", "a: money\nb: text\na: date", ["line 3", "'a'", "twice"]),
    ("s.yaml", "fields:\n  a: text\n  a: text", ["line 3", "twice"]),
    ("s.yaml", "[1, 2]: money", ["line 1"]),
    ("s.yaml", "a: &x {type: text}\nb: {<<: *x}", ["'<<'"]),
    ("s.yaml", "a: yes", ["['a']", "got True"]),
    ("s.yaml", "a: {type: money, tolerance: 1 %}", ["tolerance", "'1 %'"]),
    ("s.yaml", "a: [", ["not valid YAML"]),
    ("s.yaml", "a: !!python/object:os.system x", ["not valid YAML"]),
    ("s.yaml", "", ["expected a mapping", "None"]),
    ("s.yaml", "- a\n- b", ["expected a mapping"]),
    ("s.yaml", "[" * 5000, ["not valid YAML"]),
    ("s.yaml", "&a {fields: *a}", ["s.yaml"]),
    ("s.json", '{"a": "text", "a": "money"}', ["'a'", "twice"]),
    ("s.json", '{"a": ', ["not valid JSON"]),
    ("s.json", "[" * 100000, ["not valid JSON"]),
    ("s.json", '{"a": {"type": "money", "tolerance": NaN}}', ["tolerance", "nan"]),
]


@pytest.mark.parametrize(("name", "text", "expected"), FILE_ERRORS, ids=range(len(FILE_ERRORS)))
def test_a_wrong_file_says_what_is_wrong(name, text, expected, tmp_path):
    with pytest.raises(ValueError) as caught:
        load_schema(_write(tmp_path, name, text))
    message = str(caught.value)
    assert [part for part in [name, *expected] if part not in message] == [], message


def test_a_file_that_is_not_text(tmp_path):
    path = tmp_path / "s.yaml"
    path.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(ValueError, match="readable YAML or JSON"):
        load_schema(path)


def test_nested_aliases_do_not_blow_up(tmp_path):
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    with pytest.raises(ValueError, match=r"\['a0'\]"):
        load_schema(_write(tmp_path, "s.yaml", "\n".join(lines)))


def test_schema_is_plain_immutable_data():
    schema = load_schema(LONG)
    assert hash(schema) == hash(load_schema(LONG))
    with pytest.raises(AttributeError):
        schema.fields = ()
    assert Schema() == load_schema(None)
