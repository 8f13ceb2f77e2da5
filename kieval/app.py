"""The page of KIEval: its examples, options and words."""

from pathlib import Path

from space.charts import line_chart
from space.drawing import draw_section
from space.page_options import Option
from space.widget import Example, Page

ROWS = [
    {"name": "CHOCO PUFF", "price": "29,091"},
    {"name": "BLACK PEPPER", "price": "27,273"},
    {"name": "LIPTON PITCHER", "price": "54,545"},
    {"name": "MINERAL", "price": "10,000"},
    {"name": "FRIES", "price": "21,818"},
    {"name": "RICE", "price": "8,182"},
]
SURE = [
    {"type": "company", "value": "TOKO MELATI", "confidence": 0.99},
    {"type": "date", "value": "16/07/2025", "confidence": 0.97},
    {"type": "cashier", "value": "A. Putri", "confidence": 0.91},
    {"type": "address", "value": "Jl. Sudirman 21", "confidence": 0.84},
    {"type": "tax", "value": "8,535", "confidence": 0.62},
    {"type": "total", "value": "93,900", "confidence": 0.95},
    {"type": "change", "value": "6,700", "confidence": 0.41},
]
SURE_REFERENCE = {
    "company": "TOKO MELATI",
    "date": "16/07/2025",
    "cashier": "A. Putri",
    "address": "Jl. Sudirman 21",
    "tax": "8,536",
    "total": "93,900",
    "change": "6,100",
}

EXAMPLES = [
    Example(
        "Missing price, split row",
        "Figure 2 of the paper: one price is missing, and one line item was split in two. 11 of 12 values were read, "
        "so flat_entity_f1 is high; three corrections are due.",
        {"menu": [ROWS[0], {"name": "BLACK PEPPER"}, {"name": "LIPTON PITCHER"}, {"price": "54,545"}, *ROWS[3:]]},
        {"menu": ROWS},
    ),
    Example(
        "A wrong value",
        "Figure 3: a wrong value counts twice in F1, as a false positive and a false negative. A person corrects it "
        "once: aligned is the same as for a missing or a superfluous value.",
        {"row": [{"a": "1", "b": "3"}]},
        {"row": [{"a": "1", "b": "2"}]},
    ),
    Example(
        "Scrambled rows",
        "Figure 5: every value was read right, and two of three stand in a wrong row. The conventional F1 is perfect.",
        {
            "row": [
                {"x": "a1", "y": "b2", "z": "c3"},
                {"x": "a2", "y": "b3", "z": "c1"},
                {"x": "a3", "y": "b1", "z": "c2"},
            ]
        },
        {
            "row": [
                {"x": "a1", "y": "b1", "z": "c1"},
                {"x": "a2", "y": "b2", "z": "c2"},
                {"x": "a3", "y": "b3", "z": "c3"},
            ]
        },
    ),
    Example(
        "Right, but written otherwise",
        "A trap: the answer is right and scores 0, because texts are compared exactly. "
        "Write total: money and date: date into the schema, a line each.",
        {"total": "$7.50", "date": "16-Jul-25"},
        {"total": "7.5", "date": "16/07/2025"},
    ),
    Example(
        "How much can be automated?",
        "Every predicted entity has a confidence. A person reviews those below a threshold; the curve shows what "
        "is left to automation and how good it is.",
        SURE,
        SURE_REFERENCE,
        {"target_aligned": 0.98},
    ),
]


def draw_curve(result, options):
    points = sorted(result.get("curve", ()), key=lambda point: point["threshold"])
    if not points:
        return ""
    best, target = result.get("operating_point"), options.get("target_aligned")
    chart = line_chart(
        [(point["automation_rate"], point["aligned"]) for point in points],
        x_label="automation rate",
        y_label="aligned",
        description="aligned against automation rate",
        marked=best and (best["automation_rate"], best["aligned"]),
        level=target,
    )
    return draw_section("Quality and automation", chart, _describe(best, target))


def _describe(best, target):
    if target is None:
        return "The higher the threshold of the confidence, the more a person reviews: from right to left."
    if best is None:
        return f"No threshold of the confidence reaches aligned {target:g}."
    return (
        f"Ringed, the operating point: review predictions with a confidence below {best['threshold']:g}; "
        f"{best['automation_rate']:.0%} need no review, and aligned is {best['aligned']:.3f}."
    )


PAGE = Page(
    script=Path(__file__).with_name("kieval.py"),
    title="KIEval",
    question="How many corrections would a person make, line items included? What can be automated?",
    about="Groups of entities are paired first; an entity counts only inside its pair.",
    sources={"Khang et al., ICDAR 2025": "https://arxiv.org/abs/2503.05488"},
    scores={
        "aligned": "The share of the result that nobody needs to correct.",
        "corrections": "Values to replace, add or delete.",
        "entity_f1": "Entities that are right and in the right group.",
        "group_f1": "Groups (line items) that are right in every entity.",
        "flat_entity_f1": "The conventional F1, which ignores groups.",
        "document_accuracy": "The share of documents without any correction.",
    },
    examples=EXAMPLES,
    options=[
        Option(
            "thresholds",
            "thresholds: which predictions a person reviews",
            "Confidences such as [0.5, 0.9], or auto for all; draws the automation curve. "
            "Every predicted entity needs a confidence.",
        ),
        Option(
            "target_aligned",
            "target_aligned: quality to reach by review",
            "Such as 0.98; marks the threshold that reaches it with the least review.",
        ),
        Option("keep_empty_groups", "keep_empty_groups: count groups without entities", default=False),
    ],
    draw_extra=draw_curve,
)

if __name__ == "__main__":
    PAGE.launch()
