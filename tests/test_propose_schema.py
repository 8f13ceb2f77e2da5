import pytest
from helpers import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import documents

from metrics.__main__ import main
from metrics.comparators import load_schema, parse_schema_text
from metrics.propose_schema import guess_comparator, propose_schema


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("date", ["16/07/2025", "1er mars 1871", "2025-07-16"], "date"),
        ("period", ["01/07/2025 - 31/07/2025"], "date"),
        ("total", ["$3.00", "4.50", "1.234,56"], "money"),
        ("fee", ["€ 3", "€ 4"], "money"),
        ("ratio", ["0.125", "3.5"], "number"),
        ("count", ["2", "3x", "1,000"], "quantity"),
        ("paid", ["yes", "No"], "boolean"),
        ("flag", ["0", "1"], "quantity"),  # digits alone may be counts
        ("BUSINESS_ABN", ["51 824 753 556", "83914571673"], "id"),
        ("invoiceNumber", ["20250716", "20250717"], "id"),
        ("ticket", ["INV-7", "A12"], "id"),
        ("phone", ["(02) 9999 1234", "+61 2 9999 1234"], "phone"),
        ("home_address", ["4 Main St, Bath"], "word_overlap"),
        ("supplier", ["Acme Pty Ltd", "Bolt"], "text"),
        ("colour", ["red", "green"], "string"),
        ("DOCUMENT_TYPE", ["tax invoice", "receipt"], "string"),
        ("empty", [], "string"),
        ("total", [*(f"{number}.00" for number in range(9)), "free"], "money"),  # nine of ten
    ],
)  # fmt: skip
def test_types_are_guessed_from_values(name, values, expected):
    assert guess_comparator(name, values) == expected


MIXED = [
    # kind, values of it, one that is not, what is guessed where there are too many of those
    ("boolean", ["yes", "no", "true", "false", "y", "n", "checked", "unchecked", "Yes"], "later", "string"),
    ("date", [f"{day}/07/2025" for day in range(11, 20)], "soon", "string"),
    ("money", [f"${number}.50" for number in range(9)], "free", "string"),
    ("money", [f"{number},000 EUR" for number in range(1, 10)], "free of charge", "text"),
    ("quantity", [f"{number}x" for number in range(1, 10)], "some", "string"),
    ("number", [f"0.{number}25" for number in range(9)], "half", "string"),
    ("id", [f"INV-{number}" for number in range(9)], "none", "string"),
]


@pytest.mark.parametrize(("kind", "values", "other", "otherwise"), MIXED)
def test_nine_of_ten_values_decide_and_eight_of_nine_do_not(kind, values, other, otherwise):
    assert guess_comparator("x", values) == kind
    assert guess_comparator("x", [*values, other]) == kind
    assert guess_comparator("x", [*values[1:], other]) == otherwise


def test_numbers_among_texts_are_no_numbers():
    half = ["12", "7", "Acme Ltd", "Bolt"]
    assert guess_comparator("x", half) == "text"
    documents = [nested(("", [("x", value)])) for value in half]
    assert load_schema(parse_schema_text(propose_schema(documents))).comparator("x").name == "text"


def nested(*groups):
    return [
        {"type": group_type, "entities": [{"type": name, "value": value} for name, value in entities]}
        for group_type, entities in groups
    ]


def test_rows_come_from_repeated_groups_and_from_lists_of_equal_length():
    line = ("line", [("line.item", "tea"), ("line.price", "3.00")])
    once = ("tax", [("tax.rate", "10"), ("tax.amount", "1.00")])
    lists = ("", [("a", "1 | 2"), ("b", "3 | NOT_FOUND"), ("c", "4 | 5 | 6"), ("d", "7")])
    schema = load_schema(parse_schema_text(propose_schema([nested(line, line, once, lists), nested(line)])))
    assert schema.rows == (("line.item", "line.price"), ("a", "b"))
    assert schema.comparator("line.price").name == "money"


@given(st.lists(documents(values=["a", "16/07/2025", "$3.00", "yes: no", "- x", "1 | 2"]), max_size=4))
@settings(max_examples=60, deadline=None)
def test_every_proposal_is_a_schema(found):
    text = propose_schema(found)
    schema = load_schema(parse_schema_text(text))
    names = {entity["type"] for document in found for group in document for entity in group["entities"]}
    assert {name for name, _ in schema.fields} == names


@pytest.mark.parametrize("name", ["yes", "1", "a: b", "#", "*", "- x", "null", "é", "a[0]"])
def test_names_that_yaml_could_misread_survive(name):
    text = propose_schema([nested(("", [(name, "16/07/2025")]))])
    assert load_schema(parse_schema_text(text)).fields[0][0] == name


def test_command_line_prints_a_file_that_can_be_used(capsys, tmp_path):
    for source in ("business_documents", str(ROOT / "examples" / "receipts" / "references.jsonl")):
        assert main(["schema", source]) == 0
        path = tmp_path / "schema.yaml"
        path.write_text(capsys.readouterr().out, "utf-8")
        load_schema(path)
    assert load_schema(path).comparator("menu.price").name == "money"
    assert ("menu.name", "menu.count", "menu.unit_price", "menu.price") in load_schema(path).rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["none.jsonl"], "none.jsonl: there is no such file or folder, and no such shipped schema (business_documents)"),
     (["business_documents", "--fast"], "schema takes no options")],
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, message):
    assert main(["schema", *arguments]) == 2
    assert message in capsys.readouterr().err
