"""What the notes of the pages' examples claim is so."""

import pytest
from helpers import load
from pages import PAGES, read_page

from metrics.widget import write_document

TYPED = {"total": "money", "date": "date"}
# page, example, options beside its own, score, value
CLAIMS = [
    ("kieval", "Missing price, split row", {}, "flat_entity_f1", 2 * 11 / (11 + 12)),
    ("kieval", "Missing price, split row", {}, "corrections", 3),
    ("kieval", "A wrong value", {}, "aligned", 1 / 2),
    ("kieval", "Scrambled rows", {}, "flat_entity_f1", 1),
    ("kieval", "Scrambled rows", {}, "entity_f1", 1 / 3),
    ("kieval", "Right, but written otherwise", {}, "aligned", 0),
    ("kieval", "Right, but written otherwise", {"schema": TYPED}, "aligned", 1),
    # the name lacks 1 of 11 characters, the date differs in 3 of 12, the place costs 1, the occupation 0
    ("oinerval", "Slips of reading", {}, "oiecer", (1 / 11 + 3 / 12 + 1 + 0) / 4),
    ("oinerval", "Another reading order", {}, "oiecer", 0),
    ("oinerval", "Another reading order", {}, "ecer", 1),
    ("oinerval", "Invented entities", {}, "oiecer", 7 / 2),
    # "Dubois" lacks 5 of the 11 characters of "Jean Dubois"
    ("oinerval", "Split name", {}, "oinerval_recall", 1),
    ("oinerval", "Split name", {"threshold": 0.45}, "oinerval_recall", 3 / 4),
    ("oinerval", "Tagged words (IOB2)", {}, "nerval_f1", 2 * 2 / (2 + 3)),
    ("bag_of_entities", "Wrong boundaries", {}, "beer", (abs(4 - 5) + 3) / (2 * 4)),
    ("bag_of_entities", "Wrong boundaries", {}, "btwer", 0),
    ("bag_of_entities", "Wrong categories", {}, "bwer", 0),
    ("bag_of_entities", "Wrong categories", {}, "btwer", 3 / 7),
    ("bag_of_entities", "Wrong words", {}, "beer", 2 / 4),
    ("bag_of_entities", "Wrong words", {}, "bwer", 2 / 7),
    ("bag_of_entities", "Right, in another order", {}, "beer", 0),
    ("bag_of_entities", "Capitals", {}, "be_f1", 0),
    ("bag_of_entities", "Capitals", {"normalize": "casefold"}, "beer", 0),
    ("entity_f1", "Items in another order", {}, "accuracy", 1 / 3),
    ("entity_f1", "Items in another order", {"strategy": "any_order"}, "accuracy", 1),
    ("entity_f1", "One item too many", {}, "accuracy", 6 / 7),
    ("entity_f1", "Dates in the wrong rows", {}, "accuracy", 1 / 3),
    ("entity_f1", "Dates in the wrong rows", {"strategy": "any_order"}, "accuracy", 1),
    ("entity_f1", "Right, but written otherwise", {}, "accuracy", 0),
    ("entity_f1", "Right, but written otherwise", {"schema": TYPED}, "accuracy", 1),
    ("vrdu_f1", "An ad-buy form", {}, "hierarchical_f1", 2 / 3),
    # registrant is right, file_date is not; the second registrant is not counted
    ("vrdu_f1", "Two answers to one question", {}, "micro_precision", 1 / 2),
    ("vrdu_f1", "Repeated names", {}, "micro_precision", 2 / 3),
    ("vrdu_f1", "Components without groups", {}, "hierarchical_f1", 1 / 2),
    ("vrdu_f1", "Components without groups", {"groups": None}, "micro_f1", 0),
]


@pytest.mark.parametrize(("name", "title", "options", "score", "value"), CLAIMS)
def test_claim_of_a_note(name, title, options, score, value):
    example = next(example for example in read_page(name).examples if example.title == title)
    documents = {
        "predictions": [write_document(example.prediction)],
        "references": [write_document(example.reference)],
    }
    result = load(name, keep_in_memory=True).compute(**documents, **example.options | options)
    assert result[score] == pytest.approx(value)


def test_strategy_rows_helps_the_invoice_as_its_note_says():
    page, metric = read_page("entity_f1"), load("entity_f1", keep_in_memory=True)
    invoice = page.examples[0]
    documents = {"predictions": [invoice.prediction], "references": [invoice.reference]}
    by_position, by_rows = (
        metric.compute(**documents, **invoice.options, strategy=strategy, per_type=True)["per_type"]
        for strategy in ("position", "rows")
    )
    # three items, two of them swapped
    assert by_position["LINE_ITEM_DESCRIPTIONS"]["accuracy"] == pytest.approx(1 / 3)
    assert by_rows["LINE_ITEM_DESCRIPTIONS"]["accuracy"] == 1


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_distinct_examples_and_one_that_goes_wrong(name):
    examples = read_page(name).examples
    assert len({example.title for example in examples}) == len(examples) >= 4
    assert any("trap" in example.note for example in examples)
