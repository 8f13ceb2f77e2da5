"""The page of bag of entities: its examples, options and words."""

from pathlib import Path

from space.drawing import draw_section
from space.markup import escape, number
from space.page_options import Option
from space.widget import Example, Page

RECORD = [["name", "Jean Dubois"], ["date", "12 mars 1871"], ["place", "Lyon"], ["occupation", "tisserand"]]

EXAMPLES = [
    Example(
        "Wrong boundaries",
        "All words and their categories are right, and the name was cut in two: beer is high, btwer and bwer are 0.",
        [["name", "Jean"], ["name", "Dubois"], *RECORD[1:]],
        RECORD,
    ),
    Example(
        "Wrong categories",
        "All words were found, name and place under each other's category: bwer, which ignores categories, is 0.",
        [["place", "Jean Dubois"], ["date", "12 mars 1871"], ["name", "Lyon"], ["occupation", "tisserand"]],
        RECORD,
    ),
    Example(
        "Wrong words",
        "Two words were misread: all three rates see it, and the rate of whole entities most.",
        [["name", "Jean Duboi"], ["date", "12 mai 1871"], ["place", "Lyon"], ["occupation", "tisserand"]],
        RECORD,
    ),
    Example(
        "Right, in another order",
        "Bags have no order: nothing is wrong here.",
        [RECORD[2], RECORD[3], RECORD[0], RECORD[1]],
        RECORD,
    ),
    Example(
        "Capitals",
        "A trap: only capitals differ, and no entity matches. Write casefold into normalize.",
        [[name, value.upper()] for name, value in RECORD],
        RECORD,
    ),
    Example(
        "Tagged words (IOB2)",
        "Only tagged words count; here the second word of the name has lost its tag.",
        {"tokens": ["Jean", "Dubois", "de", "Lyon"], "tags": ["B-name", "O", "O", "B-place"]},
        {"tokens": ["Jean", "Dubois", "de", "Lyon"], "tags": ["B-name", "I-name", "O", "B-place"]},
    ),
]

BAGS = {"be": ("entities", "beer"), "bt": ("words with their category", "btwer"), "b": ("words alone", "bwer")}


def draw_bags(result, options):
    """The three bags beside each other: where they part tells what went wrong."""
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("bag of", "error rate", "precision", "recall", "F1"))
    rows = "".join(_bag_row(result, *bag) for bag in BAGS.items())
    note = (
        "Entities wrong and words right: boundaries. Words with categories wrong and words alone right: categories. "
        "All wrong: the words."
    )
    return draw_section("Three bags", f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>", note)


def _bag_row(result, bag, named):
    name, rate = named
    values = [result[rate], *(result[f"{bag}_{score}"] for score in ("precision", "recall", "f1"))]
    cells = "".join(f"<td>{number(value)}</td>" for value in values)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


PAGE = Page(
    script=Path(__file__).with_name("bag_of_entities.py"),
    title="Bag of entities",
    question="What was extracted, whatever its order: and are words, categories or boundaries wrong?",
    about="Entities and words are counted in bags; what two bags do not share is an error.",
    sources={"Villanova-Aparisi et al., ICDAR 2024": "https://arxiv.org/abs/2404.18664"},
    scores={
        "beer": "Error rate of whole entities. 0 is best; it can exceed 1.",
        "btwer": "Error rate of words with their category.",
        "bwer": "Error rate of words, categories ignored.",
        "be_f1": "Whole entities found.",
        "bt_f1": "Words found with the right category.",
        "b_f1": "Words found in whatever category.",
    },
    examples=EXAMPLES,
    options=[
        Option("normalize", "normalize: forms of the text", 'Such as casefold, or several: ["nfkc", "casefold"].'),
    ],
    draw_extra=draw_bags,
)

if __name__ == "__main__":
    PAGE.launch()
