import pytest
from helpers import ROOT

from metrics.__main__ import main
from metrics.csv_files import ID_COLUMNS
from metrics.files import pair_documents, read_documents

INVOICES = ROOT / "examples" / "invoices"


@pytest.fixture
def write(tmp_path):
    def write_bytes(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_bytes


def entities(documents):
    return [
        {entity["type"]: entity["value"] for group in document for entity in group["entities"]}
        for document in documents.to_arrow("predictions").to_pylist()
    ]


def test_a_row_is_a_document_and_all_cells_are_text(write):
    text = 'image_name,total,items,flag\na.png,007.50,"tea | ""hot"" pie, large",true\nb.png,NOT_FOUND,,"[1, 2]"\n'
    documents = read_documents(write("a.csv", text))
    assert documents.ids == ["a.png", "b.png"]
    assert entities(documents) == [
        {"total": "007.50", "items": 'tea | "hot" pie, large', "flag": "true"},
        {"total": "NOT_FOUND", "flag": "[1, 2]"},
    ]


def test_byte_order_mark_line_endings_and_line_breaks_in_quotes(write):
    documents = read_documents(write("a.CSV", '\ufeffid,name\r\n1,"two\r\nlines"\r\n\r\n2,é\r\n'))
    assert documents.ids == ["1", "2"]
    assert entities(documents) == [{"name": "two\r\nlines"}, {"name": "é"}]
    assert [place.rsplit(":", 1)[1] for place in documents.places] == ["2", "5"]


@pytest.mark.parametrize("name", [*ID_COLUMNS, "Image File", "FILENAME", "image-file"])
def test_the_id_column_is_recognised_by_its_name(write, name):
    assert read_documents(write("a.csv", f"total,{name}\n3,x\n")).ids == ["x"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("total,date\n3,x\n", r"a.csv:1: no column of 'total, date' names the document: .* id, document"),
        ("id;total\n1;3\n", r"a.csv:1: no column .* separated by commas"),
        ("", r"a.csv:1: no column"),
        ("id,image\n1,2\n", r"a.csv:1: 'id' and 'image' could each name the document"),
        ("id,total,total\n1,2,3\n", r"a.csv:1: two columns are named 'total'"),
        ("id,,total\n1,2,3\n", r"a.csv:1: column 2 has no name"),
        ("id,total\n1,3\n2,3,4\n", r"a.csv:3: 3 values, but the header has 2 columns"),
        ("id,total\n1\n", r"a.csv:2: 1 values"),
        ('id,total\n1,"3\n', r"a.csv:2: not a CSV record \(unexpected end of data\)"),
        ('id,total\n1,"3"x\n', r"a.csv:2: not a CSV record"),
        ("id,total\n1,2\n1,3\n", r"a.csv: the id '1' stands twice"),
        ("id,total\n ,2\n", r"a.csv:2: the column 'id' is empty"),
        ("id,total\n1,a\n2,é\n".encode("latin-1"), r"a.csv:3: not UTF-8 text"),
    ],
)
def test_errors_name_file_and_line(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_documents(write("a.csv", text))


@pytest.mark.parametrize(
    ("predicted", "expected"), [(["a", "b"], ["a.png", "b.PDF"]), (["a.png", "b.jpg"], ["a", "b"])]
)
def test_ids_pair_with_and_without_the_ending_of_an_image(write, predicted, expected):
    predictions = read_documents(write("p.csv", "id,t\n" + "".join(f"{name},{name[0]}\n" for name in predicted[::-1])))
    references = read_documents(write("r.csv", "file,t\n" + "".join(f"{name},{name[0]}\n" for name in expected)))
    left, right, missing = pair_documents(predictions, references)
    assert (left.to_pylist(), missing) == (right.to_pylist(), [])


@pytest.mark.parametrize(
    ("predicted", "expected", "message"),
    [
        (["a"], ["a.png", "a.jpg"], "1 predictions have no reference: 'a'"),  # of which of the two?
        (["a.png"], ["a.jpg"], "1 predictions have no reference: 'a.png'"),
        (["a.png", "a"], ["a"], "two predictions, 'a.png' and 'a', belong to the reference 'a'"),
        (["a.b"], ["a"], "1 predictions have no reference: 'a.b'"),  # no ending of an image
    ],
)
def test_ambiguous_ids_are_not_guessed(write, predicted, expected, message):
    sides = [read_documents(write(f"{side}.csv", "id,t\n" + "".join(f"{name},1\n" for name in names)))
             for side, names in (("p", predicted), ("r", expected))]  # fmt: skip
    with pytest.raises(ValueError, match=message):
        pair_documents(*sides)


def test_folder_of_json_files_pairs_with_a_table(write):
    write("answers/a.json", '{"t": "1"}')
    predictions = read_documents(write("answers/b.png.json", '{"t": "2"}').parent)
    left, right, missing = pair_documents(predictions, read_documents(write("r.csv", "id,t\na.png,1\nb,2\nc,3\n")))
    assert left.to_pylist() == [*right.to_pylist()[:2], []]
    assert missing == ["c"]


def test_score_from_the_command_line(capsys, tmp_path):
    some = (INVOICES / "predictions.csv").read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "some.csv").write_text("".join(some[:-1]), "utf-8")
    command = ["score", "entity_f1", "--references", str(INVOICES / "references.csv"), "--schema", "business_documents"]
    assert main([*command, "--predictions", str(tmp_path / "some.csv")]) == 0
    captured = capsys.readouterr()
    assert "1 documents without a prediction are scored as empty: statement_001.png" in captured.err
    assert "documents          4" in captured.out
    assert "readiness          not ready" in captured.out
    (tmp_path / "more.csv").write_text("".join(some) + some[1].replace("invoice_001", "other"), "utf-8")
    assert main([*command, "--predictions", str(tmp_path / "more.csv")]) == 2
    assert "1 predictions have no reference: 'other'" in capsys.readouterr().err


def test_lists_and_absent_values_are_told_where_a_metric_takes_them_as_text(capsys, write):
    references = write("r.csv", "id,items,total\n1,tea | pie,3\n2,NOT_FOUND,tea|pie\n3,a | b,\n")
    plain = write("plain.csv", "id,items,total\n1,tea,3\n2,pie,NOT_FOUND_YET\n3,a,\n")
    listed = write("listed.csv", "id,items,total\n1,tea,3\n2,NOT_FOUND,3\n3,a,\n")
    systems = ["--predictions", str(plain), "--predictions", str(listed)]
    assert main(["score", "kieval", "--references", str(references), *systems]) == 0
    meaning = "kieval takes each as one text, entity_f1 reads lists and absent values"
    assert capsys.readouterr().err.splitlines() == [
        f"{references}: 3 cells hold ' | ' or NOT_FOUND: {meaning}",
        f"{listed}: 1 cells hold ' | ' or NOT_FOUND: {meaning}",
    ]
    assert main(["score", "entity_f1", "--references", str(references), *systems]) == 0
    assert capsys.readouterr().err == ""
