"""The page of the field evaluation: its examples, options and words."""

from pathlib import Path

from space.page_options import Option
from space.widget import Example, Page

INVOICE = {
    "DOCUMENT_TYPE": "tax invoice",
    "BUSINESS_ABN": "51 824 753 556",
    "SUPPLIER_NAME": "Harbour Tools Pty Ltd",
    "INVOICE_DATE": "16/07/2025",
    "LINE_ITEM_DESCRIPTIONS": "Hammer | Nails | Level",
    "LINE_ITEM_QUANTITIES": "2 | 3 | 1",
    "LINE_ITEM_PRICES": "24.00 | 6.50 | 31.00",
    "GST_AMOUNT": "$8.95",
    "TOTAL_AMOUNT": "$98.50",
}
ANSWER = {
    "DOCUMENT_TYPE": "invoice",
    "BUSINESS_ABN": "ABN: 51824753556",
    "SUPPLIER_NAME": "Harbour Tool Pty Ltd",
    "INVOICE_DATE": "16-Jul-25",
    "LINE_ITEM_DESCRIPTIONS": "Hammer | Level | Nails",
    "LINE_ITEM_QUANTITIES": "2 | 1 | 3",
    "LINE_ITEM_PRICES": "24.00 | 31.00 | 6.50",
    "GST_AMOUNT": "NOT_FOUND",
    "TOTAL_AMOUNT": "89.50",
}

EXAMPLES = [
    Example(
        "An invoice",
        "Date and ABN are right in another form, a name with a slip gets partial credit, the tax was not found, "
        "the total has two digits swapped. The line items are right in another order: choose the strategy rows.",
        ANSWER,
        INVOICE,
        {"schema": "business_documents"},
    ),
    Example(
        "Items in another order",
        "By position only one item of three is at its place: accuracy 1/3. In any order all are right.",
        {"items": "b | a | c"},
        {"items": "a | b | c"},
        {"strategy": "position"},
    ),
    Example(
        "One item too many",
        "Three items right of four given and three expected: F1 is 6/7.",
        {"items": ["a", "b", "c", "d"]},
        {"items": ["a", "b", "c"]},
    ),
    Example(
        "Dates in the wrong rows",
        "A trap for any_order: every value is there, so each field is right alone, and two of three rows are wrong. "
        "The strategy rows sees it.",
        {
            "row": [
                {"what": "rent", "date": "2 May"},
                {"what": "power", "date": "1 May"},
                {"what": "water", "date": "3 May"},
            ]
        },
        {
            "row": [
                {"what": "rent", "date": "1 May"},
                {"what": "power", "date": "2 May"},
                {"what": "water", "date": "3 May"},
            ]
        },
        {"strategy": "rows"},
    ),
    Example(
        "Right, but written otherwise",
        "A trap: without a schema texts are compared exactly, and a right answer scores 0. "
        "Write total: money and date: date into the schema, a line each.",
        {"total": "$7.50", "date": "16-Jul-25"},
        {"total": "7.5", "date": "16/07/2025"},
    ),
]

PAGE = Page(
    script=Path(__file__).with_name("entity_f1.py"),
    title="Entity F1",
    question="Is the value of every field right, compared by its type? Is the system ready for use?",
    about="Dates are compared as dates, amounts as amounts, lists item by item; a document scores its fields' mean.",
    sources={"The strategy correction: Khang et al., ICDAR 2025": "https://arxiv.org/abs/2503.05488"},
    scores={
        "accuracy": "The mean over documents of the mean of their fields.",
        "readiness": "What the accuracy means: deploy from 0.9, pilot from 0.8, optimise from 0.7.",
        "field_accuracy": "The mean over fields: a rare field weighs as much as a frequent one.",
        "micro_f1": "All items of all fields, pooled.",
        "macro_f1": "The mean of the F1 of every field.",
        "field_coverage": "The share of the expected fields that were given any value.",
    },
    examples=EXAMPLES,
    options=[
        Option(
            "strategy",
            "strategy: how a list scores",
            "At its position, in any order, as rows of several fields, or by the corrections a person makes.",
            default="position",
            choices=("position", "any_order", "rows", "correction"),
        ),
        Option("separator", "separator: what stands between the items of a list", default=" | "),
        Option("absent", "absent: the text of a value that is not there", default="NOT_FOUND"),
        Option(
            "match_threshold",
            "match_threshold: a field that scores more is matched",
            default=0.9,
            range=(0, 1, 0.05),
        ),
    ],
    about_csv="a row for each document, a column for each field; a cell may hold a list, or NOT_FOUND (see Options).",
)

if __name__ == "__main__":
    PAGE.launch()
