"""Copies the shared files into the module folders, so that each folder works alone.

    python -m metrics.vendor            refreshes the copies
    python -m metrics.vendor --check    fails where a copy differs

A folder gets the files that its `<name>.py` imports as `from .x import y`: those are the ones that evaluate
copies when it loads the module, so that file must import all that the shared files need of each other. Its page,
`app.py`, says `from space.x import y`, and gets those files and all that they need.
"""

import re
import sys
from pathlib import Path

from .schema_source import generate_shipped_schemas

SHARED = Path(__file__).parent
ROOT = SHARED.parent
IMPORT = re.compile(r"^\s*from \.(\w+) import", re.MULTILINE)
PAGE_IMPORT = re.compile(r"^from space\.(\w+) import", re.MULTILINE)


def module_folders():
    return sorted(path.parent for path in ROOT.glob("*/*.py") if path.stem == path.parent.name)


def wanted_files():
    """Path -> content of every generated file and copy."""
    shipped = SHARED / "shipped_schemas.py"
    wanted = {shipped: generate_shipped_schemas().encode()}
    for folder in module_folders():
        for name in sorted({*_shared_imports(folder), *_page_imports(folder)}):
            source = SHARED / f"{name}.py"
            wanted[folder / source.name] = wanted.get(source) or source.read_bytes()
        for source in SHARED.glob("*.md"):
            wanted[folder / source.name] = source.read_bytes()
    return wanted


def _shared_imports(folder):
    script = folder / f"{folder.name}.py"
    imported = _with_what_they_import(name for name in IMPORT.findall(script.read_text("utf-8")) if _is_shared(name))
    if missing := sorted(imported - set(IMPORT.findall(script.read_text("utf-8")))):
        lines = "\n".join(f"    from .{name} import .." for name in missing)
        sys.exit(
            f"{script.relative_to(ROOT)} must import what its shared files need, or evaluate does not find it:\n{lines}"
        )
    return imported


def _page_imports(folder):
    page = folder / "app.py"
    wanted = PAGE_IMPORT.findall(page.read_text("utf-8")) if page.exists() else []
    return _with_what_they_import([*wanted, "space"]) if wanted else set()


def _with_what_they_import(names):
    """Shared files, and those that they import, and so on."""
    found, wanted = set(), list(names)
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += IMPORT.findall((SHARED / f"{name}.py").read_text("utf-8"))
    return found


def _is_shared(name):
    return (SHARED / f"{name}.py").exists()


def stale_copies(wanted):
    """Copies of shared files that a module does not import any more."""
    return [
        path
        for folder in module_folders()
        for path in folder.glob("*.py")
        if (SHARED / path.name).exists() and path not in wanted
    ]


def main(check):
    wanted = wanted_files()
    different = [path for path, content in wanted.items() if not path.exists() or path.read_bytes() != content]
    stale = stale_copies(wanted)
    if check:
        for path in different + stale:
            print(f"{path.relative_to(ROOT)} differs from its source in metrics/")
        if different or stale:
            sys.exit("Edit the file in metrics/ and run: python -m metrics.vendor")
        return
    for path in different:
        path.write_bytes(wanted[path])
    for path in stale:
        path.unlink()


if __name__ == "__main__":
    main(check="--check" in sys.argv[1:])
