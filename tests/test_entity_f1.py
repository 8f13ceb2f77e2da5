import math

import pytest
from helpers import load
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_fields import naive_scores
from strategies import corpora

STRATEGIES = ("position", "any_order", "rows", "correction")
ROWS = {"fields": {}, "rows": [["description", "price", "quantity"]]}


@pytest.fixture(scope="module")
def entity_f1():
    return load("entity_f1", keep_in_memory=True)


@pytest.fixture(scope="module")
def score(entity_f1):
    def score_one(prediction, reference, **options):
        return entity_f1.compute(predictions=[prediction], references=[reference], **options)

    return score_one


# ------------------------------------------------------------------------------------------ worked numbers


@pytest.mark.parametrize("as_text", [True, False], ids=["one text", "list"])
@pytest.mark.parametrize(
    ("predicted", "position", "any_order", "correction"),
    [
        ("bac", 2 * 1 / 6, 1, 1),  # TP 1, FP 2, FN 2 at their position
        ("ab", 2 * 2 / 5, 2 * 2 / 5, 2 / 3),  # 0.80; one to add
        ("abcd", 2 * 3 / 7, 2 * 3 / 7, 3 / 4),  # 0.857; one to delete
        ("abc", 1, 1, 1),
        ("xyz", 0, 0, 0),
        ("bc", 0, 2 * 2 / 5, 2 / 3),  # a lost first item shifts all others
        ("axc", 2 * 2 / 6, 2 * 2 / 6, 2 / 3),
    ],
)
def test_lists_by_strategy(score, as_text, predicted, position, any_order, correction):
    value = (lambda letters: " | ".join(letters)) if as_text else list
    expected = {"position": position, "any_order": any_order, "rows": any_order, "correction": correction}
    for strategy, accuracy in expected.items():
        result = score({"items": value(predicted)}, {"items": value("abc")}, strategy=strategy)
        assert result["accuracy"] == pytest.approx(accuracy), strategy


REFERENCE = {"description": "a | b | c", "price": "1 | 2 | 3", "quantity": "4 | 5 | 6"}
PERMUTED = {"description": "b | a | c", "price": "2 | 1 | 3", "quantity": "5 | 4 | 6"}


def test_rows_that_are_permuted_together_are_right_in_any_order(score):
    for strategy, accuracy in {"position": 1 / 3, "any_order": 1, "rows": 1}.items():
        result = score(PERMUTED, REFERENCE, strategy=strategy, schema=ROWS)
        assert result["accuracy"] == pytest.approx(accuracy), strategy


def test_one_field_permuted_alone_breaks_its_rows(score):
    # Only row c is the same in every field: 2 * 1 / (3 + 3), for each field of the rows.
    wrong = {**REFERENCE, "quantity": "5 | 4 | 6"}
    result = score(wrong, REFERENCE, strategy="rows", schema=ROWS, per_type=True)
    assert result["accuracy"] == pytest.approx(1 / 3)
    assert all(field["accuracy"] == pytest.approx(1 / 3) for field in result["per_type"].values())
    assert score(wrong, REFERENCE, strategy="any_order", schema=ROWS)["accuracy"] == 1


def test_groups_are_rows(score):
    rows = [{"name": "a", "price": "1"}, {"name": "b", "price": "2"}]
    swapped = [{"name": "a", "price": "2"}, {"name": "b", "price": "1"}]
    assert score({"item": rows[::-1]}, {"item": rows}, strategy="rows")["accuracy"] == 1
    assert score({"item": swapped}, {"item": rows}, strategy="rows")["accuracy"] == 0
    assert score({"item": swapped}, {"item": rows}, strategy="any_order")["accuracy"] == 1


def test_item_of_a_row_that_lacks_another_field_is_judged_with_its_row(score):
    # Rows (a,1) (b,3) (c,-) against (a,1) (b,2) (c,3): one row is right.
    reference = {"description": "a | b | c", "price": "1 | 2 | 3"}
    predicted = {"description": "a | b | c", "price": "1 | 3"}
    result = score(predicted, reference, strategy="rows", schema=ROWS, per_type=True)
    assert result["per_type"]["description"]["accuracy"] == pytest.approx(2 * 1 / 6)
    assert result["per_type"]["price"]["accuracy"] == pytest.approx(2 * 1 / 5)


# ------------------------------------------------------------------------------- absent values and scalars


def test_absent_on_both_sides_is_not_evaluated_and_on_one_scores_0(score):
    predicted = {"a": "1", "b": "NOT_FOUND", "c": "NOT_FOUND", "d": "4"}
    reference = {"a": "1", "b": "NOT_FOUND", "c": "3", "e": None}
    result = score(predicted, reference, per_type=True)
    # a 1; c and d are on one side only; b and e on none
    assert {name: field["accuracy"] for name, field in result["per_type"].items()} == {"a": 1, "c": 0, "d": 0}
    assert result["accuracy"] == pytest.approx(1 / 3)
    assert (result["fields_evaluated"], result["fields_matched"]) == (3, 1)
    # of the reference's fields a and c only a was given a value
    assert result["field_coverage"] == 1 / 2
    assert (result["precision"], result["recall"]) == (1 / 2, 1 / 2)


def test_absent_and_separator_are_options(score):
    assert score({"a": "NOT_FOUND"}, {"a": "NOT_FOUND"})["fields_evaluated"] == 0
    assert score({"a": "NOT_FOUND"}, {"a": "NOT_FOUND"}, absent=None)["fields_evaluated"] == 1
    assert score({"a": "n/a"}, {"a": "n/a"}, absent="n/a")["fields_evaluated"] == 0
    assert score({"a": "1;2"}, {"a": "1;3"}, separator=";")["accuracy"] == 1 / 2
    assert score({"a": "1 | 2"}, {"a": "1 | 3"}, separator=None)["accuracy"] == 0


def test_absent_item_keeps_its_place_and_is_no_item(score):
    result = score({"a": "1 | NOT_FOUND | 3"}, {"a": "1 | 2 | 3"})
    # two items, both at their position: 2 * 2 / (2 + 3)
    assert result["accuracy"] == pytest.approx(4 / 5)
    assert (result["precision"], result["recall"]) == (1, 2 / 3)


def test_scalar_scores_what_its_comparator_gives(score):
    schema = {"name": "text", "address": "word_overlap", "phone": "phone", "total": "money"}
    predicted = {"name": "Test Compnay Pty Ltd", "address": "4 Main St", "phone": "0299991235", "total": "$100.50"}
    reference = {"name": "Test Company Pty Ltd", "address": "4 Main St Sydney", "phone": "0299991234", "total": "100"}
    result = score(predicted, reference, schema=schema, per_type=True)
    found = {name: field["accuracy"] for name, field in result["per_type"].items()}
    assert found == {"name": pytest.approx(0.9), "address": 0.9, "phone": 0.8, "total": 1.0}
    # a field is matched above 0.9; an item where its comparator says so: name and total
    assert result["fields_matched"] == 1
    assert score(predicted, reference, schema=schema, match_threshold=0.85)["fields_matched"] == 3
    assert (result["precision"], result["recall"]) == (1 / 2, 1 / 2)


def test_item_of_a_list_matches_or_not(score):
    result = score({"name": "Compnay | b"}, {"name": "Company | b"}, schema={"name": "text"})
    # distance 2 over 7 is a similarity of 0.71, below 0.75
    assert result["accuracy"] == 1 / 2


def test_field_of_the_schemas_rows_is_a_list_even_with_one_item(score):
    schema = {"fields": {"name": "text"}, "rows": [["name", "price"]]}
    for strategy in STRATEGIES:
        result = score({"name": "abcd"}, {"name": "abcx"}, schema=schema, strategy=strategy)
        assert result["accuracy"] == 1.0  # a match at 0.75, no partial credit
    assert score({"name": "abcd"}, {"name": "abcx"}, schema={"name": "text"})["accuracy"] == 0.75


# --------------------------------------------------------------------------------------- document averages


def test_means_over_documents_and_over_fields(entity_f1):
    predictions = [{"a": "1", "b": "2"}, {"a": "x"}]
    references = [{"a": "1", "b": "y"}, {"a": "1"}]
    result = entity_f1.compute(predictions=predictions, references=references, per_type=True, per_document=True)
    assert result["accuracy"] == (1 / 2 + 0) / 2
    assert result["field_accuracy"] == ((1 + 0) / 2 + 0) / 2  # a in two documents, b in one
    assert result["micro_f1"] == 2 * 1 / 6
    assert result["macro_f1"] == (2 * 1 / 4 + 0) / 2
    assert result["per_type"]["a"] == {
        "accuracy": 1 / 2, "correct": 1, "total": 2, "rating": "fair", "precision": 1 / 2, "recall": 1 / 2, "f1": 1 / 2,
    }  # fmt: skip
    assert [document["accuracy"] for document in result["per_document"]] == [1 / 2, 0]
    assert result["best_documents"][0] == {"document": 0, "accuracy": 1 / 2}
    assert result["worst_documents"][0] == {"document": 1, "accuracy": 0.0}


@pytest.mark.parametrize(
    ("right", "rating", "readiness"),
    [(100, "excellent", "deploy"), (90, "excellent", "deploy"), (89, "good", "pilot"), (80, "good", "pilot"),
     (79, "fair", "optimise"), (70, "fair", "optimise"), (69, "fair", "not ready"), (50, "fair", "not ready"),
     (49, "poor", "not ready"), (0, "poor", "not ready")],
)  # fmt: skip
def test_rating_and_readiness(entity_f1, right, rating, readiness):
    predictions = [{"a": "1" if number < right else "x"} for number in range(100)]
    result = entity_f1.compute(
        predictions=predictions, references=[{"a": "1"}] * 100, per_type=True, confidence_level=0.9, n_resamples=10
    )
    assert (result["per_type"]["a"]["rating"], result["readiness"]) == (rating, readiness)
    assert result["perfect_documents"] == right
    assert "readiness" not in result["intervals"]


def test_nothing_judged_is_not_ready(score):
    assert score({}, {})["readiness"] == "not ready"
    assert score({"a": "NOT_FOUND"}, {"a": ""})["readiness"] == "not ready"


def test_perfect_document_scores_at_least_99_percent(score):
    # One of 100 letters is wrong: 0.99; two: 0.98.
    schema = {"a": "text"}
    assert score({"a": "x" + "a" * 99}, {"a": "a" * 100}, schema=schema)["perfect_documents"] == 1
    assert score({"a": "xx" + "a" * 98}, {"a": "a" * 100}, schema=schema)["perfect_documents"] == 0


# ------------------------------------------------------------------------------------------ document types


def test_only_the_fields_of_the_references_own_document_type_are_evaluated(score):
    reference = {"DOCUMENT_TYPE": "statement", "TRANSACTION_DATES": "1/7/2025 | 2/7/2025", "ACCOUNT_BALANCE": "5",
                 "SUPPLIER_NAME": "x"}  # fmt: skip
    predicted = {"DOCUMENT_TYPE": "INVOICE", "TRANSACTION_DATES": "1 July 2025 | 3 July 2025", "ACCOUNT_BALANCE": "7",
                 "SUPPLIER_NAME": "y", "TOTAL_AMOUNT": "9"}  # fmt: skip
    result = score(predicted, reference, schema="business_documents", per_type=True)
    found = {name: field["accuracy"] for name, field in result["per_type"].items()}
    # neither the validation-only balance nor fields of invoices
    assert found == {"DOCUMENT_TYPE": 0, "TRANSACTION_DATES": 1 / 2}


@pytest.mark.parametrize(
    ("predicted", "reference", "expected"),
    [("invoice", "Tax Invoice", 1), ("TAX-INVOICE", "estimate", 1), ("receipt", "invoice", 0), ("memo", "memo", 1),
     ("memo", "invoice", 0)],
)  # fmt: skip
def test_aliases_name_the_same_document_type(score, predicted, reference, expected):
    result = score({"DOCUMENT_TYPE": predicted}, {"DOCUMENT_TYPE": reference}, schema="business_documents")
    assert result["accuracy"] == expected


def test_document_of_unknown_type_is_evaluated_on_all_but_validation_only_fields(score):
    reference = {"DOCUMENT_TYPE": "memo", "TOTAL_AMOUNT": "3", "ACCOUNT_BALANCE": "5", "NOTE": "x"}
    result = score(reference, reference, schema="business_documents", per_type=True)
    assert sorted(result["per_type"]) == ["DOCUMENT_TYPE", "NOTE", "TOTAL_AMOUNT"]


def test_invoice_has_14_fields_and_a_statement_5(score):
    from metrics.comparators import load_schema

    for kind, number in {"invoice": 14, "receipt": 14, "bank_statement": 5}.items():
        fields = {name: "1" for name, _ in load_schema("business_documents").fields}
        document = {**fields, "DOCUMENT_TYPE": kind}
        assert score(document, document, schema="business_documents")["fields_evaluated"] == number


@pytest.mark.parametrize("as_groups", [False, True])
def test_fields_that_are_not_evaluated_do_not_decide_on_rows(score, as_groups):
    kind = {"fields": ["T", "row.d", "row.p"], "validation_only": ["row.v"]}
    schema = {"fields": {}, "document_type_field": "T", "document_types": {"s": kind}}
    kind["rows"] = [] if as_groups else [["row.d", "row.p", "row.v"]]
    rows = [("x", "1", "8"), ("y", "2", "9")]
    predicted = [("y", "2", "7"), ("x", "1", "7")]
    documents = []
    for table in (predicted, rows):
        names = ("row.d", "row.p", "row.v")
        lists = dict(zip(names, map(list, zip(*table, strict=True)), strict=True))
        groups = {"row": [dict(zip(names, row, strict=True)) for row in table]}
        documents.append({"T": "s", **(groups if as_groups else lists)})
    assert score(*documents, schema=schema, strategy="rows")["accuracy"] == 1


def test_invoices_of_the_shipped_schema_by_row(score):
    reference = {"DOCUMENT_TYPE": "invoice", "LINE_ITEM_DESCRIPTIONS": "Tea | Pie", "LINE_ITEM_PRICES": "$3.00 | $4.50"}
    predicted = {"DOCUMENT_TYPE": "invoice", "LINE_ITEM_DESCRIPTIONS": "pie | tea", "LINE_ITEM_PRICES": "4.5 | 3"}
    options = {"schema": "business_documents"}
    assert score(predicted, reference, strategy="rows", **options)["accuracy"] == 1
    assert score(predicted, reference, **options)["accuracy"] == pytest.approx(1 / 3)


# -------------------------------------------------------------------------------------------- by definition


def naive_accuracy(prediction, reference, strategy, same):
    scores = naive_scores(prediction, reference, strategy, same).values()
    return sum(scores) / len(scores) if scores else 1.0


@given(pairs=corpora(max_size=2))
@settings(max_examples=150, deadline=None)
def test_scores_are_those_of_the_definition(entity_f1, pairs):
    for strategy in STRATEGIES:
        result = entity_f1.score(entity_f1.count(*zip(*pairs, strict=True), strategy=strategy))
        expected = [naive_accuracy(p, r, strategy, lambda a, b: a == b) for p, r in pairs]
        assert math.isclose(result["accuracy"], sum(expected) / len(expected)), strategy


@given(pairs=corpora(max_size=2, values=["10", "11", "12", "13", "100"]))
@settings(max_examples=150, deadline=None)
def test_scores_under_a_tolerance_are_those_of_the_definition(entity_f1, pairs):
    """10 matches 11 and 11 matches 12, but 10 does not match 12: no equivalence."""
    schema = {"*": {"type": "money", "tolerance": 1, "relative": False}}
    for strategy in STRATEGIES:
        counts = entity_f1.count(*zip(*pairs, strict=True), strategy=strategy, schema=schema)
        expected = [naive_accuracy(p, r, strategy, lambda a, b: abs(int(a) - int(b)) <= 1) for p, r in pairs]
        assert math.isclose(entity_f1.score(counts)["accuracy"], sum(expected) / len(expected)), strategy


@given(pairs=corpora(values=["a", "A", "b", "c"]), strategy=st.sampled_from(["position", "any_order", "correction"]))
@settings(max_examples=50, deadline=None)
def test_text_with_separators_scores_as_its_items(entity_f1, pairs, strategy):
    options = {"strategy": strategy, "schema": {"*": "string"}}
    lists = [[_lists(document) for document in side] for side in zip(*pairs, strict=True)]
    texts = [[{name: " | ".join(items) for name, items in document.items()} for document in side] for side in lists]
    assert entity_f1.count(*texts, **options) == entity_f1.count(*lists, **options)


def _lists(document):
    items = {}
    for group in document:
        for entity in group["entities"]:
            items.setdefault(entity["type"], []).append(entity["value"])
    return items


@given(pairs=corpora(values=["abcd", "abcx", "abxx", "b"]))
@settings(max_examples=100, deadline=None)
def test_position_and_rows_never_exceed_any_order(entity_f1, pairs):
    scores = {
        strategy: entity_f1.score(
            entity_f1.count(*zip(*pairs, strict=True), strategy=strategy, schema={"*": "text"}), per_type=True
        )
        for strategy in STRATEGIES
    }
    for field, best in scores["any_order"]["per_type"].items():
        for strategy in ("position", "rows"):
            assert scores[strategy]["per_type"][field]["accuracy"] <= best["accuracy"] + 1e-12
    assert scores["correction"]["accuracy"] <= scores["any_order"]["accuracy"] + 1e-12


@st.composite
def tables(draw):
    """Two tables whose rows have every field, as lists."""
    values = st.sampled_from("ab")
    sides = []
    for _ in range(2):
        rows = draw(st.lists(st.tuples(values, values, values), min_size=1, max_size=4))
        sides.append(dict(zip(("description", "price", "quantity"), map(list, zip(*rows, strict=True)), strict=True)))
    return sides


@given(tables())
@settings(max_examples=100, deadline=None)
def test_aligned_lists_score_as_the_same_rows_in_groups(entity_f1, sides):
    grouped = [
        [{"type": "line", "entities": [{"type": name, "value": value} for name, value in zip(side, row, strict=True)]}
         for row in zip(*side.values(), strict=True)]
        for side in sides
    ]  # fmt: skip
    as_lists = entity_f1.score(entity_f1.count([sides[0]], [sides[1]], strategy="rows", schema=ROWS))
    as_groups = entity_f1.score(entity_f1.count([grouped[0]], [grouped[1]], strategy="rows"))
    assert as_lists == as_groups
    any_order = entity_f1.score(entity_f1.count([sides[0]], [sides[1]], strategy="any_order", schema=ROWS))
    assert as_lists["accuracy"] <= any_order["accuracy"] + 1e-12


# -------------------------------------------------------------------------------- explanations and options


def test_explanation_by_position_shows_items_in_their_place(entity_f1):
    (field,) = entity_f1.explain({"a": "x | 2"}, {"a": "1 | 2 | 3"})
    assert [(row["operation"], row["prediction"], row["reference"]) for row in field["entities"]] == [
        ("substitute", "x", "1"), ("match", "2", "2"), ("add", None, "3")]  # fmt: skip
    assert field["score"] == pytest.approx(2 * 1 / 5)


def test_explanation_marks_what_is_not_evaluated_and_shows_values_as_written(entity_f1):
    reference = {"DOCUMENT_TYPE": "tax invoice", "ACCOUNT_BALANCE": "5"}
    explained = entity_f1.explain({"DOCUMENT_TYPE": "Invoice"}, reference, schema="business_documents")
    assert [(field["type"], field["score"]) for field in explained] == [
        ("DOCUMENT_TYPE", 1.0),
        ("ACCOUNT_BALANCE", None),
    ]
    assert explained[0]["entities"][0]["reference"] == "tax invoice"


@pytest.mark.parametrize(
    ("name", "value"),
    [("strategy", "best"), ("strategy", ["rows"]), ("separator", ""), ("separator", 3), ("absent", " "),
     ("match_threshold", 2), ("match_threshold", "high")],
)  # fmt: skip
def test_bad_options_name_themselves(score, name, value):
    with pytest.raises(ValueError, match=name):
        score({}, {}, **{name: value})


def test_signature_shows_every_choice(entity_f1):
    assert entity_f1.signature() == "entity_f1|match:exact|strategy:position|v1.0"
    changed = [
        {"strategy": "rows"},
        {"separator": ";"},
        {"separator": None},
        {"absent": None},
        {"match_threshold": 0.8},
    ]
    assert len({entity_f1.signature(**options) for options in [{}, *changed]}) == 6
