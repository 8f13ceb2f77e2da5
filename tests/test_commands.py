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


def blocks_of(printed):
    """Title -> lines of each block that follows the table of scores."""
    _, *blocks = printed.split("\n\n")
    return {block.splitlines()[0]: block.splitlines()[1:] for block in blocks}


def test_curve_and_operating_point_are_printed(capsys, tmp_path):
    output = tmp_path / "result.json"
    assert main([*SCORE, *SYSTEMS[2:], "--target-aligned", "0.95", "--output", str(output)]) == 0
    result = json.loads(output.read_text("utf-8"))["system_b"]
    point, blocks = result["operating_point"], blocks_of(capsys.readouterr().out)
    sentence = next(title for title in blocks if title.startswith("system_b reaches"))
    assert f"a confidence below {point['threshold']} are reviewed" in sentence
    header, *rows = blocks[f"Curve of system_b, 12 of {len(result['curve'])} points"]
    assert header.split() == list(result["curve"][0])
    assert len(rows) == 12
    assert [row.split()[0] for row in (rows[0], rows[-1])] == [
        f"{result['curve'][index]['threshold']:g}" for index in (0, -1)
    ]


def test_target_that_no_threshold_reaches_is_told(capsys):
    assert main([*SCORE, *SYSTEMS[2:], "--target-aligned", "0.999"]) == 0
    assert "system_b reaches 99.9 % aligned with no threshold of its confidence." in capsys.readouterr().out


def test_sweep_of_thresholds_is_printed_for_each_system(capsys, oinerval):
    references, *predictions = ([json.loads(line)["document"] for line in (RECEIPTS / name).open(encoding="utf-8")]
                                for name in ("references.jsonl", "system_a.jsonl", "system_b.jsonl"))  # fmt: skip
    assert main(["score", "oinerval", *SCORE[2:], *SYSTEMS, "--threshold", "[0.3, 0.1]"]) == 0
    blocks = blocks_of(capsys.readouterr().out)
    for system, documents in zip(("system_a", "system_b"), predictions, strict=True):
        for threshold, row in zip((0.3, 0.1), blocks[f"Curve of {system}"][1:], strict=True):
            result = oinerval.compute(predictions=documents, references=references, threshold=threshold)
            assert row.split()[0] == str(threshold)
            assert row.split()[-1] == f"{result['oinerval_f1']:.3f}"


@pytest.mark.parametrize("name", MODULES)
def test_worst_documents_are_printed_and_results_name_their_documents(capsys, tmp_path, name):
    output = tmp_path / "result.json"
    assert main(["score", name, *SCORE[2:], *SYSTEMS, "--per-document", "--output", str(output)]) == 0
    blocks, score = blocks_of(capsys.readouterr().out), load_metric(name).MAIN_SCORE
    is_error_rate = name in ("oinerval", "bag_of_entities")
    for system, result in json.loads(output.read_text("utf-8")).items():
        assert result["document_ids"] == [f"receipt-{number:02}" for number in range(1, 21)]
        header, *rows = blocks[f"Worst documents of {system}, 10 of 20"]
        assert header.split() == ["document", score]
        values = {i: row[score] for i, row in zip(result["document_ids"], result["per_document"], strict=True)}
        worst = sorted(values, key=values.get, reverse=is_error_rate)[:10]
        assert [row.split() for row in rows] == [[i, f"{values[i]:.3f}"] for i in worst]


def test_worst_documents_without_ids_are_told_by_position(capsys, tmp_path):
    (tmp_path / "r.jsonl").write_text('{"t": 1}\n{"t": 2}\n{"t": 3}\n', "utf-8")
    (tmp_path / "p.jsonl").write_text('{"t": 1}\n{"t": 2}\n{"t": 4}\n', "utf-8")
    output = tmp_path / "result.json"
    paths = ["--references", str(tmp_path / "r.jsonl"), "--predictions", str(tmp_path / "p.jsonl")]
    assert main(["score", "kieval", *paths, "--per-document", "--output", str(output)]) == 0
    header, worst, *_ = blocks_of(capsys.readouterr().out)["Worst documents of p"]
    assert header.split("  ")[0] == "position from 0"
    assert worst.split() == ["2", "0.000"]
    assert "document_ids" not in json.loads(output.read_text("utf-8"))["p"]


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


@pytest.mark.parametrize("more", [[], ["--help"]])
def test_a_reader_that_has_enough_ends_the_command_quietly(tmp_path, more):
    output = tmp_path / "result.json"
    command = [sys.executable, "-m", "metrics", *SCORE, *SYSTEMS, "--output", str(output), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 128 + 13
    assert output.exists() or more


def test_demo_answers_its_three_questions(capsys):
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out
    for part in ("20 receipts", "aligned", "Which fields fail?", "need no review"):
        assert part in printed
