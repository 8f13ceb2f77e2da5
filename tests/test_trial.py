"""What a page does with a visitor's options, documents and files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.files import read_documents
from metrics.page_options import Option
from metrics.trial import FILE_TYPES, Corpus, check_options, score_document, write_code, write_corpus_code


def no_progress(*arguments, **named):
    pass


@pytest.mark.parametrize("schema", ["/etc/passwd", "schema.yaml", "../metrics/business_documents.yaml", "- a", "7"])
def test_schema_given_as_text_is_never_a_path(schema):
    with pytest.raises(ValueError, match="schema: expected YAML or JSON text"):
        check_options({"schema": schema})


def test_schema_text_and_shipped_name_are_taken():
    assert check_options({"schema": '{"total": "money"}'}) == {"schema": {"total": "money"}}
    assert check_options({"schema": "total: money\ndate: date"}) == {"schema": {"total": "money", "date": "date"}}
    assert check_options({"schema": "business_documents"}) == {"schema": "business_documents"}
    with pytest.raises(ValueError, match="schema: .*occurs twice"):
        check_options({"schema": '{"a": "text", "a": "date"}'})


def test_work_is_limited(kieval):
    with pytest.raises(ValueError, match="n_resamples: at most 10,000 here"):
        check_options({"n_resamples": 10**9})
    with pytest.raises(ValueError, match="prediction: 1,000,001 characters"):
        score_document(kieval, "x" * 1_000_001, {}, {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.98", 0.98),
        (' ["nfkc", "casefold"]\n', ["nfkc", "casefold"]),
        ('"casefold"', "casefold"),
        (" casefold ", "casefold"),
        ("0,98", "0,98"),
        ("  ", None),
    ],
)
def test_option_is_json_or_the_text_itself(text, value):
    assert Option("normalize", "normalize").read(text) == value


def test_wrong_text_in_an_option_gets_the_error_of_the_metric(kieval):
    options = {"target_aligned": Option("target_aligned", "target_aligned").read("0,98")}
    with pytest.raises(ValueError, match=r"target_aligned must be a number in 0..1, got '0,98'"):
        score_document(kieval, {"a": "1"}, {"a": "1"}, options)


def test_scoring_leaves_the_metric_as_it_was(kieval):
    result = score_document(kieval, {"a": "1"}, {"a": "2"}, {"per_type": True})
    assert result == kieval.compute(predictions=[{"a": "1"}], references=[{"a": "2"}], per_type=True)
    assert kieval.writer is None


TEXTS = ['{"a": 4.50}', '{"a":\n "1"}', '{"a": "\\n\\"\\"\\"\\\\"}', 'Sure:\n```json\n{"a": "é\\u0007"}\n```', "[\n]\n"]


@pytest.mark.parametrize("prediction", TEXTS)
def test_code_holds_the_documents_as_they_were_typed(kieval, prediction):
    code = write_code("kieval", prediction, '{"a": "1"}', {"per_type": True, "schema": {"a": "money"}})
    names = {}
    lines = [line for line in code.splitlines() if not line.startswith(("import", "metric", "print"))]
    exec("\n".join(lines).replace("metric.compute", "dict"), names)
    assert names["prediction"] == prediction.strip()
    assert names["result"]["schema"] == {"a": "money"}


@pytest.fixture
def corpus_files(tmp_path):
    def write(name, documents):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(document) for document in documents), "utf-8")
        return path

    return write


def test_corpus_counted_in_slices_is_the_corpus_at_once(kieval, corpus_files, monkeypatch):
    monkeypatch.setattr("metrics.trial.COUNTED_AT_ONCE", 2)
    references = [{"total": str(index), "row": [{"a": "x"}]} for index in range(5)]
    predictions = [{"total": str(index % 3), "row": [{"a": "x"}]} for index in range(5)]
    corpus = Corpus(corpus_files("p.jsonl", predictions), corpus_files("r.jsonl", references), "raise", no_progress)
    counts = corpus.count(kieval, {}, no_progress)
    assert kieval.score(counts) == kieval.compute(predictions=predictions, references=references)
    worst = corpus.worst(kieval, counts, {})
    assert [(name, value) for name, value, _ in worst[:3]] == [
        ("document 4", 0.5),
        ("document 5", 0.5),
        ("document 1", 1.0),
    ]
    assert worst[0][2][0]["entities"][0]["operation"] in ("match", "substitute")


@pytest.mark.parametrize("name", ["kieval", "oinerval"])
def test_of_many_documents_the_worst_are_listed(name, corpus_files, request):
    metric = request.getfixturevalue(name)
    references = [{"total": str(index)} for index in range(50)]
    predictions = [{"total": str(index) if index % 2 else "wrong"} for index in range(50)]
    corpus = Corpus(corpus_files("p.jsonl", predictions), corpus_files("r.jsonl", references), "raise", no_progress)
    worst = corpus.worst(metric, corpus.count(metric, {}, no_progress), {})
    assert [name for name, *_ in worst] == [f"document {index + 1}" for index in range(0, 40, 2)]


def test_error_in_a_later_slice_names_the_document_of_the_corpus(kieval, corpus_files, monkeypatch):
    monkeypatch.setattr("metrics.trial.COUNTED_AT_ONCE", 2)
    sure = [{"type": "total", "value": "1", "confidence": 0.5}]
    files = corpus_files("p.jsonl", [sure, sure, sure, {"total": "1"}]), corpus_files("r.jsonl", [{"total": "1"}] * 4)
    with pytest.raises(ValueError, match=r"predictions\[3\]: 'total' '1' has no confidence"):
        Corpus(*files, "raise", no_progress).count(kieval, {"thresholds": "auto"}, no_progress)


def test_page_takes_every_form_of_file_that_can_be_read(tmp_path):
    (tmp_path / "corpus.xml").touch()
    with pytest.raises(ValueError, match="expected a folder or a file named ") as raised:
        read_documents(tmp_path / "corpus.xml")
    assert str(raised.value).split("named ")[1].split(", ") == sorted(FILE_TYPES)


def test_packed_file_that_is_too_large_unpacked_is_refused(tmp_path, corpus_files):
    rows = pa.array(["[]" + " " * 100_000] * 1_500)
    pq.write_table(pa.table({"document": rows}), tmp_path / "p.parquet")
    assert (tmp_path / "p.parquet").stat().st_size < 1_000_000
    with pytest.raises(ValueError, match=r"^p.parquet: more than 100,000,000 bytes when unpacked"):
        Corpus(tmp_path / "p.parquet", corpus_files("r.jsonl", [{}]), "raise", no_progress)


def test_errors_in_files_hide_the_folders_of_the_host(corpus_files, tmp_path):
    broken, good = corpus_files("p.jsonl", [{"a": [[1]]}]), corpus_files("r.jsonl", [{"a": "1"}])
    with pytest.raises(ValueError, match=r'^p.jsonl:1\["a"\]\[0\]: expected a text'):
        Corpus(broken, good, "raise", no_progress)


def test_unparsable_answers_of_a_corpus_can_be_empty_documents(kieval, corpus_files):
    answers = [{"id": "a", "document": "I cannot read this."}, {"id": "b", "document": '{"total": 1}'}]
    references = [{"id": "b", "document": {"total": "1"}}, {"id": "a", "document": {"total": "2"}}]
    files = corpus_files("p.jsonl", answers), corpus_files("r.jsonl", references)
    corpus = Corpus(*files, "empty", no_progress)
    options = {"on_invalid": "empty"}
    counts = corpus.count(kieval, options, no_progress)
    assert kieval.score(counts, **options)["invalid_predictions"] == 1
    assert corpus.worst(kieval, counts, options)[0][:2] == ("a", 0.0)
    assert "on_invalid='empty')" in write_corpus_code("kieval", *files, options)
