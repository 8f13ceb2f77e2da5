import json
import re

import pytest

from metrics.files import pair_documents, read_documents
from metrics.streams import count_paths


@pytest.fixture
def write(tmp_path):
    def write_text(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    return write_text


def values(path):
    return [
        [(entity["type"], entity["value"]) for group in document for entity in group["entities"]]
        for document in read_documents(path).to_arrow("predictions").to_pylist()
    ]


def test_json_lines_of_documents(write):
    path = write(
        "a.jsonl", '{"total": 4.50}\n\n[["date", "1"]]\n"Answer: {\\"total\\": 3}"\n'.replace('"Answer', '["x", "')
    )
    path.write_text('{"total": 4.50}\n\n[["date", "1"]]\n', "utf-8")
    assert values(path) == [[("total", "4.50")], [("date", "1")]]
    assert read_documents(path).ids is None
    assert read_documents(path).places == [f"{path}:1", f"{path}:3"]


def test_json_lines_with_ids_and_answers_as_text(write):
    path = write("a.jsonl", '{"id": "x", "document": "Here: {\\"total\\": 4.50}"}\n{"id": 2, "document": {}}\n')
    assert values(path) == [[("total", "4.50")], []]
    assert read_documents(path).ids == ["x", "2"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"total": 1}, {"total": 2}]', [[("total", "1")], [("total", "2")]]),
        ('{"total": 1}', [[("total", "1")]]),
        ('[{"type": "", "entities": [{"type": "a", "value": "1"}]}]', [[("a", "1")]]),
        ('[["a", "1"], ["b", "2"]]', [[("a", "1"), ("b", "2")]]),
        ('[[["a", "1"]], []]', [[("a", "1")], []]),
        ('[{"id": "x", "document": {"a": "1"}}]', [[("a", "1")]]),
    ],
)
def test_json_file_holds_one_document_or_a_list_of_them(write, text, expected):
    assert values(write("a.json", text)) == expected


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "b", "document": {}, "split": "test"}, "unknown key 'split' beside id and document: leave it out"),
        *(
            ({"id": "b", name: {"t": 1}}, f'write {{"id": .., "document": ..}}, not {name!r}')
            for name in ("prediction", "reference", "predictions", "references")
        ),
    ],
)
def test_rows_that_look_like_a_document_with_its_id_are_refused(write, kieval, row, message):
    good = {"id": "a", "document": {"t": 1}}
    lines = write("a.jsonl", f"{json.dumps(good)}\n{json.dumps(row)}\n")
    one = write("folder/b.json", json.dumps(row))
    for path, place in (
        (lines, f"{lines}:2"),
        (write("a.json", json.dumps([good, row])), f"{lines.with_suffix('.json')}[1]"),
        (one.parent, str(one)),
    ):
        with pytest.raises(ValueError, match=re.escape(f"{place}: {message}")):
            read_documents(path)
        with pytest.raises(ValueError, match=re.escape(f"{place}: {message}")):
            count_paths(kieval, path, path, {})


def test_fields_called_id_and_reference_are_fields(write):
    path = write("a.jsonl", '{"id": "7", "total": 1}\n{"id": "8", "reference": "x", "total": 2}\n{"document": "9"}\n')
    assert values(path) == [
        [("id", "7"), ("total", "1")],
        [("id", "8"), ("reference", "x"), ("total", "2")],
        [("document", "9")],
    ]


def test_id_in_a_file_of_a_folder_agrees_with_its_name(write):
    write("folder/a.json", '{"id": "a", "document": {"total": 1}}')
    write("folder/b.json", '{"id": "b.png", "document": {"total": 2}}')
    path = write("folder/c.json", '{"total": 3}')
    assert values(path.parent) == [[("total", "1")], [("total", "2")], [("total", "3")]]
    assert read_documents(path.parent).ids == ["a", "b.png", "c"]
    write("folder/d.json", '{"id": "e", "document": {"total": 1}}')
    with pytest.raises(ValueError, match=r"d.json: the id 'e' is not the name of the file, 'd': make them agree"):
        read_documents(path.parent)


def test_folder_of_json_files(write):
    write("folder/b.json", '{"total": 2}')
    path = write("folder/a.json", '{"total": 1}')
    assert values(path.parent) == [[("total", "1")], [("total", "2")]]
    assert read_documents(path.parent).ids == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": \n', r"a.jsonl:2: .*JSON"),
        ("a.jsonl", '{"id": "x", "document": {}}\n{"id": "x", "document": {}}', "the id 'x' stands twice"),
        ("a.jsonl", '{"id": "x", "document": {}}\n{"a": 1}', "a.jsonl:2: some documents have an id"),
        ("a.jsonl", '{"id": null, "document": {}}', "a.jsonl:1: expected a text or number as id"),
        ("a.jsonl", '{"a": [[1]]}', r'a.jsonl:1\["a"\]\[0\]: expected a text'),
        ("a.xml", "<a/>", "expected a folder or a file named"),
    ],
)
def test_errors_name_file_and_line(write, name, text, message):
    with pytest.raises(ValueError, match=message):
        read_documents(write(name, text)).to_arrow("predictions")


@pytest.mark.parametrize("name", ["latin.jsonl", "latin.json", "folder"])
def test_wrong_encoding_names_file_and_line(tmp_path, kieval, name):
    (tmp_path / "folder").mkdir()
    file = tmp_path / name / "a.json" if name == "folder" else tmp_path / name
    file.write_bytes(b'\n{"a": "\xe9"}')
    message = rf"{file.name}:2: not UTF-8 text .*save the file as UTF-8"
    with pytest.raises(ValueError, match=message):
        read_documents(tmp_path / name)
    with pytest.raises(ValueError, match=message):
        count_paths(kieval, tmp_path / name, tmp_path / name, {})


def test_missing_files_are_errors(tmp_path):
    with pytest.raises(ValueError, match="no such file or folder"):
        read_documents(tmp_path / "none.jsonl")
    with pytest.raises(ValueError, match="no JSON files and no files of tagged words"):
        read_documents(tmp_path)


def corpus(write, name, documents):
    lines = (json.dumps({"id": identifier, "document": document}) for identifier, document in documents.items())
    return read_documents(write(name, "\n".join(lines)))


def test_documents_are_paired_by_id_and_missing_ones_are_empty(write):
    predictions = corpus(write, "p.jsonl", {"b": {"t": "2"}, "a": {"t": "1"}})
    references = corpus(write, "r.jsonl", {"a": {"t": "1"}, "b": {"t": "2"}, "c": {"t": "3"}})
    predicted, expected, missing = pair_documents(predictions, references)
    assert predicted.to_pylist() == expected.to_pylist()[:2] + [[]]
    assert missing == ["c"]
    with pytest.raises(ValueError, match="1 predictions have no reference: 'c'"):
        pair_documents(references, predictions)


def test_documents_without_ids_are_paired_by_position(write):
    predictions = read_documents(write("p.jsonl", '{"t": "1"}\n'))
    references = corpus(write, "r.jsonl", {"a": {"t": "1"}, "b": {"t": "2"}})
    with pytest.raises(ValueError, match="predictions has 1 documents, references has 2"):
        pair_documents(predictions, references)
