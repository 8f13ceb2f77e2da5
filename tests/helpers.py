import json
from pathlib import Path

import evaluate
import pytest

ROOT = Path(__file__).parent.parent
CONFORMANCE = ROOT.parent / "shared" / "conformance"
MODULES = sorted(path.parent.name for path in ROOT.glob("*/*.py") if path.stem == path.parent.name)


def load(name, **options):
    return evaluate.load(str(ROOT / name), **options)


def read_conformance(name):
    """Scores of other people's software, where they are at hand."""
    path = CONFORMANCE / name
    if not path.exists():
        pytest.skip(f"{name} is not at hand: it is looked for in the folder shared/conformance beside the clone")
    return json.loads(path.read_text("utf-8"))
