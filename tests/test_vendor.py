import ast
import shutil
import subprocess
import sys

import pytest
from helpers import MODULES, ROOT


@pytest.fixture
def clone(tmp_path):
    """The sources in an empty folder, free to be broken."""
    for name in ("metrics", *MODULES):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def vendor(folder, *arguments):
    command = [sys.executable, "-m", "metrics.vendor", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_copies_are_those_of_the_source():
    result = vendor(ROOT, "--check")
    assert result.returncode == 0, result.stdout + result.stderr


def test_changed_missing_and_stale_copies_are_found_and_repaired(clone):
    (clone / "kieval" / "columns.py").write_text("changed = True\n")
    (clone / "kieval" / "groups.py").unlink()
    (clone / "kieval" / "markup.py").unlink()  # needed by the page, through other files
    (clone / "kieval" / "vendor.py").write_text("stale = True\n")
    result = vendor(clone, "--check")
    assert result.returncode == 1
    for name in ("columns.py", "groups.py", "markup.py", "vendor.py"):
        assert f"kieval/{name} differs" in result.stdout
    assert "python -m metrics.vendor" in result.stderr
    assert vendor(clone).returncode == 0
    assert vendor(clone, "--check").returncode == 0


def test_import_that_evaluate_would_not_find_is_named(clone):
    script = clone / "kieval" / "kieval.py"
    lines = [line for line in script.read_text("utf-8").splitlines() if not line.startswith("from .problems")]
    script.write_text("\n".join(lines), "utf-8")
    result = vendor(clone, "--check")
    assert result.returncode == 1
    assert "from .problems import" in result.stderr


@pytest.mark.parametrize("name", MODULES)
def test_imports_are_as_evaluate_reads_them(name):
    """evaluate takes a comment behind an import for an address, and copies no `from . import x`."""
    for path in (ROOT / name).glob("*.py"):
        source = path.read_text("utf-8")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                assert "#" not in source.splitlines()[node.lineno - 1], f"{path.name}:{node.lineno}"
                assert not (isinstance(node, ast.ImportFrom) and node.level and not node.module)
                assert not (isinstance(node, ast.Import) and len(node.names) > 1)
