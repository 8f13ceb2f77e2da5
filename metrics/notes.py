"""What a user should know of documents that were read and paired, though nothing is wrong with them."""

from .propose_schema import ABSENT, SEPARATOR

NAMED = 5


def note_missing(path, missing):
    """
    >>> note_missing("a.jsonl", ["7", "9"])
    'a.jsonl: 2 documents without a prediction are scored as empty: 7, 9'
    """
    some = ", ".join(missing[:NAMED]) + (", .." if len(missing) > NAMED else "")
    return f"{path}: {len(missing)} documents without a prediction are scored as empty: {some}"


def note_positions(path, references, have_ids):
    """Why ids were of no use: `have_ids` tells it of predictions and references."""
    with_ids, without = (path, references) if have_ids[0] else (references, path)
    return f"{with_ids} has ids and {without} has none: documents are paired by position"


def note_cells(path, documents, metric):
    """What cells of a CSV file mean to entity_f1 only, or None: other metrics take every cell as one text."""
    if "separator" in metric.OPTIONS.names():
        return None
    cells = [cell for document in documents for cell in document.values()]
    special = [cell for cell in cells if SEPARATOR in cell or cell.strip() == ABSENT]
    if not special:
        return None
    return (
        f"{path}: {len(special)} cells hold {SEPARATOR!r} or {ABSENT}: {metric.name} takes each as one text, "
        "entity_f1 reads lists and absent values"
    )
