"""The page of VRDU F1: its examples, options and words."""

from pathlib import Path

from space.page_options import Option
from space.widget import Example, Page

DATE = {"type": "date", "dayfirst": False}
SCHEMA = {"flight_*": DATE, "*.date": DATE, "*amount": "money", "advertiser": "string"}
SPOTS = [
    {"channel": "WABC", "date": "10/05/2020", "sub_amount": "$1,200.00"},
    {"channel": "WNBC", "date": "10/06/2020", "sub_amount": "$950.00"},
    {"channel": "WCBS", "date": "10/07/2020", "sub_amount": "$1,100.00"},
]

EXAMPLES = [
    Example(
        "An ad-buy form",
        "Line items are hierarchical entities: a wrong amount makes the second one wrong as a whole. Dates and amounts "
        "are compared by type; the start of the flight is missing.",
        {
            "advertiser": "Friends of Ann Lee",
            "gross_amount": "3250",
            "flight_to": "11 Oct 2020",
            "line_item": [SPOTS[0], SPOTS[1] | {"sub_amount": "$905.00"}, SPOTS[2] | {"date": "7 October 2020"}],
        },
        {
            "advertiser": "FRIENDS OF ANN LEE",
            "gross_amount": "$3,250.00",
            "flight_from": "10/05/2020",
            "flight_to": "10/11/2020",
            "line_item": SPOTS,
        },
        {"schema": SCHEMA},
    ),
    Example(
        "Two answers to one question",
        "An unrepeated name keeps one prediction, the most confident; the other is not counted. Of several reference "
        "values any may match.",
        [
            {"type": "registrant", "value": "Smith & Co", "confidence": 0.4},
            {"type": "registrant", "value": "Smith and Company", "confidence": 0.9},
            {"type": "file_date", "value": "1 May 2020", "confidence": 0.8},
        ],
        [["registrant", "Smith and Company"], ["registrant", "Smith & Company"], ["file_date", "2 May 2020"]],
    ),
    Example(
        "Repeated names",
        "Names in repeated count every value, one to one: a prediction that stands twice satisfies one reference.",
        {"signer": ["Ann Lee", "Ann Lee", "Bo Chen"]},
        {"signer": ["Ann Lee", "Bo Chen", "Cy Diaz"]},
        {"repeated": ["signer"]},
    ),
    Example(
        "Components without groups",
        "A trap: a model that tags words returns components without their groups, and none would be right. With "
        "groups they are put together where a name repeats: the first spot is right, the second is not.",
        [["spot.channel", "WABC"], ["spot.amount", "$1"], ["spot.channel", "WNBC"], ["spot.amount", "$3"]],
        {"spot": [{"channel": "WABC", "amount": "$1"}, {"channel": "WNBC", "amount": "$2"}]},
        {"groups": {"spot": ["spot.channel", "spot.amount"]}},
    ),
]

PAGE = Page(
    script=Path(__file__).with_name("vrdu_f1.py"),
    title="VRDU F1",
    question="What would the VRDU benchmark report for unrepeated, repeated and hierarchical entities?",
    about="Values are compared by type; a hierarchical entity, such as a line item, is right when all of it is.",
    sources={"Wang et al., KDD 2023": "https://arxiv.org/abs/2211.15421"},
    scores={
        "micro_f1": "All entities pooled; a hierarchical one counts once.",
        "macro_f1": "The mean over entity names: a rare name weighs as much as a frequent one.",
        "unrepeated_f1": "Names that occur once in a document.",
        "hierarchical_f1": "Groups, such as line items, that are right as a whole.",
        "micro_precision": "The share of what was predicted that is right.",
        "micro_recall": "The share of what was to be found that was found.",
    },
    examples=EXAMPLES,
    options=[
        Option("repeated", "repeated: names that occur several times", 'A JSON list, such as ["signer"].'),
        Option(
            "groups",
            "groups: components of hierarchical entities",
            'A JSON mapping, such as {"item": ["item.name", "item.price"]}.',
        ),
    ],
)

if __name__ == "__main__":
    PAGE.launch()
