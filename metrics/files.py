"""Files and folders -> documents with ids.

A file of JSON lines holds one document a line: the document itself in any accepted form, or
`{"id": .., "document": ..}`; a Parquet file has these columns. A JSON file holds a list of documents, or one; a
folder holds a JSON file for each document, named by its id, which may stand in the file too. Tagged words (IOB2)
stand in one file, or in a folder with a file for each document. A CSV file has a row for each document: see
`csv_files`.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from .csv_files import read_csv
from .documents import DOCUMENT, to_arrow
from .iob import SUFFIXES, find_iob_files, read_iob, read_iob_document
from .json_text import parse_json_text
from .parquet import parquet_files, read_parquet
from .problems import decode_utf8, quote

NAMED = 5
OTHER_NAMES = ("prediction", "predictions", "reference", "references")
FILE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".webp", ".jp2", ".pdf")


@dataclass(frozen=True)
class Documents:
    """Documents as they were read, where each stands, and their ids if they have any."""

    documents: list
    places: list
    ids: list | None

    def to_arrow(self, side, on_invalid="raise"):
        return to_arrow(self.documents, side, on_invalid, self.places)


def read_documents(path):
    """The documents of a file or a folder, whose form is recognised by its name."""
    path = Path(path)
    if path.is_dir():
        return with_ids(path, read_parquet(path)) if parquet_files(path) else _read_folder(path)
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file or folder")
    readers = {".jsonl": _read_json_lines, ".ndjson": _read_json_lines, ".json": _read_json}
    readers |= dict.fromkeys((*SUFFIXES, ".txt"), read_iob)
    readers[".parquet"] = read_parquet
    if path.suffix.lower() == ".csv":
        return _read_csv(path)
    if path.suffix.lower() not in readers:
        raise ValueError(f"{path}: expected a folder or a file named {', '.join(sorted([*readers, '.csv']))}")
    return with_ids(path, readers[path.suffix.lower()](path))


def pair_documents(predictions, references, on_invalid="raise"):
    """Both sides as Arrow columns of one length, and the ids of references that have no prediction.

    By id where both sides have ids, else by position; an id may have the ending of its image on one side only.
    A missing prediction is scored as an empty document.
    """
    predicted = predictions.to_arrow("predictions", on_invalid)
    expected = references.to_arrow("references")
    if predictions.ids is None or references.ids is None:
        if len(predicted) != len(expected):
            raise ValueError(
                f"predictions has {len(predicted)} documents, references has {len(expected)}: "
                "give each an id, or make them as many"
            )
        return predicted, expected, []
    position = positions_by_reference(predictions.ids, references.ids)
    missing = [identifier for identifier in references.ids if identifier not in position]
    with_empty = pa.concat_arrays([predicted, pa.array([[]], DOCUMENT)])
    indices = [position.get(identifier, len(predicted)) for identifier in references.ids]
    return with_empty.take(pa.array(indices, pa.int64())), expected, missing


def positions_by_reference(predictions, references):
    """Reference id -> position of its prediction; ids are the same, or one lacks the ending of its image."""
    by_stem = {}
    for identifier in references:
        by_stem.setdefault(_without_ending(identifier), []).append(identifier)
    known, position, extra = set(references), {}, []
    for index, identifier in enumerate(predictions):
        stem = _without_ending(identifier)
        # Either the prediction has an ending that its reference lacks, or the other way round.
        candidates = [stem] if stem != identifier else by_stem.get(stem, [])
        if identifier not in known and (len(candidates) != 1 or candidates[0] not in known):
            extra.append(identifier)
            continue
        reference = identifier if identifier in known else candidates[0]
        if reference in position:
            both = f"{quote(predictions[position[reference]])} and {quote(identifier)}"
            raise ValueError(f"two predictions, {both}, belong to the reference {quote(reference)}")
        position[reference] = index
    if extra:
        raise ValueError(f"{len(extra)} predictions have no reference: {_name_some(extra)}")
    return position


def _without_ending(identifier):
    path = Path(identifier)
    return identifier[: -len(path.suffix)] if path.suffix.lower() in FILE_ENDINGS else identifier


def _name_some(ids):
    return ", ".join(map(quote, ids[:NAMED])) + (", .." if len(ids) > NAMED else "")


def _read_json_lines(path):
    """(place, value) of each line that is not blank."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            text = decode_utf8(line, path, number)
            if text.strip():
                place = f"{path}:{number}"
                yield place, parse_json_text(text, (place,))


def _read_json_value(path):
    return parse_json_text(decode_utf8(path.read_bytes(), path), (str(path),))


def _read_json(path):
    value = _read_json_value(path)
    if isinstance(value, list) and all(_is_document_of_corpus(item) for item in value):
        return [(f"{path}[{index}]", item) for index, item in enumerate(value)]
    return [(str(path), value)]


def _is_document_of_corpus(item):
    """Whether an item of a JSON list is a document, and not a group or an entity of one."""
    if isinstance(item, dict):
        return not {"type", "entities"} <= set(item) and not {"type", "value"} <= set(item)
    return isinstance(item, list) and not (len(item) == 2 and all(isinstance(part, str) for part in item))


def with_ids(path, values):
    documents, places, ids = [], [], []
    for place, value in values:
        has_id = is_with_id(value, place)
        if documents and has_id != bool(ids):
            raise ValueError(f"{place}: some documents have an id and some have none")
        if has_id:
            ids.append(checked_id(value["id"], place))
        documents.append(value["document"] if has_id else value)
        places.append(place)
    _check_distinct(path, ids)
    return Documents(documents, places, ids or None)


def is_with_id(value, place):
    """Whether a value is {"id": .., "document": ..}. What looks like it is refused: as fields it would be scored."""
    if not isinstance(value, dict) or "id" not in value:
        return False
    names = set(value) - {"id"}
    if len(names) == 1 and names & set(OTHER_NAMES):
        raise ValueError(f'{place}: write {{"id": .., "document": ..}}, not {quote(names.pop())}')
    if "document" in names and len(names) > 1:
        more = next(name for name in value if name not in ("id", "document"))
        raise ValueError(f"{place}: unknown key {quote(more)} beside id and document: leave it out")
    return "document" in names


def checked_id(identifier, place):
    if not isinstance(identifier, str) or not identifier:
        raise ValueError(f"{place}: expected a text or number as id, got {json.dumps(identifier)[:80]}")
    return str(identifier)


def _check_distinct(path, ids):
    seen = set()
    for identifier in ids:
        if identifier in seen:
            raise ValueError(f"{path}: the id {quote(identifier)} stands twice")
        seen.add(identifier)


def _read_csv(path):
    rows = list(read_csv(path))
    places, ids, documents = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    _check_distinct(path, ids)
    return Documents(documents, places, ids)


def _read_folder(folder):
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json")
    tagged = find_iob_files(folder)
    if files and tagged and tagged[0].suffix.lower() in SUFFIXES:
        raise ValueError(f"{folder}: both JSON files and {tagged[0].suffix} files: keep one kind in a folder")
    if not files and not tagged:
        raise ValueError(f"{folder}: no JSON files and no files of tagged words in this folder")
    if not files:
        ids = [path.stem for path in tagged]
        _check_distinct(folder, ids)
        return Documents([read_iob_document(path) for path in tagged], [str(path) for path in tagged], ids)
    ids, documents = zip(*map(_read_named_by_file, files), strict=True)
    _check_distinct(folder, ids)
    return Documents(list(documents), [str(path) for path in files], list(ids))


def _read_named_by_file(path):
    """The id and the document of a JSON file; an id that stands in it must agree with the name of the file."""
    value = _read_json_value(path)
    if not is_with_id(value, str(path)):
        return path.stem, value
    identifier = checked_id(value["id"], str(path))
    if _without_ending(identifier) != _without_ending(path.stem):
        raise ValueError(
            f"{path}: the id {quote(identifier)} is not the name of the file, {quote(path.stem)}: make them agree"
        )
    return identifier, value["document"]
