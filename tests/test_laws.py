"""Laws that hold for every metric, whatever it counts."""

import json
import math
import random

import pyarrow as pa
import pytest
from helpers import MODULES, load
from hypothesis import given, settings
from strategies import corpora, documents

LOADED = {name: load(name, keep_in_memory=True) for name in MODULES}
every_metric = pytest.mark.parametrize("metric", LOADED.values(), ids=LOADED)
examples = settings(max_examples=40, deadline=None)
NESTED = ("per_type", "per_group_type", "per_document", "intervals", "best_documents", "worst_documents")
# Of several predictions of an unrepeated name one is kept, of several references any may match: not symmetric.
SYMMETRIC = {"vrdu_f1": {"repeated": ["total", "date"]}}


def split(pairs):
    return [list(side) for side in zip(*pairs, strict=True)]


def is_error_rate(name):
    return name.endswith("er")


@every_metric
@given(document=documents())
@examples
def test_identical_input_is_perfect(metric, document):
    for name, score in metric.score(metric.count([document], [document])).items():
        if isinstance(score, float):
            assert score == (0.0 if is_error_rate(name) else 1.0), name


@every_metric
@given(pairs=corpora(min_size=2))
@examples
def test_order_of_documents_never_matters(metric, pairs):
    options = {"per_type": True, "confidence_level": 0.9, "n_resamples": 20}
    expected = metric.score(metric.count(*split(pairs)), **options)
    again = random.Random(0).sample(pairs, len(pairs))
    assert metric.score(metric.count(*split(again)), **options) == expected


@every_metric
@given(pairs=corpora())
@examples
def test_swapping_sides_swaps_precision_and_recall(metric, pairs):
    predictions, references = split(pairs)
    options = SYMMETRIC.get(metric.name, {})
    scores = metric.score(metric.count(predictions, references, **options))
    swapped = metric.score(metric.count(references, predictions, **options))
    exchange = {"precision": "recall", "recall": "precision", "false_positives": "false_negatives",
                "false_negatives": "false_positives", "additions": "deletions", "deletions": "additions"}  # fmt: skip
    for name, score in scores.items():
        # Error rates are divided by the references' length, so they have no such law. OINerval has it only because no
        # two of these values are within its threshold, which is a rate of the reference's length too.
        if is_error_rate(name) or name.startswith(("reference_", "predicted_", "field", "accuracy")):
            continue
        if isinstance(score, str):  # a judgement of a score, here of one that is symmetric
            assert swapped[name] == score
            continue
        for old, new in exchange.items():
            if name.endswith(old):
                name = name.removesuffix(old) + new
                break
        assert math.isclose(swapped[name], score), name


@every_metric
@given(pairs=corpora(min_size=2))
@examples
def test_counts_are_the_sum_over_types(metric, pairs):
    result = metric.score(metric.count(*split(pairs)), per_type=True)
    for name in ("true_positives", "false_positives", "false_negatives"):
        if name in result:
            assert result[name] == sum(scores[name] for scores in result["per_type"].values())


@every_metric
@given(pairs=corpora(min_size=2))
@examples
def test_counting_in_two_halves_and_merging_is_counting_at_once(metric, pairs):
    halves = pa.concat_tables([metric.count(*split(pairs[:1])), metric.count(*split(pairs[1:]))])
    at_once = metric.count(*split(pairs))
    assert halves.to_pylist() == at_once.to_pylist()
    assert metric.score(halves, per_document=True) == metric.score(at_once, per_document=True)


@every_metric
@given(pairs=corpora())
@examples
def test_compute_is_count_and_score(metric, pairs):
    predictions, references = split(pairs)
    options = {"per_type": True, "per_document": True}
    expected = metric.score(metric.count(predictions, references), **options)
    assert metric.compute(predictions=predictions, references=references, **options) == expected
    for prediction, reference in pairs[:1]:
        metric.add(prediction=prediction, reference=reference)
    metric.add_batch(predictions=predictions[1:], references=references[1:])
    assert metric.compute(**options) == expected


@every_metric
@given(pairs=corpora())
@examples
def test_every_input_form_scores_the_same(metric, pairs):
    predictions, references = split(pairs)
    texts = [json.dumps(document) for document in predictions]
    assert metric.score(metric.count(texts, references)) == metric.score(metric.count(predictions, references))


@every_metric
@given(pairs=corpora(min_size=2, max_size=3))
@examples
def test_results_are_plain_numbers_within_their_range(metric, pairs):
    options = {"per_type": True, "per_document": True, "confidence_level": 0.9, "n_resamples": 20}
    result = metric.score(metric.count(*split(pairs)), **options)
    json.dumps(result, allow_nan=False)
    for name, score in result.items():
        if type(score) is float:
            assert 0 <= score <= (math.inf if is_error_rate(name) else 1)
            low, high = result["intervals"][name]
            assert low <= high
        elif name not in NESTED:
            assert type(score) in (int, str), name


@every_metric
def test_nothing_to_find_and_nothing_found_is_perfect(metric):
    for documents_given in ([], [{}], [[]], [[{"type": "menu", "entities": []}]]):
        result = metric.compute(predictions=documents_given, references=documents_given)
        assert result["documents"] == len(documents_given)
        for name, score in result.items():
            if type(score) is float:
                assert score == (0.0 if is_error_rate(name) else 1.0), name


@every_metric
def test_signature_names_what_changes_the_score(metric):
    assert metric.signature() == metric.signature(per_type=True, seed=3)
    assert metric.signature(schema={"*": "string"}) != metric.signature()
    assert metric.signature().startswith(metric.name + "|")


@every_metric
def test_unknown_options_are_named_with_the_known_ones(metric):
    for method in (metric.count, metric.compute):
        with pytest.raises(ValueError, match="no option 'shema'; it has schema, per_type"):
            method(predictions=[{}], references=[{}], shema="exact")


@every_metric
@pytest.mark.parametrize(
    ("option", "value"),
    [("per_type", "yes"), ("confidence_level", 95), ("confidence_level", "high"), ("n_resamples", 0), ("seed", -1),
     ("on_invalid", "skip"), ("schema", {"total": "mony"}), ("schema", 3)],
)  # fmt: skip
def test_wrong_options_are_refused_before_anything_is_written(metric, option, value):
    with pytest.raises(ValueError, match=option if option != "schema" else "mony|schema"):
        metric.compute(predictions=[{}], references=[{}], **{option: value})
    assert len(metric) == 0


@every_metric
@given(pairs=corpora(max_size=1))
@examples
def test_explanation_is_plain_data_with_every_entity(metric, pairs):
    ((prediction, reference),) = pairs
    explained = metric.explain(prediction, reference)
    json.dumps(explained, allow_nan=False)
    rows = [entity for group in explained for entity in group["entities"]]
    assert {row["operation"] for row in rows} <= {"match", "substitute", "add", "delete"}
    for side, document in (("prediction", prediction), ("reference", reference)):
        shown = sorted((row["type"], row[side]) for row in rows if row[side] is not None)
        assert shown == sorted((e["type"], e["value"]) for group in document for e in group["entities"])


@every_metric
def test_intervals_hold_the_score_and_depend_on_the_seed_only(metric):
    generator = random.Random(0)
    references = [{"total": str(number), "date": "a"} for number in range(60)]
    predictions = [{"total": str(number + (generator.random() < 0.3)), "date": "a"} for number in range(60)]
    counts = metric.count(predictions, references)
    result = metric.score(counts, confidence_level=0.95)
    for name, (low, high) in result["intervals"].items():
        assert low <= result[name] <= high, name
    assert metric.score(counts, confidence_level=0.95) == result
    # Two seeds can agree by chance where a score takes few values.
    assert any(metric.score(counts, confidence_level=0.95, seed=seed) != result for seed in range(1, 10))
