"""Parquet files -> documents.

A file has a column `document`: JSON text of any accepted form, or nested groups. A column `id` (text or whole
numbers) names the documents; other columns are not read. A folder of such files is one corpus, in the order of
their names.
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from .documents import DOCUMENT
from .problems import quote

COLUMNS = ("id", "document")
ROWS_AT_ONCE = 500
BUFFER_SIZE = 65_536


def parquet_files(path):
    """The Parquet files of a corpus: a file, or those of a folder; none where it is something else."""
    path = Path(path)
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix.lower() == ".parquet")
    return [path] if path.suffix.lower() == ".parquet" else []


def read_parquet(path):
    """(place, value) of each document, as `files.read_documents` wants them."""
    for file in parquet_files(path):
        rows = (row for batch in iterate_file(file) for row in batch.to_pylist())
        for number, row in enumerate(rows):
            value = {"id": id_text(row["id"]), "document": row["document"]} if "id" in row else row["document"]
            yield f"{file}[{number}]", value


def iterate_file(file, columns=COLUMNS):
    """The rows of a file, some at a time: no row group is ever held as a whole."""
    with open_parquet(file) as parquet:
        wanted = [name for name in columns if name in parquet.schema_arrow.names]
        yield from parquet.iter_batches(ROWS_AT_ONCE, columns=wanted, use_threads=False)


def open_parquet(file):
    try:
        parquet = pq.ParquetFile(file, pre_buffer=False, buffer_size=BUFFER_SIZE)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{file}: not a Parquet file ({error})") from None
    if "document" not in (names := parquet.schema_arrow.names):
        found = ", ".join(map(quote, names[:10]))
        raise ValueError(f"{file}: expected a column 'document' and maybe 'id', found {found}")
    return parquet


def count_rows(file):
    with open_parquet(file) as parquet:
        return parquet.metadata.num_rows


def id_text(identifier):
    """Whole numbers as text, as ids of JSON files are; anything else is judged where ids are checked."""
    is_number = isinstance(identifier, int) and not isinstance(identifier, bool)
    return str(identifier) if is_number else identifier


def groups_or_values(column):
    """A column of nested groups as the Arrow array that modules take as it is; any other as Python values."""
    if _are_groups(column.type):
        return column.cast(DOCUMENT)
    return column.to_pylist()


def _are_groups(found):
    group = found.value_type if _is_list(found) else None
    if not _has_fields(group, [{"type", "entities"}]) or not _is_list(entities := group.field("entities").type):
        return False
    entity = entities.value_type
    if not _has_fields(entity, [{"type", "value"}, {"type", "value", "confidence"}]):
        return False
    texts = [group.field("type").type, entity.field("type").type, entity.field("value").type]
    return all(pa.types.is_string(text) or pa.types.is_large_string(text) for text in texts)


def _is_list(found):
    return pa.types.is_list(found) or pa.types.is_large_list(found)


def _has_fields(found, allowed):
    return found is not None and pa.types.is_struct(found) and {field.name for field in found} in allowed
