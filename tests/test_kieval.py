import math
import random

import numpy as np
import pyarrow as pa
import pytest
from helpers import read_conformance
from hypothesis import given, settings
from naive_kieval import naive_counts
from strategies import corpora

from metrics.counts import family

ROWS = [
    ("CHOCO PUFF", "29,091"),
    ("BLACK PEPPER", "27,273"),
    ("LIPTON PITCHER", "54,545"),
    ("MINERAL", "10,000"),
    ("FRIES", "21,818"),
    ("RICE", "8,182"),
]


def menu(*rows):
    return {"menu": [dict(zip(("name", "price"), row, strict=False)) for row in rows]}


def test_figure_2_missing_price_and_split_row(kieval):
    predicted = menu(ROWS[0], ("BLACK PEPPER",), ("LIPTON PITCHER",), *ROWS[3:])
    predicted["menu"].insert(3, {"price": "54,545"})
    result = kieval.compute(predictions=[predicted], references=[menu(*ROWS)], per_type=True)
    assert result["flat_entity_f1"] == pytest.approx(2 * 11 / (11 + 12))
    # 4 rows right, two half right: TP = 10; two values to add, one to delete
    assert (result["true_positives"], result["additions"], result["deletions"]) == (10, 2, 1)
    assert result["aligned"] == pytest.approx(10 / 13)
    assert result["group_aligned"] == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    ("predicted", "reference", "flat_f1"),
    [
        ({"a": "1"}, {"a": "1", "b": "2"}, 2 / 3),
        ({"a": "1", "b": "3"}, {"a": "1", "b": "2"}, 1 / 2),
        ({"a": "1", "b": "3"}, {"a": "1"}, 2 / 3),
    ],
)
def test_figure_3_missing_wrong_and_surplus_cost_the_same(kieval, predicted, reference, flat_f1):
    result = kieval.compute(predictions=[{"row": [predicted]}], references=[{"row": [reference]}])
    assert result["flat_entity_f1"] == pytest.approx(flat_f1)
    assert result["aligned"] == pytest.approx(1 / 2)
    assert result["corrections"] == 1


def test_figure_5_scrambled_rows(kieval):
    def table(*rows):
        return {"row": [dict(zip("xyz", row, strict=True)) for row in rows]}

    result = kieval.compute(
        predictions=[table(("a1", "b2", "c3"), ("a2", "b3", "c1"), ("a3", "b1", "c2"))],
        references=[table(("a1", "b1", "c1"), ("a2", "b2", "c2"), ("a3", "b3", "c3"))],
    )
    assert result["flat_entity_f1"] == 1
    assert result["entity_f1"] == pytest.approx(1 / 3)
    assert result["group_f1"] == 0


@pytest.mark.parametrize(
    ("matches", "substitutions", "additions", "deletions", "wrong", "f1", "aligned"),
    [(1288, 93, 7, 38, 231, 0.9177, 0.9032)],  # SROIE, LayoutXLM
)
def test_tables_1_and_3_agree(kieval, matches, substitutions, additions, deletions, wrong, f1, aligned):
    counts = {
        "predicted": matches + substitutions + deletions,
        "reference": matches + substitutions + additions,
        "true_positives": matches,
        "substitutions": substitutions,
        "additions": additions,
        "deletions": deletions,
        "flat_true_positives": matches,
        "documents": 1,
        "right_documents": 0,
    }
    one, no = np.zeros(1, int), np.zeros(0, int)
    table = pa.table(
        {
            "invalid_predictions": one,
            "right_documents": one,
            "entities": family(1, one, one, ["total"], {name: np.array([count]) for name, count in counts.items()}),
            "groups": family(1, no, no, [], dict.fromkeys(["predicted", "reference", "paired", "right"], no)),
        }
    )
    result = kieval.score(table)
    assert result["false_positives"] + result["false_negatives"] == wrong
    assert round(result["entity_f1"], 4) == f1
    assert round(result["aligned"], 4) == aligned


def test_official_scores_of_cord_receipts(kieval):
    data = read_conformance("cord_receipts.json")
    predictions, references = zip(*((d["prediction"], d["reference"]) for d in data["documents"]), strict=True)
    expected = data["expected"]
    result = kieval.compute(predictions=predictions, references=references, per_type=True)
    for name in ("entity_f1", "entity_precision", "entity_recall", "aligned", "flat_entity_f1", "group_precision",
                 "group_recall", "group_f1", "true_positives", "substitutions"):  # fmt: skip
        assert result[name] == pytest.approx(expected[name], abs=1e-12), name
    assert result["additions"] + result["deletions"] == expected["additions_plus_deletions"]
    assert result["true_positives"] + result["false_negatives"] == expected["reference_entities"]
    for entity_type, scores in expected["per_type"].items():
        ours = result["per_type"][entity_type]
        assert ours["entity_f1"] == pytest.approx(scores["f1"], abs=1e-12)
        assert ours["entity_precision"] == pytest.approx(scores["precision"], abs=1e-12)
        assert ours["true_positives"] + ours["false_negatives"] == scores["label"]
    official = kieval.compute(predictions=predictions, references=references, keep_empty_groups=True)
    for name, value in expected["group_official_with_empty_groups"].items():
        assert official[name] == pytest.approx(value, abs=1e-12)
    assert official["document_accuracy"] * 50 == pytest.approx(expected["exact_documents"])


def check_against_definition(result, pairs, same=lambda p, r: p == r):
    counts = sum((naive_counts(*pair, same) for pair in pairs), start=naive_counts([], []))
    for name in ("true_positives", "substitutions", "additions", "deletions", "corrections"):
        assert result[name] == counts[name], name
    entities = counts["predicted"] + counts["reference"]
    groups = counts["groups_predicted"] + counts["groups_reference"]
    assert math.isclose(result["flat_entity_f1"], 2 * counts["flat_true_positives"] / entities if entities else 1)
    assert math.isclose(result["group_f1"], 2 * counts["groups_right"] / groups if groups else 1)
    judged = groups - counts["groups_paired"]
    assert math.isclose(result["group_aligned"], counts["groups_right"] / judged if judged else 1)


@given(corpora())
@settings(max_examples=300, deadline=None)
def test_counts_are_those_of_the_definition(kieval, pairs):
    predictions, references = map(list, zip(*pairs, strict=True))
    check_against_definition(kieval.score(kieval.count(predictions, references)), pairs)


@given(corpora(values=["10", "11", "12", "13", "100"]))
@settings(max_examples=200, deadline=None)
def test_counts_under_a_tolerance_are_those_of_the_definition(kieval, pairs):
    """10 matches 11 and 11 matches 12, but 10 does not match 12: no equivalence."""
    tolerance = {"type": "money", "tolerance": 1, "relative": False}
    predictions, references = map(list, zip(*pairs, strict=True))
    result = kieval.score(kieval.count(predictions, references, schema={"*": tolerance}))
    check_against_definition(result, pairs, lambda p, r: abs(int(p[1]) - int(r[1])) <= 1)


@given(corpora(values=["a", "A", "b", " b "]))
@settings(max_examples=100, deadline=None)
def test_counts_under_keys_are_those_of_the_definition(kieval, pairs):
    predictions, references = map(list, zip(*pairs, strict=True))
    result = kieval.score(kieval.count(predictions, references, schema={"*": "string"}))
    check_against_definition(result, pairs, lambda p, r: p[1].strip().lower() == r[1].strip().lower())


def shuffled(document, generator):
    document = [
        {**group, "entities": generator.sample(group["entities"], len(group["entities"]))} for group in document
    ]
    return generator.sample(document, len(document))


@given(corpora(with_confidence=True))
@settings(max_examples=200, deadline=None)
def test_no_result_depends_on_the_order_of_groups_or_entities(kieval, pairs):
    options = {"per_type": True, "thresholds": "auto", "confidence_level": 0.9, "n_resamples": 20}
    generator = random.Random(0)
    predictions, references = map(list, zip(*pairs, strict=True))
    other = [[shuffled(document, generator) for document in side] for side in (predictions, references)]
    expected = kieval.score(kieval.count(predictions, references, thresholds="auto"), **options)
    assert kieval.score(kieval.count(*other, thresholds="auto"), **options) == expected


def entity(value, confidence, entity_type="total"):
    return {"type": entity_type, "value": value, "confidence": confidence}


def ungrouped(*entities):
    return [{"type": "", "entities": list(entities)}]


def test_curve_trades_quality_for_automation(kieval):
    # One match, one wrong value, one too many, one missing: aligned = 1 / 4
    predicted = ungrouped(entity("3", 0.9), entity("x", 0.4, "date"), entity("y", 0.6, "tip"))
    reference = {"total": "3", "date": "1", "tax": "2"}
    result = kieval.compute(predictions=[predicted], references=[reference], thresholds=[0, 0.5, 0.7, 1])
    assert result["aligned"] == 1 / 4
    assert result["curve"] == [
        {"threshold": 0.0, "automation_rate": 1.0, "aligned": 1 / 4, "reviewed": 0, "corrections_left": 3},
        # the substitution is reviewed: 1 - (0 + 1 + 1) / (3 + 1)
        {"threshold": 0.5, "automation_rate": 2 / 3, "aligned": 1 / 2, "reviewed": 1, "corrections_left": 2},
        # the deletion too, and it is no prediction any more: 1 - (0 + 0 + 1) / (2 + 1)
        {"threshold": 0.7, "automation_rate": 1 / 3, "aligned": 2 / 3, "reviewed": 2, "corrections_left": 1},
        {"threshold": 1.0, "automation_rate": 0.0, "aligned": 2 / 3, "reviewed": 3, "corrections_left": 1},
    ]


@given(corpora(with_confidence=True))
@settings(max_examples=100, deadline=None)
def test_curve_begins_at_aligned_and_review_never_harms(kieval, pairs):
    predictions, references = map(list, zip(*pairs, strict=True))
    result = kieval.score(kieval.count(predictions, references, thresholds="auto"), thresholds="auto")
    points = result["curve"]
    assert points[0]["threshold"] == 0
    assert math.isclose(points[0]["aligned"], result["aligned"])
    assert points[0]["corrections_left"] == result["corrections"]
    assert sorted(p["corrections_left"] for p in points) == [p["corrections_left"] for p in reversed(points)]


def test_wrong_prediction_nearest_to_the_missing_value_is_the_substitution(kieval):
    predicted = ungrouped(entity("Green Tea", 0.9), entity("Lattee", 0.3), entity("zzz", 0.1))
    result = kieval.compute(predictions=[predicted], references=[{"total": "Latte"}], thresholds=[0.2, 0.5])
    # zzz is deleted by review at 0.2, which takes it from the predictions: (1 + 1) / 2; Lattee is replaced at 0.5
    assert [point["aligned"] for point in result["curve"]] == [1 - 2 / 2, 1 - 1 / 2]


def test_target_that_is_just_reached_is_reached(kieval):
    predicted = [{"type": f"a{i}", "value": "1" if i >= 7 else "x", "confidence": 0.5} for i in range(100)]
    result = kieval.compute(
        predictions=[predicted], references=[{f"a{i}": "1" for i in range(100)}], target_aligned=0.93
    )
    assert result["aligned"] == result["curve"][0]["aligned"] == result["operating_point"]["aligned"] == 0.93


def test_operating_point_is_the_most_automation_that_reaches_the_target(kieval):
    predicted = ungrouped(entity("1", 0.9, "a"), entity("x", 0.4, "b"), entity("3", 0.8, "c"))
    documents = {"predictions": [predicted], "references": [{"a": "1", "b": "2", "c": "3"}]}
    result = kieval.compute(**documents, target_aligned=0.98)
    assert result["operating_point"]["threshold"] == 0.8
    assert result["operating_point"]["automation_rate"] == pytest.approx(2 / 3)
    documents["references"] = [{"a": "1", "b": "2", "c": "3", "d": "4"}]
    assert kieval.compute(**documents, target_aligned=0.98)["operating_point"] is None


def test_missing_confidence_is_an_error_only_with_thresholds_and_loses_nothing(kieval):
    kieval.add(prediction=ungrouped(entity("3", 0.5)), reference={"total": "3"})
    kieval.add(prediction={"total": "3"}, reference={"total": "3"})
    with pytest.raises(ValueError, match=r"predictions\[1\]: 'total' '3' has no confidence, which thresholds needs"):
        kieval.compute(thresholds="auto")
    assert kieval.compute()["documents"] == 2
    with pytest.raises(ValueError, match="confidence"):
        kieval.compute(predictions=[{"total": "3"}], references=[{"total": "3"}], thresholds="auto")
    with pytest.raises(ValueError, match="nothing to score"):
        kieval.compute()


def test_curve_of_many_confidences_stays_short(kieval):
    values = np.random.default_rng(0).random(5000)
    predicted = [ungrouped(*(entity(str(i), float(c)) for i, c in enumerate(values)))]
    result = kieval.compute(
        predictions=predicted, references=[{"total": [str(i) for i in range(5000)]}], thresholds="auto"
    )
    assert len(result["curve"]) <= 1001
    assert result["curve"][-1]["automation_rate"] < 0.001


@pytest.mark.parametrize(
    ("name", "value"),
    [("thresholds", []), ("thresholds", "all"), ("thresholds", [-0.1]), ("thresholds", 0.5), ("thresholds", [math.nan]),
     ("target_aligned", 2), ("keep_empty_groups", 1)],
)  # fmt: skip
def test_bad_options_name_themselves(kieval, name, value):
    with pytest.raises(ValueError, match=name):
        kieval.compute(predictions=[{}], references=[{}], **{name: value})


def test_macro_is_the_mean_over_entity_types(kieval):
    result = kieval.compute(
        predictions=[{"a": "1", "b": ["1", "x"], "c": "2"}], references=[{"a": "1", "b": ["1", "2"]}]
    )
    # a: 1, b: 2 * 1 / 4, c: 0 / 1
    assert result["macro_entity_f1"] == pytest.approx((1 + 0.5 + 0) / 3)


def test_long_table_needs_no_matrix_of_all_row_pairs(kieval):
    """2,000 shuffled rows with errors: what stays after the identical rows are paired is a small problem."""
    generator = random.Random(0)
    rows = [{"name": f"item {i}", "price": str(generator.randrange(10**6))} for i in range(2000)]
    wrong = [{key: value + "?" * (generator.random() < 0.1) for key, value in row.items()} for row in rows]
    generator.shuffle(wrong)
    result = kieval.compute(predictions=[{"row": wrong}], references=[{"row": rows}])
    changed = sum(value.endswith("?") for row in wrong for value in row.values())
    # Every row keeps its partner unless both values are wrong; then any such partner costs the same.
    assert result["corrections"] == changed
    assert result["group_f1"] == pytest.approx(sum("?" not in "".join(row.values()) for row in wrong) / 2000)
