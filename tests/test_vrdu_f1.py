import gzip
import json
import math

import pytest
from helpers import load
from hypothesis import given, settings
from naive_fields import are_same_rows, most_pairs
from strategies import corpora

from metrics.documents import group_entities

ITEMS = {"line_item": ["description", "price"]}


@pytest.fixture(scope="module")
def vrdu_f1():
    return load("vrdu_f1", keep_in_memory=True)


@pytest.fixture(scope="module")
def score(vrdu_f1):
    def score_one(prediction, reference, **options):
        return vrdu_f1.compute(predictions=[prediction], references=[reference], **options)

    return score_one


def counts_of(result, name, family="per_type"):
    return tuple(result[family][name][count] for count in ("true_positives", "false_positives", "false_negatives"))


def entity(name, value, confidence=None):
    return {"type": name, "value": value, "confidence": confidence}


@pytest.mark.parametrize(
    ("predicted", "expected", "counts"),
    [
        ([("a", None)], ["a"], (1, 0, 0)),
        ([("b", None)], ["a"], (0, 1, 1)),
        ([("a", None), ("b", None)], ["a"], (1, 0, 0)),  # the first is kept, the second is not counted
        ([("b", None), ("a", None)], ["a"], (0, 1, 1)),
        ([("b", 0.2), ("a", 0.9)], ["a"], (1, 0, 0)),  # the most confident is kept
        ([("a", 0.2), ("b", 0.9)], ["a"], (0, 1, 1)),
        ([("b", None), ("a", 0.1)], ["a"], (1, 0, 0)),
        ([("b", 0.5), ("a", 0.5)], ["a"], (0, 1, 1)),  # equally confident: the first
        ([("b", None)], ["a", "b"], (1, 0, 0)),  # any of several reference values, counting once
        ([("c", None)], ["a", "b"], (0, 1, 1)),
        ([], ["a", "b"], (0, 0, 1)),
        ([("a", None), ("b", None)], [], (0, 1, 0)),
    ],
)
def test_unrepeated_name_counts_once(score, predicted, expected, counts):
    prediction = [entity("name", value, confidence) for value, confidence in predicted]
    result = score(prediction, {"name": expected}, per_type=True)
    assert counts_of(result, "name") == counts
    assert result["unrepeated_f1"] == result["micro_f1"] == float(counts == (1, 0, 0))


@pytest.mark.parametrize(
    ("predicted", "expected", "counts"),
    [
        ("ab", "ba", (2, 0, 0)),
        ("a", "aa", (1, 0, 1)),  # one prediction does not satisfy two references
        ("aab", "a", (1, 2, 0)),
        ("", "a", (0, 0, 1)),
    ],
)
def test_repeated_name_is_matched_one_to_one(score, predicted, expected, counts):
    result = score({"name": list(predicted)}, {"name": list(expected)}, repeated=["name"], per_type=True)
    assert counts_of(result, "name") == counts
    assert result["unrepeated_f1"] == 1.0  # there is none


def test_repeated_names_are_matched_optimally_under_a_tolerance(score):
    # 10 fits 11 and 12 does not fit 10: taking 11 for 10 would leave 12 alone.
    schema = {"price": {"type": "money", "tolerance": 1, "relative": False}}
    result = score({"price": ["11", "12"]}, {"price": ["10", "11"]}, repeated=["price"], schema=schema)
    assert result["micro_f1"] == 1.0


@pytest.mark.parametrize(
    ("predicted", "expected", "counts"),
    [
        ([{"a": "1", "b": "2"}], [{"b": "2", "a": "1"}], (1, 0, 0)),  # the order of components does not matter
        ([{"a": "1"}], [{"a": "1", "b": "2"}], (0, 1, 1)),  # same component names
        ([{"a": "1", "b": "3"}], [{"a": "1", "b": "2"}], (0, 1, 1)),
        ([{"a": "1"}, {"a": "2"}], [{"a": "2"}, {"a": "1"}], (2, 0, 0)),
        ([{"a": "1"}], [{"a": "1"}, {"a": "1"}], (1, 0, 1)),
        ([{"a": ["1", "2"]}], [{"a": ["2", "1"]}], (1, 0, 0)),
        ([{"a": ["1", "1"]}], [{"a": ["1", "2"]}], (0, 1, 1)),
    ],
)
def test_hierarchical_entity_is_right_when_all_its_components_are(score, predicted, expected, counts):
    result = score({"item": predicted}, {"item": expected}, per_type=True)
    assert counts_of(result, "item", "per_group_type") == counts
    matches, wrong, missing = counts
    assert result["hierarchical_f1"] == pytest.approx(2 * matches / (2 * matches + wrong + missing))
    assert result["per_type"] == {}  # components are not counted by themselves


def test_ungrouped_components_are_grouped_where_a_name_repeats(score):
    tagged = [("description", "tea"), ("price", "3"), ("total", "7"), ("description", "pie"), ("price", "4")]
    named = [
        {"type": "line_item", "entities": [entity("description", "pie"), entity("price", "4")]},
        {"type": "line_item", "entities": [entity("description", "tea"), entity("price", "3")]},
        {"type": "", "entities": [entity("total", "7")]},
    ]
    assert score(tagged, named, groups=ITEMS)["micro_f1"] == 1.0
    assert score(tagged, named)["hierarchical_f1"] == 0.0
    # micro: three entities, each hierarchical one counting once
    wrong = [*tagged[:-1], ("price", "5")]
    result = score(wrong, named, groups=ITEMS)
    assert result["micro_f1"] == pytest.approx(2 * 2 / (3 + 3))
    # macro: total 1, line_item 1/2
    assert result["macro_f1"] == pytest.approx((1 + 1 / 2) / 2)
    assert (result["unrepeated_f1"], result["hierarchical_f1"]) == (1.0, 1 / 2)


def test_last_group_counts_too(score):
    # [A,B,C,B,C] -> [A,B,C],[B,C]
    entities = [("A", "1"), ("B", "2"), ("C", "3"), ("B", "4"), ("C", "5")]
    result = score(entities, entities, groups={"group": ["A", "B", "C"]}, per_type=True)
    assert counts_of(result, "group", "per_group_type") == (2, 0, 0)


@given(pairs=corpora(max_size=2))
@settings(max_examples=50, deadline=None)
def test_grouping_as_an_option_is_grouping_beforehand(vrdu_f1, pairs):
    groups = {"pair": ["total", "date"]}
    predictions, references = map(list, zip(*pairs, strict=True))
    beforehand = [[group_entities(document, groups) for document in side] for side in (predictions, references)]
    as_option = vrdu_f1.score(vrdu_f1.count(predictions, references, groups=groups), per_type=True)
    assert as_option == vrdu_f1.score(vrdu_f1.count(*beforehand), per_type=True)


def naive_counts(prediction, reference, same):
    """TP, predicted and reference of one document by the definition; `date` alone is repeated."""

    def split(document):
        ungrouped, groups = {}, {}
        for group in document:
            entities = [(entity["type"], entity["value"]) for entity in group["entities"]]
            for name, value in [] if group["type"] else entities:
                ungrouped.setdefault(name, []).append(value)
            if group["type"] and entities:
                groups.setdefault(group["type"], []).append(entities)
        return ungrouped, groups

    (names, groups), (other_names, other_groups) = split(prediction), split(reference)
    total = [0, 0, 0]
    for name in {*names, *other_names}:
        some, others = names.get(name, []), other_names.get(name, [])
        if name == "date":
            counts = most_pairs(some, others, same), len(some), len(others)
        else:
            counts = any(same(p, r) for p in some[:1] for r in others), bool(some), bool(others)
        total = [a + b for a, b in zip(total, counts, strict=True)]
    for name in {*groups, *other_groups}:
        some, others = groups.get(name, []), other_groups.get(name, [])
        right = most_pairs(some, others, lambda p, r: are_same_rows(p, r, same))
        total = [a + b for a, b in zip(total, (right, len(some), len(others)), strict=True)]
    return total


@given(pairs=corpora(max_size=2, values=["10", "11", "12", "100"]))
@settings(max_examples=150, deadline=None)
def test_counts_are_those_of_the_definition(vrdu_f1, pairs):
    tolerance = {"*": {"type": "money", "tolerance": 1, "relative": False}}
    judges = {None: lambda p, r: p == r, "tolerance": lambda p, r: abs(int(p) - int(r)) <= 1}
    for schema, same in judges.items():
        counts = vrdu_f1.count(*zip(*pairs, strict=True), repeated=["date"], schema=schema and tolerance)
        result = vrdu_f1.score(counts)
        naive = [naive_counts(p, r, same) for p, r in pairs]
        right, predicted, reference = map(sum, zip(*naive, strict=True))
        nothing = predicted == reference == 0
        assert math.isclose(result["micro_f1"], 1.0 if nothing else 2 * right / (predicted + reference))
        assert math.isclose(result["micro_precision"], right / predicted if predicted else float(nothing))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"repeated": "name"}, "repeated must be a list"), ({"repeated": [1]}, "repeated must be"),
     ({"groups": ["a"]}, "groups must map"), ({"groups": {"item": []}}, "groups"),
     ({"repeated": ["price"], "groups": ITEMS}, "'price' is a component of a group too")],
)  # fmt: skip
def test_bad_options_name_themselves(score, options, message):
    with pytest.raises(ValueError, match=message):
        score({}, {}, **options)


def test_signature_names_repeated_names_and_groups(vrdu_f1):
    assert vrdu_f1.signature(repeated=["b", "a"], groups=ITEMS) == (
        'vrdu_f1|match:exact|repeated:["a", "b"]|groups:{"line_item": ["description", "price"]}|v1.0'
    )


def test_signatures_tell_names_from_groups(vrdu_f1):
    options = ({"repeated": ["a,b"]}, {"repeated": ["a", "b"]}, {"groups": {"repeated": ["a", "b"]}})
    assert len({vrdu_f1.signature(**some) for some in options}) == 3


def test_explanation_says_what_counts(vrdu_f1):
    prediction = [("total", "3"), ("total", "4"), ("description", "tea"), ("price", "2")]
    reference = [("total", "4"), ("total", "3"), ("description", "tea"), ("price", "1")]
    ungrouped, item = vrdu_f1.explain(prediction, reference, groups=ITEMS)
    rows = [(row["operation"], row["prediction"], row["reference"], row["counted"]) for row in ungrouped["entities"]]
    assert rows == [("match", "3", "3", True), ("delete", "4", None, False), ("add", None, "4", False)]
    assert (item["type"], item["is_right"]) == ("line_item", False)
    assert [row["operation"] for row in item["entities"]] == ["match", "substitute"]


# ----------------------------------------------------------------------------------- the benchmark's files

META = {
    "dataset_name": "Small",
    "entity_name_to_match_func": {"advertiser": "GeneralStringMatch", "file_date": "DateMatch", "price": "PriceMatch",
                                  "address": "AddressMatch", "number": "NumericalStringMatch", "signer": "NameMatch"},
    "entity_appearance_pattern": {"advertiser": "unrepeated", "file_date": "line_item", "price": "line_item",
                                  "address": "unrepeated", "number": "repeated", "signer": "unrepeated"},
}  # fmt: skip


def annotated(text):
    return [text, [0, 0.1, 0.2, 0.3, 0.4], [[0, 10]]]


@pytest.fixture
def corpus(tmp_path):
    """A corpus in the layout of the benchmark: two documents, one of them in the test split."""
    one = [
        ["advertiser", [annotated("ACME, Inc.\n"), annotated("Acme Incorporated")]],
        ["address", [annotated("4 Main\nSt.")]],
        ["number", [annotated("No. 17")]],
        [["file_date", "price"], [[annotated("07/01/20"), annotated("$1,200.00")]]],
        [["file_date"], [[annotated("July 2, 2020")]]],
    ]
    lines = [{"filename": "one.pdf", "ocr": {}, "annotations": one}, {"filename": "two.pdf", "annotations": []}]
    extracted = {"one.pdf": [["advertiser", annotated("ACME Inc")], ["advertiser", annotated("other")],
                             ["file_date", annotated("1/7/2020")], ["price", annotated("1200")],
                             ["file_date", annotated("7/2/20")], ["address", annotated("4 Main Str.")]]}  # fmt: skip
    (tmp_path / "main").mkdir()
    (tmp_path / "few_shot-splits").mkdir()
    (tmp_path / "main" / "meta.json").write_text(json.dumps(META))
    (tmp_path / "main" / "dataset.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "few_shot-splits" / "split.json").write_text(json.dumps({"train": ["two.pdf"], "test": ["one.pdf"]}))
    (tmp_path / "extracted.json").write_text(json.dumps({"meta": {}, "results": extracted}))
    return tmp_path


def test_benchmark_is_scored_from_its_files(vrdu_f1, corpus):
    split = corpus / "few_shot-splits" / "split.json"
    predictions, references, options = vrdu_f1.read_benchmark(corpus, corpus / "extracted.json", split)
    result = vrdu_f1.compute(predictions=predictions, references=references, **options, per_type=True)
    # advertiser and address match; number is missing; both line items match: a swapped date, a date in words
    assert result["documents"] == 1
    assert result["micro_precision"] == 4 / 4
    assert result["micro_recall"] == 4 / 5
    assert result["macro_f1"] == pytest.approx((1 + 1 + 0 + 1) / 4)
    assert counts_of(result, "line_item", "per_group_type") == (2, 0, 0)


def test_documents_without_extractions_are_told_and_score_as_empty(vrdu_f1, corpus):
    message = r"extracted.json: 1 of 2 documents have no extractions and score as empty: 'two.pdf'$"
    with pytest.warns(UserWarning, match=message) as warned:
        predictions, references, _ = vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")
    assert warned[0].filename == __file__
    assert [len(document) for document in predictions] == [6, 0]
    assert len(references) == 2


@pytest.mark.parametrize("extracted", [{}, {"two.pdf": []}])
def test_extractions_of_no_evaluated_document_are_an_error(vrdu_f1, corpus, extracted):
    (corpus / "extracted.json").write_text(json.dumps({"results": extracted}))
    split = corpus / "few_shot-splits" / "split.json"
    with pytest.raises(ValueError, match=r"no extractions for any of the 1 evaluated documents \('one.pdf'\): give"):
        vrdu_f1.read_benchmark(corpus, corpus / "extracted.json", split)


@pytest.mark.filterwarnings("error")
def test_all_documents_extracted_is_no_warning(vrdu_f1, corpus):
    (corpus / "extracted.json").write_text(json.dumps({"results": {"one.pdf": [], "two.pdf": []}}))
    assert vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")[0] == [[], []]


@pytest.mark.filterwarnings("ignore:.*have no extractions")
def test_compressed_data_set_and_corpus_without_patterns(vrdu_f1, corpus):
    plain = vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")
    data = corpus / "main" / "dataset.jsonl"
    with gzip.open(f"{data}.gz", "wt", encoding="utf-8") as compressed:
        compressed.write(data.read_text("utf-8"))
    data.unlink()
    assert vrdu_f1.read_benchmark(corpus, corpus / "extracted.json") == plain
    meta = {"entity_name_to_match_func": META["entity_name_to_match_func"]}
    (corpus / "main" / "meta.json").write_text(json.dumps(meta))
    with pytest.raises(
        ValueError, match=r"dataset.jsonl.gz:1 annotations\[3\]: 'file_date, price' are components of no"
    ):
        vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("main/meta.json", {"entity_name_to_match_func": {"a": "Match"}}, "unknown match function 'Match' of 'a'"),
        ("main/meta.json", {}, "meta.json: expected a mapping under 'entity_name_to_match_func', got None"),
        ("main/dataset.jsonl", {"filename": "one.pdf"}, "dataset.jsonl:1: expected a list under 'annotations'"),
        ("main/dataset.jsonl", {"filename": "x.pdf", "annotations": []}, "1 files are not in the data set: 'one.pdf'"),
        ("main/dataset.jsonl", {"filename": "one.pdf", "annotations": [["number", [["1", 0, 0], ["2", 0, 0]]]]},
         "2 alternatives of the repeated name 'number'"),
        ("main/dataset.jsonl", {"filename": "one.pdf", "annotations": [["number"]]}, r"annotations\[0\]: expected"),
        ("extracted.json", {"one.pdf": []}, "extracted.json: expected a mapping under 'results'"),
        ("extracted.json", {"results": {"one.pdf": [["a", 3]]}}, r"'one.pdf'\[0\]: expected \[text, box, .*, got 3"),
    ],
)  # fmt: skip
def test_wrong_files_are_named(vrdu_f1, corpus, name, content, message):
    (corpus / name).write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")


def test_broken_and_missing_files_are_named(vrdu_f1, corpus):
    (corpus / "extracted.json").write_text("{")
    with pytest.raises(ValueError, match=r"extracted.json: not JSON"):
        vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")
    with pytest.raises(ValueError, match=r"none.json: No such file"):
        vrdu_f1.read_benchmark(corpus, corpus / "none.json")
    (corpus / "main" / "dataset.jsonl").unlink()
    with pytest.raises(ValueError, match=r"main: there is no dataset.jsonl"):
        vrdu_f1.read_benchmark(corpus, corpus / "extracted.json")
