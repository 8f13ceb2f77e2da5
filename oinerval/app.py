"""The page of OINerval: its examples, options and words."""

from pathlib import Path

from space.charts import line_chart
from space.drawing import draw_section
from space.page_options import Option
from space.widget import Example, Page

DEFAULT_THRESHOLD = 0.3
SWEEP = [step / 20 for step in range(21)]

RECORD = [["name", "Jean Dubois"], ["date", "12 mars 1871"], ["place", "Lyon"], ["occupation", "tisserand"]]
TOKENS = ["Jean", "Dubois", "est", "né", "le", "12", "mars", "à", "Lyon"]
TAGS = ["B-name", "I-name", "O", "O", "O", "B-date", "I-date", "O", "B-place"]

EXAMPLES = [
    Example(
        "Slips of reading",
        "A letter is lost in the name, the date is misread, the place has the wrong category: near values cost their "
        "character error rate, a wrong category costs a whole entity and is an error in both categories below.",
        [["name", "Jean Duboi"], ["date", "12 mai 1877"], ["occupation", "Lyon"], ["occupation", "tisserand"]],
        RECORD,
    ),
    Example(
        "Another reading order",
        "A page with two columns has no single right order. Here nothing is wrong but the order: the order-dependent "
        "ecer and ewer punish it, the scores in any order do not.",
        [RECORD[2], RECORD[3], RECORD[0], RECORD[1]],
        RECORD,
        {"order_dependent": True},
    ),
    Example(
        "Invented entities",
        "An error rate is not a share: whoever invents more than there is gets more than 1.",
        [*RECORD, ["name", "Marie"], ["name", "Paul"], ["date", "1900"], ["place", "Paris"], ["place", "Nice"]],
        RECORD[:2],
    ),
    Example(
        "Split name",
        "A trap: every letter was read, and the name was cut in two. One half finds no partner, the other lacks "
        "almost half of the letters. Move the threshold to see when it counts as found.",
        [["name", "Jean"], ["name", "Dubois"], *RECORD[1:]],
        RECORD,
        {"threshold": 0.5},
    ),
    Example(
        "Tagged words (IOB2)",
        "With all words of a text, tagged or not, Nerval and the error rates of the whole text are known too.",
        {"tokens": ["Jean", "Duboi", "né", "le", "12", "mars", "à", "Lyon"],
         "tags": ["B-name", "I-name", "O", "O", "B-date", "I-date", "O", "O"]},
        {"tokens": TOKENS, "tags": TAGS},
        {"order_dependent": True},
    ),
]  # fmt: skip


def sweep(options):
    """All thresholds, the chosen one first: it is that of the scores."""
    chosen = options.get("threshold", DEFAULT_THRESHOLD)
    return {"threshold": [chosen, *(threshold for threshold in SWEEP if threshold != chosen)]}


def draw_sweep(result, options):
    points = sorted((point["threshold"], point["oinerval_f1"]) for point in result["curve"])
    chosen = options.get("threshold", DEFAULT_THRESHOLD)
    chart = line_chart(
        points,
        x_label="threshold (character error rate)",
        y_label="oinerval_f1",
        description="OINerval F1 against the threshold",
        marked=(chosen, result["oinerval_f1"]),
    )
    note = f"A pair counts as found where its character error rate is at most the threshold; ringed: {chosen:g}."
    return draw_section("How near is near enough?", chart, note)


PAGE = Page(
    script=Path(__file__).with_name("oinerval.py"),
    title="OINerval",
    question="How wrong are text and category of the extracted entities, whatever the reading order?",
    about="Entities of a document are assigned to each other, one to one, so that the error is least.",
    sources={"Villanova-Aparisi et al., ICDAR 2024": "https://arxiv.org/abs/2404.18664"},
    scores={
        "oiecer": "Character error rate of the entities in any order. 0 is best; it can exceed 1.",
        "oiewer": "The same with words: one wrong letter makes a word wrong.",
        "oinerval_f1": "Entities found, where a value may differ a little (threshold).",
        "oinerval_precision": "The share of the predicted entities that are found in the reference.",
        "oinerval_recall": "The share of the reference entities that were predicted.",
        "ecer": "Character error rate in reading order.",
        "ewer": "Word error rate in reading order.",
        "nerval_f1": "Entities found where the two texts are aligned by character.",
        "cer": "Character error rate of the whole text.",
        "wer": "Word error rate of the whole text.",
    },
    examples=EXAMPLES,
    options=[
        Option(
            "threshold",
            "threshold: how far a value may be off",
            "The largest character error rate of a pair that counts as found.",
            default=DEFAULT_THRESHOLD,
            range=(0, 1, 0.05),
        ),
        Option("order_dependent", "order_dependent: also the scores that depend on reading order", default=False),
        Option("normalize", "normalize: forms of the text", 'Such as casefold, or several: ["nfkc", "casefold"].'),
    ],
    extra_options=sweep,
    draw_extra=draw_sweep,
)

if __name__ == "__main__":
    PAGE.launch()
