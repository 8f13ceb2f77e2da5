import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import MODULES, ROOT

from metrics.__main__ import main
from metrics.commands import load_metric

RECEIPTS = ROOT / "examples" / "receipts"
SCORE = ["score", "kieval", "--references", str(RECEIPTS / "references.jsonl")]
SYSTEMS = ["--predictions", str(RECEIPTS / "system_a.jsonl"), "--predictions", str(RECEIPTS / "system_b.jsonl")]


def test_score_prints_scores_as_rows_and_systems_as_columns(capsys, tmp_path, kieval):
    output = tmp_path / "result.json"
    assert main([*SCORE, *SYSTEMS, "--per-type", "--confidence-level", "0.9", "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[0].split() == ["system_a", "system_b"]
    results = json.loads(output.read_text("utf-8"))
    assert f"{results['system_a']['aligned']:.3f} [" in printed
    assert "menu.name" in printed
    assert printed.splitlines()[-1] == kieval.signature()
    lines = [json.loads(line) for line in (RECEIPTS / "system_b.jsonl").read_text("utf-8").splitlines()]
    references = [json.loads(line) for line in (RECEIPTS / "references.jsonl").read_text("utf-8").splitlines()]
    expected = kieval.compute(
        predictions=[line["document"] for line in lines], references=[line["document"] for line in references]
    )
    assert {name: results["system_b"][name] for name in expected} == expected


def test_score_in_several_processes_prints_the_same(capsys):
    assert main([*SCORE, *SYSTEMS]) == 0
    expected = capsys.readouterr().out
    assert main([*SCORE, *SYSTEMS, "--processes", "2"]) == 0
    assert capsys.readouterr().out == expected


def test_missing_predictions_are_reported_and_scored_as_empty(capsys, tmp_path):
    some = (RECEIPTS / "references.jsonl").read_text("utf-8").splitlines()[:-1]
    (tmp_path / "some.jsonl").write_text("\n".join(some), "utf-8")
    assert main([*SCORE, "--predictions", str(tmp_path / "some.jsonl")]) == 0
    captured = capsys.readouterr()
    assert "1 documents without a prediction are scored as empty: receipt-20" in captured.err
    assert "documents          20" in captured.out


def test_ids_of_one_side_only_are_told(capsys, tmp_path):
    (tmp_path / "bare.json").write_text(json.dumps([{}] * 20), "utf-8")
    assert main([*SCORE, "--predictions", str(tmp_path / "bare.json")]) == 0
    note = f"{SCORE[3]} has ids and {tmp_path / 'bare.json'} has none: documents are paired by position\n"
    assert capsys.readouterr().err == note


@pytest.mark.parametrize("name", ["none.jsonl", "none.json", "none.csv"])
def test_no_documents_are_an_error(capsys, tmp_path, name):
    (tmp_path / name).write_text({".json": "[]", ".csv": "id,total\n"}.get(Path(name).suffix, "\n"), "utf-8")
    path = str(tmp_path / name)
    assert main(["score", "kieval", "--references", path, "--predictions", path]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"error: {path} and {path} hold no documents: there is nothing to score\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["score", "kie", *SCORE[2:], *SYSTEMS], "there is no metric 'kie'; there are"),
        ([*SCORE, "--predictions", "none.jsonl"], "none.jsonl: there is no such file"),
        ([*SCORE, *SYSTEMS, "--processes", "0"], "processes must be a positive whole number, got 0"),
        ([*SCORE, *SYSTEMS, "--shema", "x"], "unknown option '--shema'; kieval has --schema"),
        ([*SCORE, *SYSTEMS, "--confidence-level"], "option --confidence-level needs a value"),
        ([*SCORE, *SYSTEMS, "--confidence-level=2"], "confidence_level must be a number between 0 and 1, got 2"),
        ([*SCORE, *SYSTEMS[:2], "--thresholds", "auto"], "has no confidence, which thresholds needs"),
        ([*SCORE, *SYSTEMS, "--output", "none/result.json"], "--output none/result.json: there is no folder none"),
        ([*SCORE, *SYSTEMS, "--output", str(RECEIPTS)], "receipts: this is a folder: give the name of a file"),
        (["score", "kie", "--help"], "there is no metric 'kie'; there are"),
        (["demo", "--fast"], "demo takes no options"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_bad_output_is_found_before_documents_are_read(capsys, tmp_path):
    command = ["score", "kieval", "--references", "none.jsonl", "--predictions", "none.jsonl"]
    assert main([*command, "--output", str(tmp_path / "none" / "result.json")]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_output_that_may_not_be_written_is_found_first(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    assert main([*SCORE, *SYSTEMS, "--output", str(tmp_path / "result.json")]) == 2
    assert "result.json: it may not be written" in capsys.readouterr().err


@pytest.mark.parametrize("name", MODULES)
def test_help_lists_and_explains_every_option_of_the_metric(capsys, name):
    with pytest.raises(SystemExit) as ended:
        main(["score", name, "--help"])
    assert ended.value.code == 0
    general, own = capsys.readouterr().out.split(f"\noptions of {name} ")
    assert "--predictions PATH" in general
    for option in dataclasses.fields(load_metric(name).OPTIONS):
        default = "(off)" if option.default is False else f"VALUE ({json.dumps(option.default)})"
        shown = re.escape(f"--{option.name.replace('_', '-')} {default}")
        # its line, and below it what it means
        assert re.search(rf"^  (--.*, )?{shown}(, --.*)?\n {{8}}\S", own, re.MULTILINE)


def test_help_without_a_metric_names_them(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["score", "--help"])
    assert ended.value.code == 0
    assert ", ".join(MODULES) in " ".join(capsys.readouterr().out.split())


def test_a_reader_that_has_enough_ends_the_command_quietly(tmp_path):
    output = tmp_path / "result.json"
    command = [sys.executable, "-m", "metrics", *SCORE, *SYSTEMS, "--output", str(output)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 128 + 13
    assert set(json.loads(output.read_text("utf-8"))) == {"system_a", "system_b"}


def test_demo_answers_its_three_questions(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    for part in ("20 receipts", "aligned", "Which fields fail?", "need no review"):
        assert part in printed
