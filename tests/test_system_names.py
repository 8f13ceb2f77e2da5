import json
import os

import pytest
from helpers import ROOT

from metrics.__main__ import main
from metrics.system_names import name_systems


@pytest.fixture
def runs(tmp_path, monkeypatch):
    for folder in ("iob/s2.1", "iob/s2.2", "other/s2.1"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["iob/s2.1", "iob/s2.2/"], ["s2.1", "s2.2"]),  # folders have no ending
        (["iob/s2.1", "iob/s2.2", "other/s2.1"], ["iob/s2.1", "s2.2", "other/s2.1"]),
        (["a.v1.jsonl", "a.v2.jsonl"], ["a.v1", "a.v2"]),
        (["x/y/p.jsonl", "z/y/p.jsonl", "z/p.jsonl"], ["x/y/p", "z/y/p", "z/p"]),
        (["x/p.json", "z/p.csv"], ["x/p", "z/p"]),
        (["x/p.json", "x/p.csv"], ["p.json", "p.csv"]),
        (["p.jsonl", "p.jsonl", "./p.jsonl"], ["p (1)", "p (2)", "p (3)"]),
        (["x/p.jsonl", "x/p.jsonl", "z/p.jsonl"], ["x/p (1)", "x/p (2)", "z/p"]),
    ],
)
def test_names_are_short_and_distinct(runs, paths, names):
    assert name_systems(paths) == names


def test_this_folder_has_a_name(runs):
    assert name_systems(["."]) == [os.path.basename(os.getcwd())]


def test_one_file_given_three_times_has_three_columns(capsys, tmp_path):
    receipts, output = ROOT / "examples" / "receipts", tmp_path / "result.json"
    systems = ["--predictions", str(receipts / "system_a.jsonl")] * 3
    references = ["--references", str(receipts / "references.jsonl")]
    assert main(["score", "bag_of_entities", *references, *systems, "--output", str(output)]) == 0
    names = ["system_a (1)", "system_a (2)", "system_a (3)"]
    assert capsys.readouterr().out.splitlines()[0].split("  ")[-3:] == names
    assert list(json.loads(output.read_text("utf-8"))) == names
