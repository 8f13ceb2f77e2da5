import doctest
import math
import random

import pyarrow as pa
import pytest
from helpers import read_conformance
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_oinerval import character_rate, edit_distance, least_cost, most_pairs, nerval_matches, word_rate

import oinerval.blocks
import oinerval.errors
import oinerval.sequences
import oinerval.spelling
import oinerval.texts
from metrics.columns import encode
from metrics.comparators import load_schema
from metrics.documents import to_arrow

THRESHOLDS = [0.0, 0.1, 0.3, 0.5, 1.0]
examples = settings(max_examples=150, deadline=None)
texts = st.text("aabé ", min_size=1, max_size=6).filter(str.strip)
entities = st.lists(st.tuples(st.sampled_from(["name", "date"]), texts), max_size=5)
tagged_words = st.lists(
    st.tuples(st.text("ab", min_size=1, max_size=3), st.sampled_from(["O", "B-name", "I-name", "B-date"])), max_size=8
)


def close(expected):
    return pytest.approx(expected, abs=1e-9)


def matches(row, column):
    return sum(category[column] for category in row["categories"])


# What others computed


def test_published_package_gives_the_same_costs_and_matches_in_each_document(oinerval):
    documents = read_conformance("order_independent.json")["documents"]
    predictions, references = ([document[side] for document in documents] for side in ("prediction", "reference"))
    rows = oinerval.count(predictions, references, threshold=THRESHOLDS).to_pylist()
    for row, document in zip(rows, documents, strict=True):
        expected = document["expected"]
        assert row["oiecer_errors"] == close(expected["oiecer_errors"])
        assert row["oiewer_errors"] == close(expected["oiewer_errors"])
        for threshold in THRESHOLDS:
            found = matches(row, f"oinerval@{threshold}")
            false = len(document["prediction"]) - found, len(document["reference"]) - found
            assert [found, *false] == expected["oinerval"][f"{threshold * 100:.0f}"]


def test_published_package_gives_the_same_scores_of_the_corpus(oinerval):
    conformance = read_conformance("order_independent.json")
    predictions, references = (
        [document[side] for document in conformance["documents"]] for side in ("prediction", "reference")
    )
    result = oinerval.compute(predictions=predictions, references=references, threshold=THRESHOLDS)
    expected = conformance["corpus"]
    assert (result["oiecer"], result["oiewer"]) == (close(expected["oiecer"]), close(expected["oiewer"]))
    for point in result["curve"]:
        published = expected[f"oinerval_{point['threshold'] * 100:.0f}"]
        for name in ("precision", "recall", "f1"):
            assert point[f"oinerval_{name}"] == close(published[name])


def test_nerval_cer_and_wer_of_tagged_tokens_are_those_of_others(oinerval):
    documents = read_conformance("nerval.json")["documents"]
    predictions, references = ([document[side] for document in documents] for side in ("prediction", "reference"))
    thresholds = [0.0, 0.3, 0.5]
    rows = oinerval.count(predictions, references, threshold=thresholds, order_dependent=True).to_pylist()
    names = {"characters": "chars", "character_errors": "char_errors", "words": "words", "word_errors": "word_errors"}
    for row, document in zip(rows, documents, strict=True):
        assert {theirs: row[ours] for ours, theirs in names.items()}.items() <= document["expected"].items()
        nerval = document["expected"]["nerval"]["0.3"]
        assert (matches(row, "predicted"), matches(row, "reference")) == (nerval["predicted"], nerval["support"])
    for threshold in thresholds:
        found = sum(matches(row, f"nerval@{threshold}") for row in rows)
        expected = sum(document["expected"]["nerval"][str(threshold)]["matched"] for document in documents)
        assert found == pytest.approx(expected, rel=0.01)


# The definitions, tried out


@given(prediction=entities, reference=entities)
@examples
def test_counts_are_those_of_the_definitions(oinerval, prediction, reference):
    (row,) = oinerval.count([prediction], [reference], threshold=THRESHOLDS, order_dependent=True).to_pylist()
    assert row["oiecer_errors"] == close(least_cost(reference, prediction, character_rate))
    assert row["oiewer_errors"] == close(least_cost(reference, prediction, word_rate))
    assert row["ecer_errors"] == close(edit_distance(reference, prediction, character_rate))
    assert row["ewer_errors"] == close(edit_distance(reference, prediction, word_rate))
    for threshold in THRESHOLDS:
        assert matches(row, f"oinerval@{threshold}") == most_pairs(reference, prediction, threshold)


@given(prediction=entities, reference=entities)
@examples
def test_category_is_scored_as_if_it_were_alone(oinerval, prediction, reference):
    options = {"per_type": True, "order_dependent": True}
    per_type = oinerval.score(oinerval.count([prediction], [reference], order_dependent=True), **options)["per_type"]
    assert set(per_type) == {category for category, _ in prediction + reference}
    for category, scores in per_type.items():
        alone = [[entity for entity in side if entity[0] == category] for side in (prediction, reference)]
        expected = oinerval.score(oinerval.count(*([side] for side in alone), order_dependent=True), **options)
        assert scores == {name: close(expected[name]) for name in scores}


@given(prediction=tagged_words, reference=tagged_words)
@examples
def test_nerval_is_that_of_the_definition(oinerval, prediction, reference):
    predicted, expected = (
        {"tokens": [word for word, _ in side], "tags": [tag for _, tag in side]} for side in (prediction, reference)
    )
    thresholds = [0.0, 0.3, 0.7]
    (row,) = oinerval.count([predicted], [expected], threshold=thresholds, order_dependent=True).to_pylist()
    sides = [to_arrow([document]).to_pylist()[0][0]["entities"] for document in (predicted, expected)]
    naive = [[(entity["type"], entity["value"]) for entity in side] for side in sides]
    for threshold in thresholds:
        assert matches(row, f"nerval@{threshold}") == nerval_matches(naive[1], naive[0], threshold)
    words = [[word for word, _ in side] for side in (reference, prediction)]
    assert row["character_errors"] == edit_distance(*(" ".join(side) for side in words))
    assert row["word_errors"] == edit_distance(*words)


# Laws


@given(prediction=entities, reference=entities, seed=st.integers(0, 9))
@examples
def test_order_of_entities_never_matters(oinerval, prediction, reference, seed):
    generator = random.Random(seed)
    again = [generator.sample(side, len(side)) for side in (prediction, reference)]
    assert oinerval.count([again[0]], [again[1]]).equals(oinerval.count([prediction], [reference]))


@given(prediction=entities, reference=entities)
@examples
def test_any_order_costs_at_most_as_much_as_the_reading_order(oinerval, prediction, reference):
    result = oinerval.compute(predictions=[prediction], references=[reference], order_dependent=True)
    assert result["oiecer"] <= result["ecer"] + 1e-9
    assert result["oiewer"] <= result["ewer"] + 1e-9


@given(prediction=entities, reference=entities)
@examples
def test_threshold_of_one_judges_categories_only(oinerval, prediction, reference):
    masked = [[(category, "x") for category, _ in side] for side in (prediction, reference)]
    whole, of_categories = (
        oinerval.compute(predictions=[p], references=[r], threshold=1)
        for p, r in ((prediction, reference), (masked[0], masked[1]))
    )
    assert whole["oinerval_f1"] == of_categories["oinerval_f1"]


@given(prediction=entities, reference=entities)
@examples
def test_higher_threshold_never_matches_less(oinerval, prediction, reference):
    result = oinerval.compute(predictions=[prediction], references=[reference], threshold=THRESHOLDS)
    scores = [point["oinerval_f1"] for point in result["curve"]]
    assert scores == sorted(scores)


@pytest.mark.parametrize("module", [oinerval.blocks, oinerval.spelling, oinerval.sequences, oinerval.texts])
def test_examples_in_the_source(module):
    failures, tests = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tests and not failures


# Speed changes nothing


def corpus(documents, size, seed=0):
    generator = random.Random(seed)
    words = ["Paris", "Lyon", "François", "née", "1871", "12", "rue", "東京"]
    side = lambda: [  # noqa: E731
        (generator.choice("abc"), " ".join(generator.choices(words, k=generator.randint(1, 3)))) for _ in range(size)
    ]
    return [side() for _ in range(documents)], [side() for _ in range(documents)]


def count_errors(predictions, references):
    batch = encode(to_arrow(predictions), to_arrow(references, "references"))
    columns = oinerval.errors.count_errors(batch, load_schema(None), [0.3], True)
    return pa.table(columns)


@pytest.mark.parametrize(
    ("module", "limit", "value"),
    [
        (oinerval.blocks, "CELLS_OF_LARGE_BLOCK", 1),
        (oinerval.blocks, "CELLS_OF_LARGE_BLOCK", 10**9),
        (oinerval.errors, "CELLS_AT_ONCE", 50),
        (oinerval.spelling, "NUMBER_OF_CHARACTERS", 3),
    ],
)
def test_large_and_small_blocks_bunches_and_vocabularies_count_the_same(monkeypatch, module, limit, value):
    predictions, references = corpus(8, 40)
    expected = count_errors(predictions, references)
    monkeypatch.setattr(module, limit, value)
    assert count_errors(predictions, references).equals(expected)


def test_identical_entities_are_not_always_partners(oinerval):
    # Pairing a10 with a10 first costs 3/8 in the end; crosswise it costs 1/10 + 2/8 = 0.35.
    references = [("x", "a" * 10), ("x", "a" * 8)]
    predictions = [("x", "a" * 10), ("x", "a" * 11)]
    result = oinerval.compute(predictions=[predictions], references=[references])
    assert result["oiecer"] == close(0.35 / 2)


# Options


def test_sweep_reports_the_first_threshold_beside_the_curve(oinerval):
    documents = {"predictions": [[("name", "Duboi")]], "references": [[("name", "Dubois")]]}  # CER 1/6
    result = oinerval.compute(**documents, threshold=[0.1, 0.3])
    assert result["oinerval_f1"] == 0.0
    assert [point["oinerval_f1"] for point in result["curve"]] == [0.0, 1.0]
    assert "curve" not in oinerval.compute(**documents, threshold=0.1)
    assert oinerval.signature(threshold=1 / 3) != oinerval.signature(threshold=0.333333)
    assert oinerval.signature(threshold=[0.1, 0.3]) == "oinerval|match:exact|normalize:none|threshold:0.1|v1.0"


def test_counts_are_scored_with_the_thresholds_they_were_made_with(oinerval):
    counts = oinerval.count([[("a", "b")]], [[("a", "b")]], threshold=[0.1, 0.5])
    assert oinerval.score(counts, threshold=0.5)["oinerval_f1"] == 1.0
    with pytest.raises(ValueError, match="threshold 0.3: these counts were made with 0.1, 0.5; count with that"):
        oinerval.score(counts)
    with pytest.raises(ValueError, match="count with order_dependent=True"):
        oinerval.score(counts, threshold=0.5, order_dependent=True)


@pytest.mark.parametrize(
    ("option", "value"),
    [("threshold", 30), ("threshold", []), ("threshold", [0.1, 0.1]), ("threshold", "0.3"), ("threshold", True),
     ("order_dependent", 1), ("normalize", "upper"), ("normalize", ["nfc", 3]), ("normalize", "")],
)  # fmt: skip
def test_wrong_options_are_refused(oinerval, option, value):
    with pytest.raises(ValueError, match=f"{option} must be"):
        oinerval.compute(predictions=[[]], references=[[]], **{option: value})


def test_text_scores_need_tagged_tokens_in_every_document(oinerval):
    tagged = {"tokens": ["Jean"], "tags": ["B-name"]}
    flat = [("name", "Jean")]
    text_scores = {"cer", "wer", "nerval_precision", "nerval_recall", "nerval_f1"}
    for documents, expected in ([tagged, tagged], text_scores), ([tagged, []], text_scores), ([tagged, flat], set()):
        result = oinerval.compute(
            predictions=documents,
            references=documents,
            order_dependent=True,
            per_type=True,
            per_document=True,
            confidence_level=0.9,
            n_resamples=30,
        )
        for scores in (result, result["per_type"]["name"], *result["per_document"], result["intervals"]):
            assert text_scores & set(scores) == expected
        assert {"ecer", "ewer"} <= set(result)
    assert not (text_scores | {"ecer"}) & set(oinerval.compute(predictions=[tagged], references=[tagged]))


def test_untagged_words_count_in_texts_only(oinerval):
    prediction = {"tokens": ["Jean", "est", "ne"], "tags": ["B-name", "O", "O"]}
    reference = {"tokens": ["Jean", "est", "né"], "tags": ["B-name", "O", "O"]}
    result = oinerval.compute(predictions=[prediction], references=[reference], order_dependent=True)
    assert (result["oiecer"], result["ecer"], result["nerval_f1"], result["reference_entities"]) == (0, 0, 1, 1)
    assert (result["cer"], result["wer"]) == (close(1 / 11), close(1 / 3))


def test_predicted_entity_confirms_one_reference_entity(oinerval):
    # "aa aa" is one insertion away from either "aaaa"; it can be only one of them.
    reference = {"tokens": ["aaaa", "aaaa"], "tags": ["B-x", "B-x"]}
    prediction = {"tokens": ["aa", "aa"], "tags": ["B-x", "I-x"]}
    result = oinerval.compute(predictions=[prediction], references=[reference], order_dependent=True)
    assert (result["nerval_precision"], result["nerval_recall"]) == (1.0, 0.5)


@pytest.mark.parametrize(
    ("normalize", "errors"),
    [
        (None, [2 / 6, 2 / 3, 3 / 5]),  # e and an accent for é; one letter for the ligature's two; LYON's capitals
        ("nfc", [0, 2 / 3, 3 / 5]),
        ("nfkc", [0, 0, 3 / 5]),
        ("casefold", [2 / 6, 0, 1 / 5]),  # casefold spells the ligature out
        ("nfkc+casefold", [0, 0, 1 / 5]),
        (["casefold", "nfkc"], [0, 0, 1 / 5]),
    ],
)
def test_normalised_accents_ligatures_and_case_are_no_errors(oinerval, normalize, errors):
    predictions = [[("a", "E\u0301lodie")], [("a", "ﬁn")], [("a", "LYOn")]]
    references = [[("a", "Élodie")], [("a", "fin")], [("a", "Lyons")]]
    options = {"normalize": normalize, "per_document": True}
    result = oinerval.compute(predictions=predictions, references=references, **options)
    assert [scores["oiecer"] for scores in result["per_document"]] == [close(expected) for expected in errors]


def test_normalised_texts_are_compared_in_cer_and_wer_too(oinerval):
    documents = [{"tokens": [word], "tags": ["O"]} for word in ("ÉTÉ", "été")]
    options = {"order_dependent": True, "normalize": "casefold"}
    assert oinerval.compute(predictions=documents[:1], references=documents[1:], **options)["wer"] == 0


@pytest.mark.parametrize("schema", [{}, {"date": "date"}, {"total": "money"}, {"total": "money", "date": "date"}])
def test_values_that_are_equal_under_the_schema_have_no_error(oinerval, schema):
    # Exactly compared: "7.50" for "7.5" is 1 edit of 3, "16/07/2025" for "16-07-2025" 2 edits of 10.
    cost = {"total": 1 / 3, "date": 2 / 10}
    expected = sum(rate for name, rate in cost.items() if name not in schema)
    reference, prediction = {"total": "7.5", "date": "16-07-2025"}, {"total": "7.50", "date": "16/07/2025"}
    result = oinerval.compute(predictions=[prediction], references=[reference], schema=schema)
    assert result["oiecer"] == close(expected / 2)
    assert result["oiewer"] == close((2 - len(schema)) / 2)


def test_groups_are_ignored(oinerval):
    grouped = {"menu": [{"name": "Tea"}, {"name": "Latte"}]}
    flat = [("menu.name", "Latte"), ("menu.name", "Tea")]
    assert oinerval.compute(predictions=[grouped], references=[flat])["oiecer"] == 0


def test_inventions_make_an_error_rate_above_one(oinerval):
    result = oinerval.compute(predictions=[[("a", "x")] * 3], references=[[("a", "y")]])
    assert (result["oiecer"], result["oiewer"]) == (3.0, 3.0)
    assert oinerval.compute(predictions=[[("a", "x")] * 3], references=[[]])["oiecer"] == 3.0


def test_explanation_shows_the_edits_of_each_pair(oinerval):
    prediction = [("name", "Ng"), ("place", "Lyon"), ("name", "DUBOI")]
    reference = [("name", "Dubois"), ("date", "1871"), ("place", "Lyon")]
    (group,) = oinerval.explain(prediction, reference, normalize="casefold")
    rows = {(row["operation"], row["prediction"], row["reference"]): row for row in group["entities"]}
    assert list(rows) == [
        ("substitute", "DUBOI", "Dubois"),
        ("add", None, "1871"),
        ("match", "Lyon", "Lyon"),
        ("delete", "Ng", None),
    ]
    pair = rows["substitute", "DUBOI", "Dubois"]
    assert (pair["cer"], pair["wer"], pair["within_threshold"]) == (close(1 / 6), 1.0, True)
    assert pair["edits"][-1] == {"operation": "insert", "prediction": "", "reference": "s"}
    assert oinerval.explain([], []) == []


# What each metric does with typical errors: an archive record, as in Table 7 of the paper

RECORD = [
    ("title", "Aubert Jean"),
    ("analysis", "inventaire après décès de Marie Lefèvre veuve de Pierre Morel marchand drapier rue Saint-Denis"),
    ("date", "12 mars 1642"),
    ("serie", "minutes"),
    ("article", "XXIII"),
    ("reference", "1217"),
]


def record(**changed):
    values = {**dict(RECORD), **changed}
    return [(category, value) for category, value in values.items() if value]


def judge(prediction, oinerval, bag_of_entities):
    documents = {"predictions": [prediction], "references": [RECORD]}
    return oinerval.compute(**documents) | bag_of_entities.compute(**documents)


def test_almost_perfect_record_is_almost_perfect_except_for_whole_entities(oinerval, bag_of_entities):
    scores = judge(record(date="12 mars 1643"), oinerval, bag_of_entities)
    assert scores["oiecer"] == close(1 / 12 / 6)  # one letter of 12 in one of six entities
    assert scores["oiewer"] == close(1 / 3 / 6)  # one word of three
    assert scores["oinerval_f1"] == 1.0
    assert scores["beer"] == close(1 / 6)
    assert scores["btwer"] == scores["bwer"] == close(1 / 22)  # 22 words in all


def test_words_missing_in_a_long_entity_weigh_more_in_bags_of_words(oinerval, bag_of_entities):
    long = dict(RECORD)["analysis"]
    short = " ".join(long.split()[:7])  # 7 of 14 words
    scores = judge(record(analysis=short), oinerval, bag_of_entities)
    assert scores["oiecer"] == close((len(long) - len(short)) / len(long) / 6)
    assert scores["oiewer"] == close(7 / 14 / 6)
    assert scores["oinerval_f1"] == close(5 / 6)  # about half of it is missing: too much for the threshold
    assert scores["btwer"] == scores["bwer"] == close(7 / 22)
    assert scores["btwer"] > scores["beer"] > scores["oiecer"]


def test_missing_entity_of_one_word_weighs_more_in_entity_metrics(oinerval, bag_of_entities):
    scores = judge(record(article=None), oinerval, bag_of_entities)
    assert scores["oiecer"] == scores["oiewer"] == scores["beer"] == close(1 / 6)
    assert (scores["oinerval_precision"], scores["oinerval_recall"]) == (1.0, close(5 / 6))
    assert scores["btwer"] == scores["bwer"] == close(1 / 22)


def test_errors_spread_evenly_are_seen_by_bags_and_forgiven_by_oinerval(oinerval, bag_of_entities):
    prediction = [(category, "?" + value[1:]) for category, value in RECORD]
    scores = judge(prediction, oinerval, bag_of_entities)
    # One letter of each entity.
    assert scores["oiecer"] == close(sum(1 / len(value) for _, value in RECORD) / 6)
    assert scores["oiewer"] == close(sum(1 / len(value.split()) for _, value in RECORD) / 6)
    assert scores["oinerval_f1"] == 1.0
    assert scores["beer"] == 1.0
    assert scores["btwer"] == close(6 / 22)
    assert scores["oiewer"] > scores["oiecer"]


def test_swapped_tags_are_seen_by_all_but_the_bag_of_words(oinerval, bag_of_entities):
    swapped = record(serie="XXIII", article="minutes")
    scores = judge(swapped, oinerval, bag_of_entities)
    assert scores["oiecer"] == scores["oiewer"] == scores["beer"] == close(2 / 6)
    assert scores["oinerval_f1"] == close(4 / 6)
    assert scores["btwer"] == close(2 / 22)
    assert scores["bwer"] == 0.0


def test_scores_are_finite_where_the_reference_is_empty(oinerval):
    tagged = {"tokens": ["Jean"], "tags": ["B-name"]}
    result = oinerval.compute(predictions=[tagged], references=[{"tokens": [], "tags": []}], order_dependent=True)
    assert all(math.isfinite(score) for score in result.values())
    assert (result["cer"], result["wer"], result["ecer"]) == (4.0, 1.0, 1.0)


def test_empty_text_has_no_word(oinerval):
    two, none = {"tokens": ["a", "b"], "tags": ["O", "O"]}, {"tokens": [], "tags": []}
    result = oinerval.compute(predictions=[none, two], references=[two, none], order_dependent=True)
    assert result["wer"] == (2 + 2) / 2
