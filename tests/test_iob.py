import json

import pytest

from metrics.__main__ import main
from metrics.documents import normalise
from metrics.files import read_documents
from metrics.iob import format_iob, read_iob, write_iob

PAGE = "Jean B-name\nDubois I-name\nné O\nà\tO\r\nLyon   B-place\n"
TOKENS = {"tokens": ["Jean", "Dubois", "né", "à", "Lyon"], "tags": ["B-name", "I-name", "O", "O", "B-place"]}


@pytest.fixture
def write(tmp_path):
    def write_text(name, text):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
        return path

    return write_text


@pytest.mark.parametrize("name", ["a.iob", "a.bio", "a.conll", "a.txt", "A.IOB"])
def test_file_holds_documents_that_end_with_a_blank_line(write, name):
    path = write(name, f"\ufeff{PAGE}\n\n \nParis B-place\n\n")
    found = read_documents(path)
    assert found.documents == [TOKENS, {"tokens": ["Paris"], "tags": ["B-place"]}]
    assert found.places == [f"{path}:1", f"{path}:9"]
    assert found.ids is None


def test_folder_holds_a_file_for_each_document(write):
    write("pages/b.bio", "Paris B-place\n\nLyon B-place\n")
    write("pages/notes.txt", "not tagged at all")
    path = write("pages/a.bio", PAGE)
    write("pages/empty.bio", "")
    found = read_documents(path.parent)
    assert found.ids == ["a", "b", "empty"]
    assert found.documents[0] == TOKENS
    assert found.documents[1]["tokens"] == ["Paris", "Lyon"]
    assert found.documents[2] == {"tokens": [], "tags": []}


def test_folder_of_text_files(write):
    path = write("pages/a.txt", PAGE)
    assert read_documents(path.parent).documents == [TOKENS]


def test_white_space_other_than_blanks_is_part_of_a_word(write):
    assert read_iob(write("a.iob", "12\u00a0000 B-sum\n"))[0][1]["tokens"] == ["12\u00a0000"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Jean B-name\nDubois\n", r"a.iob:2: expected a word and its tag, found only 'Dubois'"),
        (
            "Jean NNP I-NP B-name\n",
            r"a.iob:1: expected a word and its tag, found 4 columns in 'Jean NNP I-NP B-name': "
            r"keep the word and its tag only, e.g. with awk '{print \$1, \$4}'",
        ),
        ("Jean B-name\n\nDubois S-name\n", r"a.iob:3: expected an IOB2 tag \(O, B-type or I-type\), got 'S-name'"),
        ("Jean B-\n", r"a.iob:1: expected an IOB2 tag"),
    ],
)
def test_errors_name_file_and_line(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_documents(write("a.iob", text))


def test_wrong_encoding_and_mixed_folders_are_errors(write, tmp_path):
    (tmp_path / "latin.iob").write_bytes("né O".encode("latin-1"))
    with pytest.raises(ValueError, match="latin.iob:1: not UTF-8"):
        read_documents(tmp_path / "latin.iob")
    write("mixed/a.json", "{}")
    path = write("mixed/a.bio", PAGE)
    with pytest.raises(ValueError, match="both JSON files and .bio files"):
        read_documents(path.parent)
    write("twice/a.iob", PAGE)
    path = write("twice/a.bio", PAGE)
    with pytest.raises(ValueError, match="the id 'a' stands twice"):
        read_documents(path.parent)


def test_written_documents_are_read_again(tmp_path):
    documents = {"p1": TOKENS, "p2": {"tokens": [], "tags": []}}
    write_iob(documents, tmp_path / "folder")
    assert dict(zip(["p1", "p2"], read_documents(tmp_path / "folder").documents, strict=True)) == documents
    write_iob([TOKENS, [("name", "Ng"), ("name", "Li")]], tmp_path / "one.iob")
    again = read_documents(tmp_path / "one.iob").documents
    assert again == [TOKENS, {"tokens": ["Ng", "Li"], "tags": ["B-name", "B-name"]}]
    assert normalise(again[0]) == normalise(TOKENS)


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([[("full name", "Ng")]], "the category 'full name' has white space"),
        ([TOKENS, []], "document 1 is empty, which one file cannot tell: write a folder"),
        ({"../a": TOKENS}, "the id '../a' cannot name a file"),
    ],
)
def test_what_cannot_be_written_is_an_error_and_nothing_is_written(tmp_path, documents, message):
    with pytest.raises(ValueError, match=message):
        write_iob(documents, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_groups_are_written_in_order():
    assert format_iob({"menu": [{"name": "Iced Tea"}], "total": 3}) == "Iced B-menu.name\nTea I-menu.name\n3 B-total\n"


def test_command_compares_folders_of_tagged_words(write, capsys, tmp_path):
    for name in ("references", "good", "bad"):
        write(f"{name}/p1.bio", PAGE if name != "bad" else PAGE.replace("Lyon", "Lion").replace("né", "ne"))
        write(f"{name}/p2.bio", "Paris B-place\nle O\n")
    output = tmp_path / "result.json"
    arguments = ["score", "oinerval", "--references", str(tmp_path / "references"), "--output", str(output)]
    systems = [f"--predictions={tmp_path / name}" for name in ("good", "bad")]
    assert main([*arguments, *systems, "--order-dependent", "--per-type"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["good", "bad"]
    table = {line.split()[0]: line.split()[1:] for line in printed[1 : printed.index("")]}
    # bad: 1 of 4 letters in one of 3 entities; 2 letters and 2 of 7 words in the whole text.
    expected = {
        "oiecer": 0.25 / 3,
        "oiewer": 1 / 3,
        "oinerval_f1": 1,
        "ecer": 0.25 / 3,
        "ewer": 1 / 3,
        "nerval_f1": 1,
        "cer": 2 / (len("Jean Dubois né à Lyon") + len("Paris le")),
        "wer": 2 / 7,
    }
    results = json.loads(output.read_text("utf-8"))
    for name, score in expected.items():
        assert table[name] == ["1.000" if name.endswith("f1") else "0.000", f"{score:.3f}"]
        assert results["bad"][name] == pytest.approx(score)
