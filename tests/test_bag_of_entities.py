import pytest
from helpers import read_conformance
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_oinerval import bag_counts

examples = settings(max_examples=100, deadline=None)
texts = st.text("ab é", min_size=1, max_size=5).filter(str.strip)
entities = st.lists(st.tuples(st.sampled_from(["name", "date"]), texts), max_size=6)


def close(expected):
    return pytest.approx(expected, abs=1e-9)


def bags(document):
    tagged = [(category, word) for category, text in document for word in text.split()]
    return {"be": document, "bt": tagged, "b": [word for _, word in tagged]}


def counts_of(row, bag):
    """TP, FP, FN, errors and n of a document, in the terms of the published package."""
    if bag == "b":
        found, predicted, reference = (row[f"b_{name}"] for name in ("true_positives", "predicted", "reference"))
    else:
        found, predicted, reference = (
            sum(category[f"{bag}_{name}"] for category in row["categories"])
            for name in ("true_positives", "predicted", "reference")
        )
    return {
        "tp": found,
        "fp": predicted - found,
        "fn": reference - found,
        "errors": row[f"{bag}_errors"],
        "n": reference,
    }


def test_published_package_gives_the_same_counts_and_scores(bag_of_entities):
    conformance = read_conformance("order_independent.json")
    documents = conformance["documents"]
    predictions, references = ([document[side] for document in documents] for side in ("prediction", "reference"))
    counts = bag_of_entities.count(predictions, references)
    for row, document in zip(counts.to_pylist(), documents, strict=True):
        for bag in ("be", "bt"):
            assert counts_of(row, bag) == document["expected"][bag]
    result = bag_of_entities.score(counts)
    for bag, rate in (("be", "beer"), ("bt", "btwer")):
        expected = conformance["corpus"][bag]
        assert result[rate] == close(expected["error_rate"])
        for name in ("precision", "recall", "f1"):
            assert result[f"{bag}_{name}"] == close(expected[name])


@given(prediction=entities, reference=entities)
@examples
def test_counts_are_those_of_the_definitions(bag_of_entities, prediction, reference):
    (row,) = bag_of_entities.count([prediction], [reference]).to_pylist()
    predicted, expected = bags(prediction), bags(reference)
    for bag in predicted:
        assert counts_of(row, bag) == bag_counts(expected[bag], predicted[bag])


@given(prediction=entities, reference=entities)
@examples
def test_category_is_scored_as_if_it_were_alone(bag_of_entities, prediction, reference):
    result = bag_of_entities.score(bag_of_entities.count([prediction], [reference]), per_type=True)
    assert set(result["per_type"]) == {category for category, _ in prediction + reference}
    for category, scores in result["per_type"].items():
        alone = [[entity for entity in side if entity[0] == category] for side in (prediction, reference)]
        expected = bag_of_entities.score(bag_of_entities.count(*([side] for side in alone)))
        assert scores == expected


def test_error_rate_adds_the_difference_of_the_sizes(bag_of_entities):
    # |X| = 2, |Y| = 1, one thing in common: (|2 - 1| + 1) / (2 * 2) = 1/2. With a minus sign it would be 0.
    result = bag_of_entities.compute(predictions=[[("a", "x")]], references=[[("a", "x"), ("a", "y")]])
    assert result["beer"] == result["btwer"] == result["bwer"] == 0.5


@pytest.mark.parametrize(
    ("prediction", "be", "bt", "b"),
    [
        ([("name", "Jean Dubois"), ("place", "Lyon")], 1, 1, 1),
        ([("place", "Jean Dubois"), ("name", "Lyon")], 0, 0, 1),  # categories
        ([("name", "Jean"), ("name", "Dubois"), ("place", "Lyon")], 2 / 5, 1, 1),  # boundaries: 2 * 1 / (3 + 2)
        ([("name", "Jean Duboi"), ("place", "Lyon")], 1 / 2, 2 / 3, 2 / 3),  # a word
    ],
)
def test_bags_tell_categories_boundaries_and_words_apart(bag_of_entities, prediction, be, bt, b):
    reference = [("name", "Jean Dubois"), ("place", "Lyon")]
    result = bag_of_entities.compute(predictions=[prediction], references=[reference])
    assert [result[f"{bag}_f1"] for bag in ("be", "bt", "b")] == [close(be), close(bt), close(b)]


def test_bags_of_documents_are_not_mixed(bag_of_entities):
    first, second = [("a", "x")], [("a", "y")]
    result = bag_of_entities.compute(predictions=[first, second], references=[second, first])
    assert (result["beer"], result["be_f1"], result["b_f1"]) == (1.0, 0.0, 0.0)


def test_schema_acts_on_entities_and_normalize_on_all_bags(bag_of_entities):
    documents = {"predictions": [{"total": "EUR 7.50"}], "references": [{"total": "eur 7.5"}]}
    cases = [
        ({}, (0, 0)),
        ({"schema": {"total": "money"}}, (1, 0)),
        ({"normalize": "casefold"}, (0, 1 / 2)),
        ({"normalize": "casefold", "schema": {"total": "money"}}, (1, 1 / 2)),
    ]
    for options, expected in cases:
        result = bag_of_entities.compute(**documents, **options)
        assert (result["be_f1"], result["b_f1"]) == expected


def test_fuzzy_values_are_matched_one_to_one(bag_of_entities):
    # 100 is within 1 % of both, 101.5 of 101 only: two pairs can be formed, not three.
    documents = {"predictions": [{"total": ["100", "101.5", "100"]}], "references": [{"total": ["101", "100.5"]}]}
    result = bag_of_entities.compute(**documents, schema={"total": "money"})
    assert (result["be_precision"], result["be_recall"]) == (close(2 / 3), 1.0)


def test_untagged_words_are_in_no_bag(bag_of_entities):
    prediction = {"tokens": ["Jean", "est"], "tags": ["B-name", "O"]}
    reference = {"tokens": ["Jean", "fut"], "tags": ["B-name", "O"]}
    result = bag_of_entities.compute(predictions=[prediction], references=[reference])
    assert result["be_f1"] == result["b_f1"] == 1.0


def test_normalize_is_part_of_the_signature_and_checked(bag_of_entities):
    expected = "bag_of_entities|match:exact|normalize:nfkc+casefold|v1.0"
    assert bag_of_entities.signature(normalize=["casefold", "nfkc"]) == expected
    assert bag_of_entities.signature(normalize="nfc+nfkc+casefold") == expected
    with pytest.raises(ValueError, match="normalize must be .* got 'lower'"):
        bag_of_entities.compute(predictions=[[]], references=[[]], normalize="lower")
