"""compute_metrics of every module, with arrays as the Trainers of transformers hand them over."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from fake_tokenizer import FakeTokenizer
from helpers import MODULES, load
from hypothesis import given
from hypothesis import strategies as st

from metrics.answers import answer_with_confidence, parse_answer
from metrics.documents import normalise, to_arrow
from metrics.problems import DocumentError
from metrics.tagging import rebuild_words, tag_document

every_module = pytest.mark.parametrize("name", MODULES)

TAGS = ["O", "B-item", "I-item", "B-price"]
WORDS = [["Iced", "tea", "3.00", "!", "Pie", "4.50"], ["Pie", "4.50"]]
# The first piece of a word has its label, other pieces, special tokens and padding have -100.
LABELS = np.array([[-100, 1, 2, -100, 3, 0, 1, 3, -100], [-100, 1, 3, -100, -100, -100, -100, -100, -100]])
RIGHT = np.where(LABELS < 0, 0, LABELS)
WRONG = RIGHT.copy()
WRONG[0, 4] = 0  # the price of the tea is missed: 4 entities right, 1 to add
REFERENCES = [
    {"tokens": words, "tags": [TAGS[label] for label in labels if label >= 0]}
    for words, labels in zip(WORDS, LABELS, strict=True)
]


def to_logits(tags, sure=5.0):
    return np.eye(len(TAGS))[tags] * sure


def evaluated(predictions, labels=LABELS, inputs=None):
    return SimpleNamespace(predictions=predictions, label_ids=labels, inputs=inputs)


def numbers_of(result):
    return {name: value for name, value in result.items() if isinstance(value, int | float)}


@every_module
@pytest.mark.parametrize(
    "predictions",
    [WRONG, to_logits(WRONG), to_logits(WRONG).astype("float16"), (to_logits(WRONG), np.zeros((2, 9, 7)))],
    ids=["tags", "logits", "half", "tuple"],
)
def test_tagged_words_score_as_tagged_tokens_do(name, predictions):
    metric = load(name, keep_in_memory=True)
    hook = metric.for_token_classification(labels=TAGS, words=WORDS, prefix="my_")
    tagged = [
        {"tokens": words, "tags": [TAGS[tag] for tag in tags[labels >= 0]]}
        for words, tags, labels in zip(WORDS, WRONG, LABELS, strict=True)
    ]
    expected = numbers_of(metric.compute(predictions=tagged, references=REFERENCES))
    assert hook(evaluated(predictions)) == {f"my_{name}": value for name, value in expected.items()}
    assert hook((predictions, LABELS)) == hook(evaluated(predictions))


def test_missed_entity_is_one_correction(kieval):
    result = kieval.for_token_classification(labels=TAGS, words=WORDS)(evaluated(WRONG))
    # TP = 5 of 6 entities, one addition
    assert (result["true_positives"], result["additions"], result["aligned"]) == (5, 1, 5 / 6)


@every_module
def test_batches_give_the_result_with_the_last_one(name):
    hook = load(name, keep_in_memory=True).for_token_classification(labels=dict(enumerate(TAGS)), words=WORDS)
    expected = hook(evaluated(WRONG))
    for _ in range(2):
        assert hook(evaluated(WRONG[:1], LABELS[:1]), compute_result=False) == {}
        assert hook(evaluated(WRONG[1:], LABELS[1:]), compute_result=True) == expected
    in_list = evaluated([WRONG[:1], WRONG[1:]], [LABELS[:1], LABELS[1:]])
    assert hook(in_list) == expected


def test_broken_evaluation_leaves_nothing_behind(kieval):
    hook = kieval.for_token_classification(labels=TAGS, words=WORDS)
    hook(evaluated(WRONG[:1], LABELS[:1]), compute_result=False)
    with pytest.raises(ValueError, match=r"references\[1\]: 6 tokens have a label and words has 2 words"):
        hook(evaluated(WRONG[:1], LABELS[:1]), compute_result=True)
    assert hook(evaluated(RIGHT), compute_result=True)["documents"] == 2
    hook(evaluated(WRONG[:1], LABELS[:1]), compute_result=False)
    assert hook(evaluated(RIGHT))["documents"] == 2
    hook(evaluated(WRONG[:1], LABELS[:1]), compute_result=False)
    hook.reset()
    assert hook(evaluated(RIGHT), compute_result=True)["documents"] == 2


def test_confidence_is_that_of_the_least_sure_word(kieval):
    logits = to_logits(RIGHT)
    logits[0, 2] = np.log([0.1, 0.1, 0.6, 0.2])  # "tea"
    logits[0, 4] = np.log([0.1, 0.1, 0.1, 0.7])  # "3.00"
    hook = kieval.for_token_classification(labels=TAGS, words=WORDS)
    predictions, _ = hook._read(evaluated_batch(logits))
    entities = predictions[0][0]["entities"]
    assert [(entity["value"], round(entity.get("confidence", -1), 6)) for entity in entities[:3]] == [
        ("Iced tea", 0.6),
        ("3.00", 0.7),
        ("!", -1),
    ]
    result = kieval.for_token_classification(labels=TAGS, words=WORDS, target_aligned=1.0)(evaluated(logits))
    assert result["operating_point/automation_rate"] == 1.0


def evaluated_batch(predictions, labels=LABELS, inputs=None):
    return SimpleNamespace(predictions=predictions, labels=labels, inputs=inputs)


@pytest.mark.parametrize(
    ("pieces", "labels", "words"),
    [
        # WordPiece, only first pieces labelled; a number in three pieces is one word
        ("<s> ice ##d tea 3 . 00 </s> <pad>", [-100, 1, -100, 2, 3, -100, -100, -100, -100], ["iced", "tea", "3.00"]),
        # WordPiece, all pieces labelled
        ("<s> ice ##d tea </s>", [-100, 1, 1, 2, -100], ["iced", "tea"]),
        # SentencePiece, first pieces and all pieces
        ("<s> ▁ice d ▁tea </s>", [-100, 1, -100, 2, -100], ["iced", "tea"]),
        ("<s> ▁ice d ▁tea </s>", [-100, 1, 1, 2, -100], ["iced", "tea"]),
        # a word without a label is not part of the one before it
        ("<s> ▁ice d ▁tea ▁pie", [-100, 1, -100, -100, 1], ["iced", "pie"]),
        # an unknown piece is text, and so is the same on both sides
        ("<s> ice <unk> tea", [-100, 1, -100, 2], ["ice<unk>", "tea"]),
    ],
)
def test_words_are_rebuilt_from_pieces(pieces, labels, words):
    tokenizer = FakeTokenizer(sorted(set(pieces.split()) - {"<s>", "</s>", "<pad>", "<unk>"}))
    ids = np.array(tokenizer.ids(pieces))
    assert rebuild_words(tokenizer, ids, np.array(labels) >= 0)[1] == words


@every_module
def test_words_from_ids_survive_any_order(name):
    metric = load(name, keep_in_memory=True)
    tokenizer = FakeTokenizer(["Iced", "tea", "3", ".00", "!", "Pie", "4.50"])
    ids = np.zeros_like(LABELS)
    ids[0] = tokenizer.ids("<s> Iced tea <pad> 3 ! Pie 4.50 </s>")
    ids[1, :4] = tokenizer.ids("<s> Pie 4.50 </s>")
    expected = metric.for_token_classification(labels=TAGS, words=[["Iced", "tea", "3", "!", "Pie", "4.50"], WORDS[1]])
    expected = expected(evaluated(WRONG))
    hook = metric.for_token_classification(labels=TAGS, words=tokenizer)
    other = [1, 0]
    for inputs in (ids[other], {"input_ids": ids[other], "bbox": None}):
        assert hook(evaluated(WRONG[other], LABELS[other], inputs)) == expected
    assert hook(evaluated(WRONG[other], (LABELS[other], ids[other]))) == expected
    looked_up = {tuple(tokenizer.ids("<s> Pie 4.50 </s>")): WORDS[1]}
    own = metric.for_token_classification(
        labels=TAGS, words=lambda row: looked_up.get(tuple(row[:4]), ["Iced", "tea", "3", "!", "Pie", "4.50"])
    )
    assert own(evaluated(WRONG[other], LABELS[other], ids[other])) == expected


def test_groups_open_where_a_type_repeats(kieval):
    hook = kieval.for_token_classification(labels=TAGS, words=WORDS, groups={"menu": ["item", "price"]})
    result = hook(evaluated(WRONG))
    # two lines in the first document, one in the second; the line without its price is wrong
    assert (result["group_recall"], result["true_positives"]) == (2 / 3, 5)


@pytest.mark.parametrize(
    ("options", "batch", "message"),
    [
        ({"labels": ["total"]}, None, "labels must be O, B-type or I-type"),
        ({"labels": {1: "O"}}, None, "labels must be numbered from 0"),
        ({"words": "tea"}, None, "words must be a tokenizer, a function .* got str"),
        ({"words": ["Iced", "tea"]}, None, "words must be a tokenizer"),
        ({"groups": {"menu": "item"}}, None, "groups: expected a name and a list"),
        ({"groups": {"menu": ["zzz"]}}, None, "no label has the type 'zzz'; there are item, price"),
        ({"per_document": True}, None, "per_document gives a list"),
        ({"prefix": 3}, None, "prefix must be a text"),
        ({"per_typ": True}, None, "Kieval has no option 'per_typ'"),
        ({"words": WORDS[:1]}, (WRONG, LABELS), "words has 1 documents and more were evaluated"),
        ({"words": WORDS * 2}, (WRONG, LABELS), "words has 4 documents, 2 were evaluated"),
        ({"words": FakeTokenizer([])}, (WRONG, LABELS), 'set label_names=."labels", "input_ids".'),
        ({"words": FakeTokenizer([])}, (WRONG, LABELS, LABELS[:1]), "gathers no inputs of other processes"),
        ({}, (WRONG[:, :3], LABELS), "expected a label for each token"),
        ({}, (WRONG.astype(float), LABELS), r"expected logits \(documents, tokens, labels\)"),
        ({}, (WRONG + 7, LABELS), r"predictions\[0\]: \d+ is no label: there are 4"),
        ({}, (WRONG, None), "there are no labels"),
        ({"thresholds": [0.5]}, (WRONG, LABELS), r"predictions\[0\]: 'item' 'Iced tea' has no confidence"),
    ],
)
def test_wrong_use_is_a_clear_error(kieval, options, batch, message):
    with pytest.raises(ValueError, match=message):
        kieval.for_token_classification(**{"labels": TAGS, "words": WORDS, **options})(batch)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"])), max_size=8))
def test_tagged_words_are_the_document_that_tagged_tokens_are(pairs):
    words, tags = [word for word, _ in pairs], [tag for _, tag in pairs]
    expected = normalise({"tokens": words, "tags": tags})
    assert tag_document(words, tags) == expected


# Answers

DOCUMENT = {"menu": [{"name": "Iced tea", "price": "3.00"}, {"name": "Pie"}], "store": {"city": "Ulm"}, "total": "7"}
DONUT = (
    "<s_menu><s_name>Iced tea</s_name><s_price>3.00</s_price><sep/><s_name>Pie</s_name></s_menu>"
    "<s_store><s_city> Ulm </s_city></s_store><s_total>7</s_total>"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DONUT, DOCUMENT),
        ("<s_cord-v2>" + DONUT, DOCUMENT),
        ("<s_tags>x<sep/>y</s_tags>", {"tags": ["x", "y"]}),
        ("<s_tags>x</s_tags><s_tags>y</s_tags>", {"tags": ["x", "y"]}),
        ("<s_paid><yes/></s_paid>", {"paid": "yes"}),
        ("<s_menu></s_menu>", {"menu": ""}),
        (json.dumps(DOCUMENT), DOCUMENT),
        ("Here:\n```json\n" + json.dumps(DOCUMENT) + "\n```", DOCUMENT),
    ],
)
def test_answers_are_parsed(text, expected):
    assert parse_answer(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<s_menu><s_name>Iced tea", "<s_name> is not closed"),
        ("<s_menu>x</s_name>", "</s_name> closes nothing"),
        ("x</s_name>", "</s_name> closes nothing"),
        ("<s_menu>x<s_name>y</s_name></s_menu>", "text beside tags: 'x'"),
        ("<s_menu><s_name>y</s_name>x</s_menu>", "text beside tags: 'x'"),
        ("<s_a>" * 2000 + "</s_a>" * 2000, "nested deeper than"),
        ("the total is 3", "no JSON object"),
        ("", "no JSON object"),
    ],
)
def test_broken_answers_are_errors(text, message):
    with pytest.raises(DocumentError, match=message):
        parse_answer(text)
    with pytest.raises(DocumentError, match=message):
        answer_with_confidence(text, lambda start, end: 1.0)


@pytest.mark.parametrize(
    "text",
    [
        DONUT,
        json.dumps(DOCUMENT),
        'The "total" of 7: ' + json.dumps(DOCUMENT) + ' "so"',
        json.dumps(to_arrow([DOCUMENT]).to_pylist()[0]).replace(', "confidence": null', ""),
        '[["menu.name", "Iced tea"], ["n", 3], ["b", true], ["empty", null], ["date", "1 \\"x\\""]]',
        '{"tokens": ["Iced", "tea"], "tags": ["B-name", "I-name"]}',
    ],
)
def test_confidence_is_that_of_the_characters_of_the_value(text):
    """The characters are kept by a probability that remembers them."""
    asked = []

    def probability(start, end):
        asked.append(text[start:end])
        return len(asked) / 1000

    document = answer_with_confidence(text, probability)
    assert [[*map(strip_confidence, group["entities"])] for group in document] == [
        group["entities"] for group in normalise(parse_answer(text))
    ]
    for group in document:
        for entity in group["entities"]:
            characters = asked[round(entity["confidence"] * 1000) - 1]
            written = json.dumps(entity["value"])[1:-1]
            assert characters in (written, f'"{written}"', text) or (entity["value"], characters) == ("", "null")


def strip_confidence(entity):
    return {key: value for key, value in entity.items() if key != "confidence"}


def test_own_confidence_of_an_answer_is_kept():
    text = '[{"type": "total", "value": "3", "confidence": 0.25}]'
    assert answer_with_confidence(text, lambda start, end: 1.0)[0]["entities"][0]["confidence"] == 0.25


# Generation

TOKENIZER = FakeTokenizer(
    ["<s_total>", "</s_total>", "<s_name>", "</s_name>", "<s_task>", "ice", "##d", "tea", "3", "4"]
)
TOTAL = "<s_task> <s_total> {} </s_total> <s_name> ice ##d tea </s_name> </s>"


def rows(*texts, width=14):
    """Ids of texts, padded as the Trainer pads them."""
    ids = np.full((len(texts), width), -100)
    for row, text in zip(ids, texts, strict=True):
        found = TOKENIZER.ids(text)
        row[: len(found)] = found
    return ids


LABEL_IDS = rows(TOTAL.format("3"), TOTAL.format("3"), TOTAL.format("4"), width=12)
GENERATED = rows(TOTAL.format("3") + " <pad>", TOTAL.format("4"), "<s_task> <s_total> 4 <pad> </s>")


@every_module
def test_generated_answers_score_as_documents_do(name):
    metric = load(name, keep_in_memory=True)
    predictions = [{"total": "3", "name": "iced tea"}, {"total": "4", "name": "iced tea"}, "broken"]
    references = [{"total": total, "name": "iced tea"} for total in "334"]
    expected = metric.compute(predictions=predictions, references=references, on_invalid="empty")
    result = metric.for_generation(TOKENIZER)(evaluated(GENERATED, LABEL_IDS))
    assert result == numbers_of(expected)
    assert result["invalid_predictions"] == 1
    processor = SimpleNamespace(tokenizer=TOKENIZER)
    hook = metric.for_generation(processor, prefix="my_", per_type=True)
    assert hook(evaluated(GENERATED[:1], LABEL_IDS[:1]), compute_result=False) == {}
    result = hook(evaluated((GENERATED[1:],), LABEL_IDS[1:]), compute_result=True)
    assert {name: result[f"my_{name}"] for name in numbers_of(expected)} == numbers_of(expected)
    assert all(isinstance(value, int | float) for value in result.values())


def test_documents_that_several_processes_repeat_count_once(kieval, monkeypatch):
    expected = kieval.for_generation(TOKENIZER)(evaluated(GENERATED, LABEL_IDS))
    repeated = [0, 1, 2, 0, 1]
    hook = kieval.for_generation(TOKENIZER, documents=3)
    assert hook(evaluated(GENERATED[repeated], LABEL_IDS[repeated])) == expected
    assert hook(evaluated(GENERATED[:2], LABEL_IDS[:2]), compute_result=False) == {}
    assert hook(evaluated(GENERATED[[2, 0]], LABEL_IDS[[2, 0]]), compute_result=True) == expected
    with pytest.raises(ValueError, match="documents is 3, 2 were evaluated"):
        hook(evaluated(GENERATED[:2], LABEL_IDS[:2]))
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.warns(UserWarning, match="give for_generation the number of documents"):
        kieval.for_generation(TOKENIZER)(evaluated(GENERATED, LABEL_IDS))


def test_names_of_types_are_paths(kieval):
    result = kieval.for_generation(TOKENIZER, per_type=True, prefix="a_")(evaluated(GENERATED, LABEL_IDS))
    # totals: 1 of 3 right, 1 to substitute, 1 to add
    assert result["a_per_type/total/aligned"] == 1 / 3


def test_unparsable_answer_can_be_an_error(kieval):
    hook = kieval.for_generation(TOKENIZER, on_invalid="raise")
    with pytest.raises(ValueError, match=r"predictions\[2\]: <s_total> is not closed|no JSON"):
        hook(evaluated(GENERATED, LABEL_IDS))


def test_own_parse_gives_a_document_or_a_text(kieval):
    read_total = {
        "total": lambda text: {"total": text.split()[2]},
        "json": lambda text: json.dumps({"total": text.split()[2]}),
    }
    for parse in read_total.values():
        result = kieval.for_generation(TOKENIZER, parse=parse)(evaluated(GENERATED, LABEL_IDS))
        # 3, 4, 4 against 3, 3, 4
        assert (result["true_positives"], result["substitutions"]) == (2, 1)

    def fail(text):
        if "</s_total>" not in text:
            raise ValueError("no total")
        return {"total": text.split()[2]}

    result = kieval.for_generation(TOKENIZER, parse=fail)(evaluated(GENERATED, LABEL_IDS))
    assert (result["invalid_predictions"], result["true_positives"]) == (1, 1)
    nothing = kieval.for_generation(TOKENIZER, parse=lambda text: None if "4" in text else {"total": "3"})
    with pytest.raises(ValueError, match=r"references\[2\]: parse found no document"):
        nothing(evaluated(GENERATED, LABEL_IDS))


@pytest.mark.parametrize("parse", [None, lambda text: text.replace("<s_task>", "").strip()])
def test_confidence_is_that_of_the_least_sure_token(kieval, parse):
    ids = rows(TOTAL.format("3"), width=12)
    # <s_task> has no score; then <s_total> 3 </s_total> <s_name> ice ##d tea </s_name> </s> and padding
    scores = np.log([[0.1, 0.9, 0.2, 0.3, 0.8, 0.5, 0.7, 0.4, 0.1, 1, 1]])
    scores[0, 9:] = -100.0
    hook = kieval.for_generation(TOKENIZER, parse=parse)
    (prediction,), _ = hook._read(evaluated_batch((ids, scores), LABEL_IDS[:1]))
    entities = {entity["value"]: round(entity["confidence"], 6) for entity in prediction[0]["entities"]}
    assert entities == {"3": 0.9, "iced tea": 0.5}
    result = kieval.for_generation(TOKENIZER, target_aligned=1.0)(evaluated((ids, scores), LABEL_IDS[:1]))
    assert result["operating_point/automation_rate"] == 1.0


def test_document_of_own_parse_has_the_confidence_of_the_whole_answer(kieval):
    ids = rows(TOTAL.format("3"), width=10)
    hook = kieval.for_generation(TOKENIZER, parse=lambda text: {"total": "3"})
    scores = np.log(np.linspace(0.3, 0.9, 10))[None]
    (prediction,), _ = hook._read(evaluated_batch((ids, scores), LABEL_IDS[:1]))
    assert prediction[0]["entities"][0]["confidence"] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("arguments", "batch", "message"),
    [
        ({"tokenizer": "donut"}, None, "expected a tokenizer or a processor that has one, got str"),
        ({"parse": "json"}, None, "parse must be a function"),
        ({"documents": "3"}, None, "documents must be the number of documents"),
        ({"on_invalid": "skip"}, None, "on_invalid must be 'raise' or 'empty'"),
        ({}, (np.zeros((1, 3, 9)), LABEL_IDS[:1]), "use the Seq2SeqTrainer with predict_with_generate=True"),
        ({}, (GENERATED[:1], GENERATED[2:]), r"references\[0\]: "),
        ({}, (GENERATED, LABEL_IDS[:1]), "3 answers were generated for 1 labels"),
        ({}, ((GENERATED, np.full((3, 14), 0.5)), LABEL_IDS), "scores must be log-probabilities"),
        ({}, ((GENERATED, np.full((3, 20), -0.5)), LABEL_IDS), "expected a score for each generated id"),
    ],
)
def test_wrong_generation_is_a_clear_error(kieval, arguments, batch, message):
    with pytest.raises(ValueError, match=message):
        kieval.for_generation(**{"tokenizer": TOKENIZER, **arguments})(batch)
