"""Every accepted form of a document, and what is said of all others."""

import json
import re
from decimal import Decimal

import numpy as np
import pytest
from helpers import load
from hypothesis import given
from strategies import documents

from metrics.documents import DOCUMENT, group_entities, normalise, to_arrow
from metrics.problems import DocumentError

GROUPS = [
    {"type": "menu", "entities": [{"type": "menu.name", "value": "a"}, {"type": "menu.price", "value": "1"}]},
    {"type": "sub_total", "entities": [{"type": "sub_total.tax", "value": "2"}]},
    {"type": "", "entities": [{"type": "company", "value": "ACME"}, {"type": "tags", "value": "x"},
                              {"type": "tags", "value": "y"}]},
]  # fmt: skip
MAPPING = {"menu": [{"name": "a", "price": "1"}], "sub_total": {"tax": "2"}, "company": "ACME", "tags": ["x", "y"]}


def read(document, **options):
    """What Arrow holds of one document, without the empty confidences."""
    (found,) = to_arrow([document], **options).to_pylist()
    for group in found or []:
        for entity in group["entities"]:
            if entity["confidence"] is None:
                del entity["confidence"]
    return found


def ungrouped(*pairs):
    return [{"type": "", "entities": [{"type": entity_type, "value": value} for entity_type, value in pairs]}]


@pytest.mark.parametrize(
    "document",
    [
        GROUPS,
        tuple(GROUPS),
        np.array(GROUPS, object),
        MAPPING,
        {**MAPPING, "menu": [{"menu.name": "a", "menu.price": "1"}]},
        {**MAPPING, "menu": {"name": "a", "price": 1}},
        json.dumps(MAPPING),
        json.dumps(GROUPS),
        "\ufeff" + json.dumps(MAPPING),
        f"Here it is:\n```json\n{json.dumps(MAPPING, indent=2)}\n```\nAnything else?",
        f"Sure [as asked] {{that}} is it: {json.dumps(MAPPING)} (see [1] and []).",
    ],
)
def test_forms_of_the_same_document(document):
    assert read(document) == GROUPS


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ([("date", "12 mars"), ("title", "AUBERT")], ungrouped(("date", "12 mars"), ("title", "AUBERT"))),
        ([["date", "12 mars"]], ungrouped(("date", "12 mars"))),
        ([{"type": "date", "value": "12 mars"}], ungrouped(("date", "12 mars"))),
        ('[["date", "12 mars"]]', ungrouped(("date", "12 mars"))),
        ([], []),
        ({}, []),
        ("[]", []),
        ({"total": None, "tip": "", "tax": " \t\n"}, [{"type": "", "entities": []}]),
        ({"sub_total": {}}, [{"type": "sub_total", "entities": []}]),
        ({"menu": [{"name": "a", "sub": [{"name": "b"}, {"name": "c"}]}]},
         [{"type": "menu", "entities": [{"type": "menu.name", "value": "a"}, {"type": "menu.sub.name", "value": "b"},
                                        {"type": "menu.sub.name", "value": "c"}]}]),
        ({"menu": ["loose", {"name": "a"}], "total": "3"},
         [*ungrouped(("menu", "loose"), ("total", "3")),
          {"type": "menu", "entities": [{"type": "menu.name", "value": "a"}]}]),
    ],
)  # fmt: skip
def test_forms_become_groups(document, expected):
    assert read(document) == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (4.5, "4.5"), (True, "true"), (False, "false"), (np.int64(3), "3"), (np.float64(0.1), "0.1"),
     (np.bool_(True), "true"), (np.str_("a"), "a"), (Decimal("4.50"), "4.50"), (10**20, "1" + "0" * 20)],
)  # fmt: skip
def test_scalars_become_their_json_text_and_leave_other_values_alone(value, text):
    assert read({"total": value, "name": "tea"}) == ungrouped(("total", text), ("name", "tea"))


@pytest.mark.parametrize(
    "text",
    [
        '{"total": "3"} Note: {"unsure" fields omitted}',
        'The field {"total"} is: {"total": "3"}',
        'Of ["tax" or "total"] I found {"total": "3"}',
        'In the form {key: value}: {"total": "3"}',
        'The answer:\n```json\n{"total": "3"}\n```\nnot {"total": "4"}',
    ],
)
def test_prose_may_hold_braces(text):
    assert read(text) == ungrouped(("total", "3"))


def test_value_may_hold_a_fence():
    value = "```\ncode\n```"
    text = f"Here:\n```json\n{json.dumps({'note': value})}\n```"
    assert read(text) == ungrouped(("note", value))
    assert read(text.replace("\\n", " ")) == ungrouped(("note", value.replace("\n", " ")))


def test_numbers_of_json_text_stay_as_written():
    text = '{"price": 4.50, "count": 007e0, "big": 123456789012345678901234567890}'.replace("007e0", "7e0")
    assert [entity["value"] for entity in read(text)[0]["entities"]] == [
        "4.50",
        "7e0",
        "123456789012345678901234567890",
    ]


@pytest.mark.parametrize(
    ("tokens", "tags", "expected"),
    [
        ("Jean est né", "B-name O O", [("name", "Jean"), ("", "est né")]),
        ("a b c", "B-x I-x B-x", [("x", "a b"), ("x", "c"), ("", "")]),
        ("a b", "I-x I-y", [("x", "a"), ("y", "b"), ("", "")]),
        ("a b c", "B-x O I-x", [("x", "a"), ("", "b"), ("x", "c")]),
        ("", "", [("", "")]),
    ],
)
def test_tagged_tokens_become_spans(tokens, tags, expected):
    document = {"tokens": tokens.split(), "tags": tags.split()}
    assert read(document) == read(json.dumps(document)) == ungrouped(*expected)


@given(documents(with_confidence=True))
def test_every_form_is_stable_under_normalisation(document):
    column = to_arrow([document])
    assert column.type == DOCUMENT
    assert to_arrow(column).equals(column)
    assert to_arrow(column.to_pylist()).equals(column)
    assert to_arrow([normalise(json.dumps(document))]).equals(column)


def test_the_fast_and_the_careful_path_agree():
    """Tuples take the careful path for the whole batch."""
    batch = [GROUPS, GROUPS[:1], []]
    assert to_arrow(batch).equals(to_arrow([tuple(document) for document in batch]))


LONG = "x" * 50_000_000
DEEP_TEXT = '{"a":' * 10_000 + "1" + "}" * 10_000


def deep_object():
    document = "1"
    for _ in range(10_000):
        document = {"a": document}
    return document


ERRORS = {
    "float": (3.5, "expected a document (groups, mapping, entities, tagged tokens or JSON text), got float"),
    "none": (None, "predictions[0]: expected a document", "got NoneType"),
    "bytes": (b"{}", "predictions[0]: expected a document", "got bytes"),
    "set": ({1}, "got set"),
    "number in list": ([3], "predictions[0][0]: expected a group", "got int"),
    "strings": (["total", "3"], "predictions[0][0]: expected a group", "got str"),
    "triple": ([("a", "b", 0.5)], "predictions[0][0]: expected a (type, value) pair", '"confidence"'),
    "one group": (GROUPS[0], "predictions[0]: this is one group", "[{..}]"),
    "no type": ([{"entities": []}], "predictions[0][0]: this group has no 'type'"),
    "no value": ([{"type": "", "entities": [{"type": "a"}]}],
                 'predictions[0][0]["entities"][0]: this entity has no \'value\''),
    "entity without type": ([{"value": "a"}], "predictions[0][0]: this entity has no 'type'"),
    "mapping in list": ([{"total": "3"}], "this entity has no 'type' and no 'value'"),
    "unknown key in group": ([{"type": "a", "entities": [], "id": 1}], "unknown key 'id'", "entities, type"),
    "unknown key in entity": ([{"type": "a", "value": "1", "score": 1}], "unknown key 'score'", "confidence"),
    "group among entities": ([{"type": "a", "value": "1"}, GROUPS[0]], "predictions[0][1]: a group among entities"),
    "group type": ([{"type": None, "entities": []}], 'predictions[0][0]["type"]', "got NoneType"),
    "entity type": ([{"type": 3, "value": "1"}], 'predictions[0][0]["type"]', "got int"),
    "entities": ([{"type": "a", "entities": "abc"}], 'predictions[0][0]["entities"]: expected a list', "got str"),
    "value": ([{"type": "a", "value": {"b": 1}}], 'predictions[0][0]["value"]', "got dict"),
    "value bytes": ({"total": b"3"}, 'predictions[0]["total"]', "got bytes"),
    "nan value": ({"total": float("nan")}, 'predictions[0]["total"]: nan is not a value', "None"),
    "infinite value": ({"total": float("inf")}, "inf is not a value"),
    "many digits": ({"total": 10**5000}, "too many digits"),
    "list in list": ({"menu": [["a"]]}, 'predictions[0]["menu"][0]', "list inside a list"),
    "list in list in group": ({"menu": [{"a": [["b"]]}]}, 'predictions[0]["menu"][0]["a"][0]'),
    "key": ({1: "a"}, "predictions[0]: keys must be text, got int 1"),
    "empty key": ({"": "a"}, "an empty key"),
    "nan confidence": ([{"type": "a", "value": "1", "confidence": float("nan")}], "between 0 and 1, got nan"),
    "large confidence": ([{"type": "a", "value": "1", "confidence": 1.5}], "between 0 and 1, got 1.5"),
    "negative confidence": ([{"type": "a", "value": "1", "confidence": -1}], "between 0 and 1, got -1.0"),
    "text confidence": ([{"type": "a", "value": "1", "confidence": "0.5"}], "between 0 and 1, got str"),
    "confidence in JSON": ('[{"type": "a", "value": "1", "confidence": 7}]', "between 0 and 1, got 7.0"),
    "surrogate value": ({"total": "a\ud800"}, 'predictions[0]["total"]: a lone surrogate in', "UTF-8"),
    "surrogate type": ([("a\udfff", "1")], "a lone surrogate"),
    "surrogate in groups": ([{"type": "a", "entities": [{"type": "a", "value": "\ud800"}]}], "a lone surrogate"),
    "tokens and tags": ({"tokens": ["a"], "tags": []}, "1 tokens but 0 tags"),
    "tag": ({"tokens": ["a"], "tags": ["S-x"]}, 'predictions[0]["tags"][0]: expected an IOB2 tag', "'S-x'"),
    "key beside tags": ({"id": "7", "tokens": ["a"], "tags": ["O"]}, "unknown key 'id' beside tokens and tags"),
    "number as tag": ({"tokens": ["a"], "tags": [3]}, "expected an IOB2 tag", "got 3"),
    "no JSON": ("total 3", "no JSON object or array in this text"),
    "empty text": ("", "no JSON object or array in this text"),
    "scalar JSON": ("3.5", "expected a JSON object or array"),
    "cut JSON": ('{"menu": [{"name": "a"}, {"name": "b"', "broken JSON", "line 1 column"),
    "comma": ('{"menu": [{"name": "a"} {"name": "b"}]}', "broken JSON"),
    "no colon": ('{"menu" {"name": "a"}}', "broken JSON"),
    "no comma": ('["menu" {"name": "a"}]', "broken JSON"),
    "two documents": ('{"a": "1"} or {"a": "2"}', "2 JSON documents in one text"),
    "repeated key": ('{"a": "1", "a": "2"}', "the key 'a' stands twice"),
    "NaN in JSON": ('{"a": NaN}', "NaN is not a JSON value"),
    "deep text": (DEEP_TEXT, "nested too deeply"),
    "deep object": (deep_object(), "nested deeper than 100 levels"),
    "long text": (LONG, "no JSON object or array in this text"),
    "long key": ([{"type": "a", "value": "1", LONG: 1}], "unknown key 'xxxx"),
    "long tag": ({"tokens": ["a"], "tags": [LONG]}, "expected an IOB2 tag"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_say_where_what_and_what_to_do(name):
    document, *parts = ERRORS[name]
    with pytest.raises(ValueError, match=r"^predictions\[0\]") as error:
        to_arrow([document])
    message = str(error.value)
    for part in parts:
        assert part in message
    assert len(message) < 400
    for quoted in re.findall(r"x{50,}", message):
        assert len(quoted) <= 80


def test_error_names_the_document_and_the_side():
    with pytest.raises(ValueError, match=r"^references\[3\]: expected a document"):
        to_arrow([{}, [], "{}", 3.5], "references")


@pytest.mark.parametrize(("documents", "found"), [("{}", "str"), ({"total": "3"}, "dict"), (b"", "bytes"), (3, "int")])
def test_a_document_is_not_a_list_of_documents(documents, found):
    with pytest.raises(ValueError, match=f"predictions: expected a list of documents, got {found}"):
        to_arrow(documents)


def test_a_long_value_is_a_value():
    assert len(read({"total": LONG})[0]["entities"][0]["value"]) == len(LONG)


def test_unparsable_answers_may_count_as_empty(kieval):
    predictions = ["I cannot read this.", '{"total": "3"}', '{"total": ', "[1, 2]"]
    references = [{"total": "3"}] * 4
    with pytest.raises(ValueError, match=r"predictions\[0\]: no JSON"):
        kieval.compute(predictions=predictions, references=references)
    result = kieval.compute(predictions=predictions, references=references, on_invalid="empty", per_document=True)
    assert (result["true_positives"], result["additions"], result["invalid_predictions"]) == (1, 3, 3)
    kieval.add_batch(predictions=predictions[:2], references=references[:2], on_invalid="empty")
    assert kieval.compute()["invalid_predictions"] == 1
    assert "invalid_predictions" not in kieval.compute(predictions=[{}], references=[{}])


def test_on_invalid_forgives_text_of_predictions_only(kieval):
    for predictions, references in (([3.5], [{}]), ([{}], ["no JSON"])):
        with pytest.raises(ValueError, match="document|no JSON"):
            kieval.compute(predictions=predictions, references=references, on_invalid="empty")


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([{}, {}], [{}, {}, {}], "predictions has 2 documents, references has 3"),
        ([], [{}], "predictions has 0 documents, references has 1"),
        ([{}], [], "predictions has 1 documents, references has 0"),
        (None, [{}], "predictions are missing"),
        ([{}], None, "references are missing"),
    ],
)
@pytest.mark.parametrize("keep_in_memory", [True, False])
def test_sides_must_be_of_one_length_and_an_error_loses_nothing(predictions, references, message, keep_in_memory):
    metric = load("kieval", keep_in_memory=keep_in_memory)
    metric.add(prediction={"total": "3"}, reference={"total": "3"})
    for method in (metric.add_batch, metric.compute):
        with pytest.raises(ValueError, match=message):
            method(predictions=predictions, references=references)
    result = metric.compute(predictions=[{"total": "3"}], references=[{"total": "4"}])
    assert (result["documents"], result["true_positives"]) == (2, 1)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("ABCBC", ["ABC", "BC"]),  # a name that repeats opens a group; the last group counts too
        ("ABCBCACC", ["ABC", "BCA", "C", "C"]),
        ("A", ["A"]),
        ("AxBxA", ["AB", "A"]),  # other entities do not end a group
        ("x", []),
    ],
)
def test_components_are_grouped_where_a_name_repeats(names, expected):
    document = [(name, str(position)) for position, name in enumerate(names)]
    groups = group_entities(document, {"line": ["A", "B", "C"]})
    found = ["".join(e["type"] for e in group["entities"]) for group in groups if group["type"] == "line"]
    assert found == expected
    assert [e["value"] for group in groups for e in group["entities"] if e["type"] == "x"] == [
        str(position) for position, name in enumerate(names) if name == "x"
    ]


def test_grouping_takes_every_form_and_leaves_groups_and_untagged_text_alone():
    grouped = [{"type": "menu", "entities": [{"type": "item", "value": "a"}]}]
    assert group_entities(grouped, {"line": ["item"]}) == grouped
    tagged = {"tokens": ["one", "tea", "two", "pies"], "tags": ["O", "B-item", "B-count", "B-item"]}
    nested = group_entities(tagged, {"line": ["item", "count"]})
    assert [(group["type"], [e["value"] for e in group["entities"]]) for group in nested] == [
        ("", ["one"]), ("line", ["tea", "two"]), ("line", ["pies"])]  # fmt: skip
    mapping = {"item": ["a", "b"], "price": ["1", "2"]}
    # A mapping lists one name after the other: in its reading order every item but the last stands alone.
    assert [len(group["entities"]) for group in group_entities(mapping, {"line": ["item", "price"]})] == [1, 2, 1]


@pytest.mark.parametrize("groups", [["item"], {"line": "item"}, {"line": []}, {"": ["a"]}, {"line": [1]},
                                    {"line": ["a"], "tax": ["a"]}])  # fmt: skip
def test_wrong_groups_are_named(groups):
    with pytest.raises(ValueError, match="groups"):
        group_entities({}, groups)


PAIRS = [[("a", "x"), ["b", "y z"]], [], [("", "untagged"), ("c", " ")], [["d", "é"]]]


def test_lists_of_pairs_take_a_fast_path_to_the_same_documents():
    assert to_arrow(PAIRS).equals(to_arrow([*PAIRS, '{"e": "1"}'])[: len(PAIRS)])


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("a", ["x"]), r"predictions\[1\]\[0\]\[1\]: expected a text"),
        (("a", "x", 0.5), r"predictions\[1\]\[0\]: expected a \(type, value\) pair"),
        (("a", "\ud800"), r"predictions\[1\]\[0\]\[1\]: a lone surrogate"),
        ((1, "x"), r"predictions\[1\]\[0\]: expected a \(type, value\) pair"),
    ],
)
def test_wrong_pair_among_many_is_named(pair, message):
    with pytest.raises(DocumentError, match=message):
        to_arrow([[("a", "x")], [pair]])
