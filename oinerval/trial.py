"""What a page does with a visitor's documents, files and options: score them, and say how in Python."""

import json
from pathlib import Path

import pyarrow as pa

from .comparators import parse_schema_text
from .drawing import rank_worst_first
from .files import pair_documents, read_documents
from .iob import SUFFIXES
from .parquet import iterate_file, parquet_files
from .shipped_schemas import SHIPPED_SCHEMAS

CHARACTERS_AT_MOST = 1_000_000
RESAMPLES_AT_MOST = 10_000
COUNTED_AT_ONCE = 500
DOCUMENTS_LISTED = 1_000
WORST_DOCUMENTS = 20
TAGGED_WORDS = (*SUFFIXES, ".txt")
FILE_TYPES = (".jsonl", ".ndjson", ".json", ".csv", ".parquet", *TAGGED_WORDS)
UNPACKED_AT_MOST = 100_000_000


# Options


def check_options(options):
    """Options that a stranger may use: no file of this machine is read, and no work is without end."""
    options = dict(options)
    if isinstance(options.get("schema"), str):
        options["schema"] = read_schema(options["schema"])
    resamples = options.get("n_resamples", 0)
    if isinstance(resamples, int) and resamples > RESAMPLES_AT_MOST:
        raise ValueError(f"n_resamples: at most {RESAMPLES_AT_MOST:,} here, got {resamples:,}")
    return options


def read_schema(text):
    """A shipped schema's name as it is, or what YAML or JSON text says. A path is a text without a mapping.

    >>> read_schema("total: money"), read_schema("business_documents"), read_schema(" ")
    ({'total': 'money'}, 'business_documents', None)
    >>> read_schema("/etc/passwd")
    Traceback (most recent call last):
    ValueError: schema: expected YAML or JSON text such as "total: money", or a shipped name (business_documents)
    """
    _check_length("schema", text)
    text = text.strip()
    if not text or text in SHIPPED_SCHEMAS:
        return text or None
    try:
        schema = parse_schema_text(text, is_json=text.startswith("{"))
    except ValueError as error:
        raise ValueError(f"schema: {error}") from None
    if not isinstance(schema, dict):
        names = ", ".join(SHIPPED_SCHEMAS)
        raise ValueError(f'schema: expected YAML or JSON text such as "total: money", or a shipped name ({names})')
    return schema


# One document


def score_document(metric, prediction, reference, options):
    """The result of one document, as `compute` gives it. Counting and scoring apart leave the metric unchanged."""
    for side, document in (("prediction", prediction), ("reference", reference)):
        if isinstance(document, str):
            _check_length(side, document)
    options = check_options(options)
    return metric.score(metric.count([prediction], [reference], **options), **options)


def _check_length(name, text):
    if len(text) > CHARACTERS_AT_MOST:
        raise ValueError(
            f"{name}: {len(text):,} characters, the page takes {CHARACTERS_AT_MOST:,}: upload a file instead"
        )


# A corpus


class Corpus:
    """The documents of two uploaded files, in pairs."""

    def __init__(self, predictions, references, on_invalid, progress):
        try:
            progress(0, desc="Reading predictions")
            predicted = _read_upload(predictions)
            progress(0.3, desc="Reading references")
            expected = _read_upload(references)
            progress(0.6, desc="Checking documents")
            self.predictions, self.references, self.missing = pair_documents(predicted, expected, on_invalid)
        except ValueError as error:
            raise ValueError(_without_folders(str(error), predictions, references)) from None
        has_ids = predicted.ids is not None and expected.ids is not None
        self.names = expected.ids if has_ids else [f"document {index + 1}" for index in range(len(self))]

    def __len__(self):
        return len(self.references)

    def count(self, metric, options, progress):
        """The table of counts, in slices so that progress can be told."""
        tables = []
        for start in range(0, max(len(self), 1), COUNTED_AT_ONCE):
            progress((start, len(self)), desc="Scoring", unit="documents")
            slices = [side.slice(start, COUNTED_AT_ONCE) for side in (self.predictions, self.references)]
            try:
                tables.append(metric.count(*slices, **options))
            except ValueError:
                # once more with all documents, so that the error names the right one
                metric.count(self.predictions, self.references, **options)
                raise
        return pa.concat_tables(tables)

    def worst(self, metric, counts, options):
        """(name, value, alignment) of the documents whose main score is the worst."""
        rows = metric.score(counts, **{**options, "per_document": True})["per_document"]
        values = [row[metric.MAIN_SCORE] for row in rows]
        ranked = rank_worst_first(values, metric.MAIN_SCORE)
        return [
            (self.names[index], values[index], self._explain(metric, index, options))
            for index in ranked[:WORST_DOCUMENTS]
        ]

    def _explain(self, metric, index, options):
        sides = (side[index].as_py() or [] for side in (self.predictions, self.references))
        return metric.explain(*sides, **options)


def _read_upload(path):
    """The documents of a file. Parquet is packed: a small file must not become more than this machine can hold."""
    unpacked = 0
    for batch in (batch for file in parquet_files(path) for batch in iterate_file(file)):
        unpacked += batch.nbytes
        if unpacked > UNPACKED_AT_MOST:
            raise ValueError(f"{path}: more than {UNPACKED_AT_MOST:,} bytes when unpacked, which is too much here")
    return read_documents(path)


def _without_folders(message, *paths):
    """The message with the names of uploaded files, not where this machine keeps them."""
    for path in paths:
        message = message.replace(str(path), Path(path).name)
    return message


# The same in Python


def write_code(folder, prediction, reference, options):
    """Python that scores one document, to be run beside the module's folder."""
    return (
        "import evaluate\n\n"
        f"metric = evaluate.load({json.dumps('./' + folder)})\n"
        f"prediction = {_literal(prediction)}\n"
        f"reference = {_literal(reference)}\n"
        f"result = metric.compute(predictions=[prediction], references=[reference]{_arguments(options)})\n"
        "print(result)\n"
    )


def write_corpus_code(folder, predictions, references, options):
    """Python that scores two files, to be run beside them and the module's folder."""
    predictions, references = (json.dumps(Path(path).name, ensure_ascii=False) for path in (predictions, references))
    on_invalid = f", on_invalid={options['on_invalid']!r}" if "on_invalid" in options else ""
    return (
        "import evaluate\n\n"
        f"from {folder}.files import pair_documents, read_documents\n\n"
        f"metric = evaluate.load({json.dumps('./' + folder)})\n"
        f"files = read_documents({predictions}), read_documents({references})\n"
        f"predictions, references, missing = pair_documents(*files{on_invalid})\n"
        f"result = metric.compute(predictions=predictions, references=references{_arguments(options)})\n"
        "print(result)\n"
    )


def _arguments(options):
    return "".join(f",\n    {name}={value!r}" for name, value in options.items())


def _literal(text):
    """A text as a Python literal, over several lines where it has several.

    >>> print(_literal('{"a": 1}'))
    '{"a": 1}'
    >>> eval(_literal('{"a":\\n"\\\\n"}')) == '{"a":\\n"\\\\n"}'
    True
    """
    text = text.strip()
    if "\n" not in text or not text.replace("\n", "").replace("\t", "").isprintable():
        return repr(text)
    escaped = text.replace("\\", "\\\\").replace('"""', r"\"\"\"")
    return f'"""\\\n{escaped}\n""".strip()'
