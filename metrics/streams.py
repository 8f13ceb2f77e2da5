"""Large corpora in files, counted some documents at a time.

Files of JSON lines and Parquet files are read in step, as they usually hold the same documents in the same order. Where
ids tell otherwise, a first pass over the ids finds where each prediction stands, and a second reads it there. Only
ids and rows of counts are kept, never the documents. Other forms are read as a whole.
"""

import tempfile
from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, chain, zip_longest
from pathlib import Path

import pyarrow as pa

from .documents import to_arrow
from .files import checked_id, positions_by_reference, read_documents, with_ids
from .json_text import parse_json_text
from .notes import note_cells, note_missing, note_positions
from .parallel import Packed, Read, count_tasks
from .parquet import count_rows, groups_or_values, id_text, iterate_file, parquet_files
from .problems import decode_utf8, quote

DOCUMENTS_OF_A_SPAN = 500
JSON_LINES = (".jsonl", ".ndjson")


class OutOfStep(Exception):
    """The two sides do not hold the same ids in the same order."""


@dataclass(frozen=True)
class Counted:
    """The table of counts of two corpora, the ids of its rows if there are any, and what the user should know."""

    counts: pa.Table
    ids: list | None
    notes: list


def count_paths(metric, predictions, references, options, processes=1):
    """The counts of two corpora, in the order of the references.

    Documents are paired by id where both sides have ids, else by position; a reference without a prediction is
    scored against an empty document.
    """
    sides = open_corpus(predictions), open_corpus(references)
    on_invalid = options.get("on_invalid", "raise")
    notes = [note for side in sides if (note := side.note(metric))]
    try:
        counts, *seen = _count(metric, _tasks_in_step(*sides, on_invalid), sides, options, processes)
        have_ids = [side.has_ids for side in seen]
        if any(have_ids) and not all(have_ids):
            notes.append(note_positions(predictions, references, have_ids))
        return Counted(counts, _ids_of_rows(*seen), notes)
    except OutOfStep:
        tasks, missing = _tasks_by_id(*sides, on_invalid)
        counts, _, expected = _count(metric, tasks, sides, options, processes)
        if missing:
            notes.append(note_missing(predictions, missing))
        return Counted(counts, list(expected.ids), notes)
    finally:
        for side in sides:
            side.close()


def open_corpus(path):
    path = Path(path)
    if path.suffix.lower() in JSON_LINES and path.is_file():
        return JsonLines(path)
    if path.exists() and parquet_files(path):
        return ParquetRows(path)
    return InMemory(path, read_documents(path))


def _count(metric, tasks, sides, options, processes):
    """The counts of all tasks, and the ids that they told of each side.

    The first documents are read here, to see whether the sides are in step.
    """
    seen = [SeenIds(side.path) for side in sides]
    first = next(tasks, None)
    if first is None:
        return metric.count([], [], **options), *seen
    first.read()
    tables = []
    total = sides[1].number_of_documents()
    for table, ids in count_tasks(metric, chain([first], tasks), options, processes, total):
        for side, of_task in zip(seen, ids, strict=True):
            side.add(of_task)
        tables.append(table)
    return pa.concat_tables(tables), *seen


def _ids_of_rows(predicted, expected):
    """The ids of documents that were counted in step: those of the references, else of the predictions."""
    return next((list(side.ids) for side in (expected, predicted) if side.has_ids), None)


class SeenIds:
    """The ids of a corpus so far: all of its documents have one or none has, and no two are equal."""

    def __init__(self, path):
        self.path, self.ids, self.has_ids = path, {}, None

    def add(self, ids):
        if self.has_ids is None:
            self.has_ids = ids is not None
        if self.has_ids != (ids is not None):
            raise ValueError(f"{self.path}: some documents have an id and some have none")
        for identifier in ids or []:
            if identifier in self.ids:
                raise ValueError(f"{self.path}: the id {quote(identifier)} stands twice")
            self.ids[identifier] = len(self.ids)


# Pairing


@dataclass(frozen=True)
class Pair:
    """A span of documents of each side. In step, they must have the same ids, if any."""

    predictions: object
    references: object
    on_invalid: str = "raise"
    is_by_id: bool = False

    def __str__(self):
        return f"the documents from {self.references.first_place} on"

    def read(self):
        predictions, references = self.predictions.read(), self.references.read()
        places = {"predictions": predictions.places, "references": references.places}
        has_ids = predictions.ids is not None and references.ids is not None
        if has_ids and not self.is_by_id and predictions.ids != references.ids:
            raise OutOfStep
        told = (predictions.ids if not self.is_by_id else None, references.ids)
        return Read(
            to_arrow(predictions.documents, "predictions", self.on_invalid, predictions.places),
            to_arrow(references.documents, "references", places=references.places),
            lambda side, index: (places[side][index],),
            told,
        )


def _tasks_in_step(predictions, references, on_invalid):
    for predicted, expected in zip_longest(predictions.spans(), references.spans()):
        if predicted is None or expected is None or len(predicted) != len(expected):
            raise OutOfStep
        yield Pair(predicted, expected, on_invalid)


def _tasks_by_id(predictions, references, on_invalid):
    """Tasks in the order of the references, and the ids of those that have no prediction."""
    predicted, expected = predictions.read_ids(), references.read_ids()
    if predicted.ids is None or expected.ids is None:
        raise ValueError(
            f"predictions has {predicted.documents} documents, references has {expected.documents}: "
            "give each an id, or make them as many"
        )
    position = positions_by_reference(list(predicted.ids), list(expected.ids))
    positions = [position.get(identifier) for identifier in expected.ids]
    missing = [identifier for identifier in expected.ids if identifier not in position]
    return _pairs_by_id(predictions, references, positions, on_invalid), missing


def _pairs_by_id(predictions, references, positions, on_invalid):
    first = 0
    for expected in references.spans():
        wanted = positions[first : first + len(expected)]
        found = predictions.select([position for position in wanted if position is not None])
        gaps = [index for index, position in enumerate(wanted) if position is None]
        found = WithGaps(found, gaps, str(predictions.path)) if gaps else found
        yield Pair(found, expected, on_invalid, is_by_id=True)
        first += len(expected)


@dataclass(frozen=True)
class WithGaps:
    """Documents with an empty one at some positions."""

    span: object
    gaps: list
    path: str

    def read(self):
        found = self.span.read()
        documents, places = list(_as_values(found.documents)), list(found.places)
        for gap in self.gaps:
            documents.insert(gap, [])
            places.insert(gap, self.path)
        return Span(documents, places, None)


def _as_values(documents):
    return documents.to_pylist() if isinstance(documents, pa.Array) else documents


@dataclass(frozen=True)
class FoundIds:
    """The number of documents, and their ids in order with the position of each, if they have ids."""

    documents: int
    ids: dict | None


# Corpora


@dataclass(frozen=True)
class Span:
    """Some documents in memory, their places and their ids."""

    documents: object
    places: list
    ids: list | None

    def __len__(self):
        return len(self.places)

    def __reduce__(self):
        return Span, (Packed.pack(self.documents), self.places, self.ids)

    @property
    def first_place(self):
        return self.places[0]

    def read(self):
        documents = Packed.unpack(self.documents)
        if isinstance(documents, pa.Array):
            documents = groups_or_values(documents)
        return Span(documents, self.places, self.ids)


class InMemory:
    """A corpus of another form, which was read as a whole."""

    def __init__(self, path, found):
        self.path, self.found = path, found

    def note(self, metric):
        return note_cells(self.path, self.found.documents, metric) if self.path.suffix.lower() == ".csv" else None

    def number_of_documents(self):
        return len(self.found.places)

    def spans(self):
        for first in range(0, len(self.found.places), DOCUMENTS_OF_A_SPAN):
            yield self.select(range(first, min(first + DOCUMENTS_OF_A_SPAN, len(self.found.places))))

    def read_ids(self):
        ids = self.found.ids and {identifier: index for index, identifier in enumerate(self.found.ids)}
        return FoundIds(len(self.found.places), ids)

    def select(self, positions):
        documents, places, ids = self.found.documents, self.found.places, self.found.ids
        return Span(
            [documents[position] for position in positions],
            [places[position] for position in positions],
            ids and [ids[position] for position in positions],
        )

    def close(self):
        pass


@dataclass
class JsonLines:
    """A file of JSON lines. What is sent to another process is where lines stand."""

    path: Path
    offsets: array = field(default_factory=lambda: array("q"))
    lengths: array = field(default_factory=lambda: array("q"))
    numbers: array = field(default_factory=lambda: array("q"))

    def note(self, metric):
        return None

    def number_of_documents(self):
        return None

    def spans(self):
        span = []
        for line in self._lines():
            span.append(line)
            if len(span) == DOCUMENTS_OF_A_SPAN:
                yield Lines(self.path, span)
                span = []
        if span:
            yield Lines(self.path, span)

    def _lines(self):
        """Offset, length and number of each line that is not blank."""
        offset = 0
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip(b" \t\r\n\v\f\xef\xbb\xbf"):
                    yield offset, len(line), number
                offset += len(line)

    def read_ids(self):
        """The ids in the order of the file; where each line stands is kept for `select`."""
        seen = SeenIds(self.path)
        for span in self.spans():
            seen.add(span.read().ids)
            for offset, length, number in span.lines:
                self.offsets.append(offset)
                self.lengths.append(length)
                self.numbers.append(number)
        return FoundIds(len(self.offsets), seen.ids if seen.has_ids else None)

    def select(self, positions):
        return Lines(self.path, [(self.offsets[p], self.lengths[p], self.numbers[p]) for p in positions])

    def close(self):
        pass


@dataclass(frozen=True)
class Lines:
    """Some lines of a file: offset, length and number of each."""

    path: Path
    lines: list

    def __len__(self):
        return len(self.lines)

    @property
    def first_place(self):
        return f"{self.path}:{self.lines[0][2]}"

    def read(self):
        found = with_ids(self.path, self._values())
        return Span(found.documents, found.places, found.ids)

    def _values(self):
        with self.path.open("rb") as file:
            for offset, length, number in self.lines:
                file.seek(offset)
                place = f"{self.path}:{number}"
                yield place, parse_json_text(decode_utf8(file.read(length), self.path, number), (place,))


class ParquetRows:
    """Parquet files. To be read in another order, they are copied to a temporary file that Arrow maps into memory."""

    def __init__(self, path):
        self.path = path
        self.files = parquet_files(path)
        self.starts = [0, *accumulate(count_rows(file) for file in self.files)]
        self.folder, self.chunks = None, None

    def note(self, metric):
        return None

    def number_of_documents(self):
        return self.starts[-1]

    def spans(self):
        first = 0
        for rows in self._chunks():
            yield self._span(range(first, first + len(rows)), rows)
            first += len(rows)

    def read_ids(self):
        seen = SeenIds(self.path)
        for file in self.files:
            for batch in iterate_file(file, columns=("id",)):
                has_ids = "id" in batch.schema.names
                seen.add([id_text(identifier) for identifier in batch["id"].to_pylist()] if has_ids else None)
        return FoundIds(self.starts[-1], seen.ids if seen.has_ids else None)

    def select(self, positions):
        if self.chunks is None:
            self._copy()
        places = (divmod(position, DOCUMENTS_OF_A_SPAN) for position in positions)
        rows = [self.chunks[chunk].slice(row, 1) for chunk, row in places]
        return self._span(positions, pa.concat_batches(rows) if rows else None)

    def close(self):
        self.chunks = None
        if self.folder:
            self.folder.cleanup()

    def _chunks(self):
        """All rows, in batches of one size, the last one excepted."""
        held = []
        for batch in chain.from_iterable(map(iterate_file, self.files)):
            held.append(batch)
            while (number := sum(map(len, held))) >= DOCUMENTS_OF_A_SPAN:
                rows = pa.concat_batches(held)
                yield rows.slice(0, DOCUMENTS_OF_A_SPAN)
                held = [rows.slice(DOCUMENTS_OF_A_SPAN)] if number > DOCUMENTS_OF_A_SPAN else []
        if held:
            yield pa.concat_batches(held)

    def _copy(self):
        self.folder = tempfile.TemporaryDirectory()
        file = Path(self.folder.name) / "rows.arrow"
        chunks = self._chunks()
        first = next(chunks)
        with pa.ipc.new_file(file, first.schema) as writer:
            for rows in chain([first], chunks):
                writer.write_batch(rows)
        reader = pa.ipc.open_file(pa.memory_map(str(file)))
        self.chunks = [reader.get_batch(number) for number in range(reader.num_record_batches)]

    def _span(self, positions, rows):
        if rows is None:
            return Span([], [], None)
        places = [self._place(position) for position in positions]
        ids = None
        if "id" in rows.schema.names:
            found = zip(rows["id"].to_pylist(), places, strict=True)
            ids = [checked_id(id_text(identifier), place) for identifier, place in found]
        return Span(rows["document"], places, ids)

    def _place(self, position):
        file = bisect_right(self.starts, position) - 1
        return f"{self.files[file]}[{position - self.starts[file]}]"
