"""Score a corpus of any size on a Spark cluster.

    spark-submit examples/spark_score.py kieval --predictions P --references R [--skip] [any option of the metric]

P and R are Parquet files or folders with a column `document` (JSON text of any form, or nested groups) and a column
`id` that pairs them; a reference without a prediction is scored against an empty document. The folder of the metric
is shipped to the executors, whose Python (PYSPARK_PYTHON) needs the packages of its requirements.txt. They count the
documents and add the counts up: the driver gets one row, whatever the size of the corpus, and prints the scores as
JSON. (per_document and confidence_level need the row of every document.)

A document that cannot be read is an error that names it; with --skip such documents are left out and counted.
Needs requirements-spark.txt and Java 17.
"""

import argparse
import json
import shutil
import sys
import tempfile
import uuid
from itertools import groupby, islice
from pathlib import Path

import evaluate
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROOT = Path(__file__).resolve().parent.parent
RESULT = "counts binary, ids array<string>, skipped array<string>, error string"
DOCUMENTS_AT_ONCE = 500
NAMED = 5


def score_with_spark(spark, folder, predictions, references, options, skip=False):
    """The scores of two data frames that have the columns id and document."""
    metric = evaluate.load(str(folder), keep_in_memory=True)
    options = metric.portable_options(**options)
    keep_rows = bool(options.get("per_document") or options.get("confidence_level"))
    with tempfile.TemporaryDirectory() as temporary:
        load = ship(spark, folder, temporary)
        results = pair(predictions, references).mapInArrow(counter(load, options, skip, keep_rows), RESULT)
        if not keep_rows:
            # What the tasks have added up is added up by one more, so that the driver gets little.
            results = results.repartition(1).mapInArrow(adder(load), RESULT)
        rows = results.collect()
    if errors := sorted(row["error"] for row in rows if row["error"]):
        raise ValueError(errors[0])
    tables = [read_table(row["counts"]) for row in rows if row["counts"]] or [metric.count([], [], **options)]
    result = metric.score(pa.concat_tables(tables), **options)
    if options.get("per_document"):
        result["per_document"] = dict(zip([i for row in rows for i in row["ids"]], result["per_document"], strict=True))
    if skip:
        skipped = sorted(identifier for row in rows for identifier in row["skipped"])
        result |= {"skipped_documents": len(skipped), "skipped_ids": skipped[:NAMED]}
    return result


def pair(predictions, references):
    """A row for each prediction with its reference, or without; rows of one id stand together."""
    sides = []
    for name, side in (("prediction", predictions), ("reference", references)):
        if missing := {"id", "document"} - set(side.columns):
            raise ValueError(f"{name}s: there is no column {sorted(missing)[0]!r}, there are {', '.join(side.columns)}")
        # A struct tells a document that is null from one that is not there.
        sides.append(side.select(F.col("id").cast("string").alias("id"), F.struct("document").alias(name)))
    # Both sides are sorted by id to be merged, so that equal ids stay neighbours.
    return sides[0].hint("merge").join(sides[1], "id", "full_outer").select("id", "prediction", "reference")


def ship(spark, folder, temporary):
    """Send the folder of a metric to every executor; returns a function that loads the metric there."""
    # Spark knows an archive by its name: each has its own.
    archive_name, name = f"{folder.name}-{uuid.uuid4().hex}.zip", folder.name
    shutil.make_archive(str(Path(temporary) / Path(archive_name).stem), "zip", folder.parent, name)
    spark.sparkContext.addArchive(str(Path(temporary) / archive_name))

    def load():
        import os
        import tempfile

        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HOME", os.path.join(tempfile.gettempdir(), "huggingface"))
        import evaluate

        return evaluate.load(os.path.join(SparkFiles.get(archive_name), name), keep_in_memory=True)

    return load


def counter(load, options, skip, keep_rows):
    """The function of a task: rows of `pair` -> the sums of their counts, or the counts of each document."""

    def count_rows(batches):
        metric, tables, skipped = load(), [], []
        for rows in some_at_a_time(batches):
            try:
                table, ids, own_skipped = count(metric, rows, options, skip)
            except ValueError as error:
                # The same error would come again and again if the task failed and was tried again.
                yield to_batch(error=str(error))
                return
            if keep_rows:
                yield to_batch(table, ids, own_skipped)
                continue
            tables = [metric.sum_counts(pa.concat_tables([*tables, metric.sum_counts(table)]))]
            skipped += own_skipped
        if tables:
            yield to_batch(tables[0], [], skipped)

    return count_rows


def some_at_a_time(batches):
    """Lists of (id, rows of this id)."""
    rows = (row for batch in batches for row in batch.to_pylist())
    groups = ((identifier, list(group)) for identifier, group in groupby(rows, key=lambda row: row["id"]))
    while some := list(islice(groups, DOCUMENTS_AT_ONCE)):
        yield some


def adder(load):
    """The function of the last task: sums of counts -> their sum."""

    def add_rows(batches):
        metric, tables, skipped = load(), [], []
        for batch in batches:
            for row in batch.to_pylist():
                if row["error"]:
                    yield to_batch(error=row["error"])
                    return
                tables = [metric.sum_counts(pa.concat_tables([*tables, read_table(row["counts"])]))]
                skipped += row["skipped"]
        if tables:
            yield to_batch(tables[0], [], skipped)

    return add_rows


def count(metric, rows, options, skip):
    """The counts of some documents, their ids, and the ids of those that were skipped."""
    try:
        pairs = [one_of_each(*row) for row in rows]
        predictions, references = [p for p, _ in pairs], [r for _, r in pairs]
        return metric.count(predictions, references, **options), [identifier for identifier, _ in rows], []
    except ValueError as error:
        if len(rows) == 1:
            if skip:
                return metric.count([], [], **options), [], [str(rows[0][0])]
            raise ValueError(f"document {rows[0][0]!r:.80}: {error}") from None
    # Which one is it? Halves find it soon, and all others are counted.
    middle = len(rows) // 2
    halves = [count(metric, half, options, skip) for half in (rows[:middle], rows[middle:])]
    tables, ids, skipped = zip(*halves, strict=True)
    return pa.concat_tables(tables), sum(ids, []), sum(skipped, [])


def one_of_each(identifier, rows):
    """The prediction and the reference of an id; a missing prediction is an empty document."""
    if identifier is None:
        raise ValueError("it has no id: give each document one")
    if len(rows) > 1:
        raise ValueError("the id stands more than once in the predictions or in the references")
    prediction, reference = rows[0]["prediction"], rows[0]["reference"]
    if reference is None:
        raise ValueError("this prediction has no reference")
    return [] if prediction is None else prediction["document"], reference["document"]


def to_batch(table=None, ids=(), skipped=(), error=None):
    """A row of RESULT."""
    columns = {
        "counts": pa.array([None if table is None else write_table(table)], pa.binary()),
        "ids": pa.array([list(ids)], pa.list_(pa.string())),
        "skipped": pa.array([list(skipped)], pa.list_(pa.string())),
        "error": pa.array([error], pa.string()),
    }
    return pa.RecordBatch.from_pydict(columns)


def write_table(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def read_table(data):
    return pa.ipc.open_stream(data).read_all()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("metric", help="the name of a metric, or a folder")
    parser.add_argument("--predictions", required=True)
    parser.add_argument("--references", required=True)
    parser.add_argument("--skip", action="store_true", help="leave out documents that cannot be read, and count them")
    given, words = parser.parse_known_args()
    sys.path.insert(0, str(ROOT))
    from metrics.commands import parse_options

    folder = Path(given.metric) if Path(given.metric).is_dir() else ROOT / given.metric
    options = parse_options(evaluate.load(str(folder), keep_in_memory=True), words)
    spark = SparkSession.builder.appName(f"score with {folder.name}").getOrCreate()
    try:
        sides = (spark.read.parquet(path) for path in (given.predictions, given.references))
        result = score_with_spark(spark, folder.resolve(), *sides, options, given.skip)
    except ValueError as error:
        sys.exit(f"error: {error}")
    finally:
        spark.stop()
    print(json.dumps(result, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
