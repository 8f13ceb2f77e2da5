"""The example for Spark, on a cluster of two executors on this machine, against the numbers of one process."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import MODULES, ROOT, load
from test_streams import corpora, shuffled, write_parquet, write_parquet_of_groups

if importlib.util.find_spec("pyspark") is None:
    pytest.skip("pyspark is not installed: make test-all does", allow_module_level=True)
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17 or newer, and there is no java on the PATH", allow_module_level=True)

EXAMPLES = str(ROOT / "examples")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.executorEnv.PYTHONPATH": EXAMPLES,
}


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def score_with_spark(spark):
    sys.path.insert(0, EXAMPLES)
    import spark_score

    def score(folder, predictions, references, options=None, **more):
        sides = (spark.read.parquet(str(path)) for path in (predictions, references))
        return spark_score.score_with_spark(spark, folder, *sides, options or {}, **more)

    return score


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A corpus in two orders, predictions as text and references as nested groups; 30 predictions are missing."""
    folder = tmp_path_factory.mktemp("spark")
    predicted, expected = corpora(1_200)
    predicted = dict(list(predicted.items())[30:])
    write_parquet(folder / "p.parquet", shuffled(predicted))
    write_parquet_of_groups(folder / "r.parquet", expected)
    return folder / "p.parquet", folder / "r.parquet"


def documents_of(files):
    tables = (pq.read_table(file) for file in files)
    predicted, expected = (dict(zip(*(t[c].to_pylist() for c in ("id", "document")), strict=True)) for t in tables)
    return [predicted.get(identifier, []) for identifier in expected], list(expected.values())


@pytest.mark.parametrize("name", MODULES)
def test_every_module_gets_the_numbers_of_one_process(score_with_spark, files, name):
    predictions, references = documents_of(files)
    options = {"per_type": True, "schema": {"*": "string"}}
    expected = load(name, keep_in_memory=True).compute(predictions=predictions, references=references, **options)
    assert score_with_spark(ROOT / name, *files, options) == expected


def test_schema_of_a_file_is_read_before_it_is_shipped(score_with_spark, files, kieval, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("schema.yaml").write_text("'*': string\n")
    predictions, references = documents_of(files)
    expected = kieval.compute(predictions=predictions, references=references, schema={"*": "string"})
    assert score_with_spark(ROOT / "kieval", *files, {"schema": "schema.yaml"}) == expected


def test_rows_of_documents_and_intervals(score_with_spark, files, kieval):
    predictions, references = documents_of(files)
    options = {"per_document": True, "confidence_level": 0.9}
    expected = kieval.compute(predictions=predictions, references=references, **options)
    result = score_with_spark(ROOT / "kieval", *files, options)
    ids = pq.read_table(files[1])["id"].to_pylist()
    assert result["per_document"] == dict(zip(ids, expected.pop("per_document"), strict=True))
    assert {name: result[name] for name in expected} == expected


def write(path, documents, ids=None):
    ids = ids or [f"receipt {number}" for number in range(len(documents))]
    pq.write_table(pa.table({"id": ids, "document": pa.array(documents, pa.string())}), path)
    return path


GOOD = ['{"total": "1"}'] * 700


@pytest.mark.parametrize(
    ("predictions", "ids", "message"),
    [
        (
            [*GOOD[:-1], '{"a": [[1]]}'],
            None,
            r"document 'receipt 699': predictions\[0\]\[\"a\"\]\[0\]: expected a text",
        ),
        ([*GOOD[:-1], None], None, r"document 'receipt 699': predictions\[0\]: expected a document"),
        ([*GOOD, "{}"], None, "document 'receipt 700': this prediction has no reference"),
        (GOOD[:2], ["receipt 5"] * 2, "document 'receipt 5': the id stands more than once in the predictions"),
    ],
)
def test_bad_document_is_named_or_skipped(score_with_spark, tmp_path, predictions, ids, message):
    references = write(tmp_path / "r.parquet", GOOD)
    predictions = write(tmp_path / "p.parquet", predictions, ids)
    with pytest.raises(ValueError, match=message):
        score_with_spark(ROOT / "kieval", predictions, references)
    result = score_with_spark(ROOT / "kieval", predictions, references, skip=True)
    assert result["skipped_documents"] == 1
    assert result["skipped_ids"][0] in message
    assert result["documents"] >= 699


def test_killed_task_is_tried_again(score_with_spark, files, tmp_path):
    """The module shipped to the executors kills the process in which it first counts documents."""
    flag = tmp_path / "killed"
    shutil.copytree(ROOT / "kieval", tmp_path / "kieval", ignore=shutil.ignore_patterns("__pycache__"))
    sabotage = f"""
import os
import signal
from pathlib import Path

count_in_peace = Kieval._count


def count_or_die(self, batch, options):
    if batch.documents and not Path({str(flag)!r}).exists():
        Path({str(flag)!r}).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return count_in_peace(self, batch, options)


Kieval._count = count_or_die
"""
    script = tmp_path / "kieval" / "kieval.py"
    script.write_text(script.read_text("utf-8") + sabotage, "utf-8")
    expected = score_with_spark(ROOT / "kieval", *files)
    assert score_with_spark(tmp_path / "kieval", *files) == expected
    assert flag.exists()


def test_script_prints_one_line_for_an_error(tmp_path):
    bad = write(tmp_path / "p.parquet", ["no JSON"])
    command = [sys.executable, f"{EXAMPLES}/spark_score.py", "kieval", "--predictions", bad, "--references", bad]
    environment = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_SUBMIT_ARGS": "--master local[1] pyspark-shell"}
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, timeout=300)
    assert result.returncode == 1
    assert result.stderr.strip().splitlines()[-1].startswith("error: document 'receipt 0': predictions[0]: no JSON")
