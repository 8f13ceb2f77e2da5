"""Every example of a README is run."""

import doctest
import re
import subprocess
import sys

import pytest
from helpers import MODULES, ROOT

CARDS = [ROOT / "README.md", ROOT / "metrics" / "TRAINING.md", *(ROOT / name / "README.md" for name in MODULES)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTIONS = [
    "## Metric Description",
    "## How to Use",
    "### Inputs",
    "### Output Values",
    "### Examples",
    "## Limitations and Bias",
    "## Citation",
    "## Further References",
]


def blocks(card, language):
    return [code for found, code in BLOCK.findall(card.read_text("utf-8")) if found == language]


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.parent.name)
def test_python_examples(card, monkeypatch):
    monkeypatch.chdir(ROOT)
    examples = blocks(card, "python")
    assert examples, "a card needs an example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    names = {}
    for number, code in enumerate(examples):
        test = doctest.DocTestParser().get_doctest(code, names, f"{card.parent.name} block {number}", str(card), 0)
        assert test.examples, f"no example in block {number}"
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    assert runner.failures == 0


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.parent.name)
def test_commands(card):
    for line in "".join(blocks(card, "bash")).splitlines():
        if line.startswith("python -m metrics"):
            command = line.replace("python", sys.executable, 1)
            result = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
            assert result.returncode == 0, result.stderr
        else:
            target = re.fullmatch(r"make (\w+)( \w+=\w+)?", line)
            assert target, f"no test for the command {line!r}"
            assert re.search(rf"^{target[1]}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("name", MODULES)
def test_card_has_the_sections_of_evaluate_and_the_front_matter_of_a_space(name):
    text = (ROOT / name / "README.md").read_text("utf-8")
    front = text.split("---")[1]
    for key in ("title:", "sdk: gradio", "sdk_version:", "app_file: app.py", "- evaluate", "- metric"):
        assert key in front
    positions = [text.index(f"\n{section}\n") for section in SECTIONS]
    assert positions == sorted(positions)
