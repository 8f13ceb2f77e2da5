"""Invented corpora: what is predicted and what is right, a tenth of the values wrong. No data set is needed."""

import random

WORDS = [
    "latte",
    "tea",
    "toast",
    "soup",
    "rice",
    "bread",
    "apple",
    "cheese",
    "salad",
    "juice",
    "cake",
    "pasta",
    "fish",
    "milk",
    "water",
    "lemon",
    "pepper",
    "salt",
]
CATEGORIES = ["surname", "firstname", "age", "birth_date", "location", "occupation", "link", "education"]
WRONG = 0.1


def misread(text, generator):
    """The text, or now and then the text with one character wrong."""
    if generator.random() >= WRONG:
        return text
    position = generator.randrange(len(text))
    return text[:position] + generator.choice("aeiou0185") + text[position + 1 :]


def _items(rows, generator):
    return [
        {
            "name": f"{generator.choice(WORDS)} {generator.choice(WORDS)} {generator.randrange(100)}",
            "count": str(generator.randrange(1, 5)),
            "price": f"{generator.randrange(100, 9999) / 100:.2f}",
        }
        for _ in range(rows)
    ]


def _misread_document(document, generator):
    """The same mapping with misread values and now and then a line item missing."""
    predicted = {key: misread(value, generator) for key, value in document.items() if isinstance(value, str)}
    items = [{key: misread(value, generator) for key, value in item.items()} for item in document["menu"]]
    predicted["menu"] = [item for item in items if generator.random() >= WRONG / 4]
    return predicted


def _mappings(number, rows, fields, seed, shuffle=False):
    generator = random.Random(seed)
    references = [
        {field: f"{field} {generator.randrange(10**6)}" for field in fields} | {"menu": _items(rows, generator)}
        for _ in range(number)
    ]
    predictions = [_misread_document(document, generator) for document in references]
    if shuffle:
        for document in predictions:
            generator.shuffle(document["menu"])
    return {"predictions": predictions, "references": references}


def receipts(number, seed=0):
    """About 13 entities each: four fields and three line items of three."""
    return _mappings(number, 3, ["store", "date", "tax", "total"], seed)


def invoices(number, seed=0):
    """Ten fields and eight line items of three."""
    fields = ["supplier", "address", "payer", "abn", "date", "due", "terms", "tax", "subtotal", "total"]
    return _mappings(number, 8, fields, seed)


def table(rows, seed=0):
    """One document with a long table whose rows are shuffled."""
    return _mappings(1, rows, ["total"], seed, shuffle=True)


def census(number, entities=300, seed=0):
    """Pages of tagged tokens, in register order; every value occurs once on a page."""
    generator = random.Random(seed)
    pages = {"predictions": [], "references": []}
    for _ in range(number):
        page = {side: {"tokens": [], "tags": []} for side in pages}
        for position in range(entities):
            category = CATEGORIES[position % len(CATEGORIES)]
            words = [generator.choice(WORDS), f"{position}x{generator.randrange(1000)}"][: generator.randint(1, 2) + 1]
            missed = generator.random() < WRONG / 2
            for index, word in enumerate(words):
                tag = f"{'I' if index else 'B'}-{category}"
                for side, text, label in (
                    ("references", word, tag),
                    ("predictions", misread(word, generator), "O" if missed else tag),
                ):
                    page[side]["tokens"].append(text)
                    page[side]["tags"].append(label)
        for side, document in page.items():
            pages[side].append(document)
    return pages
