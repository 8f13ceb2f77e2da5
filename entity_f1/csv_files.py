"""CSV files with one row per document and one column per field.

Every cell is text and stays as it is written; an empty cell is an absent value. One column names the document,
usually by its image: it is recognised by its header, one of ID_COLUMNS whatever its case, spaces and punctuation.
"""

import csv
import io

from .problems import decode_utf8, quote

ID_COLUMNS = (
    *("id", "document", "document_id", "document_name", "doc_id"),
    *("image", "image_id", "image_name", "image_file", "image_filename", "image_path"),
    *("file", "file_name", "file_path"),
)
_KEYS = frozenset(name.replace("_", "") for name in ID_COLUMNS)


def read_csv(path):
    """(place, id, document) of every row of a file; a document maps columns to texts."""
    records = _read_records(path)
    header_place, header = next(records, (f"{path}:1", []))
    id_column = _check_header(header, header_place)
    for place, record in records:
        if len(record) != len(header):
            raise ValueError(
                f"{place}: {len(record)} values, but the header has {len(header)} columns: "
                "put values with commas or line breaks in double quotes"
            )
        cells = dict(zip(header, record, strict=True))
        identifier = cells.pop(header[id_column]).strip()
        if not identifier:
            raise ValueError(f"{place}: the column {quote(header[id_column])} is empty; it names the document")
        yield place, identifier, cells


def _read_records(path):
    """(place, values) of every record that is not blank. The place is the line on which a record begins."""
    reader = csv.reader(io.StringIO(decode_utf8(path.read_bytes(), path), newline=""), strict=True)
    line = 1
    try:
        for record in reader:
            if record and any(value.strip() for value in record):
                yield f"{path}:{line}", record
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"{path}:{line}: not a CSV record ({error})") from None


def _check_header(header, place):
    """The position of the id column of a header whose names are all there and distinct."""
    for position, name in enumerate(header):
        if not name.strip():
            raise ValueError(f"{place}: column {position + 1} has no name")
        if name in header[:position]:
            raise ValueError(f"{place}: two columns are named {quote(name)}")
    found = [position for position, name in enumerate(header) if _key(name) in _KEYS]
    if len(found) > 1:
        names = " and ".join(quote(header[position]) for position in found)
        raise ValueError(f"{place}: {names} could each name the document: keep one of them")
    if not found:
        raise ValueError(
            f"{place}: no column of {quote(', '.join(header))} names the document: it must be called "
            f"{', '.join(ID_COLUMNS[:-1])} or {ID_COLUMNS[-1]}, and columns be separated by commas"
        )
    return found[0]


def _key(name):
    return "".join(character for character in name.casefold() if character.isalnum())
