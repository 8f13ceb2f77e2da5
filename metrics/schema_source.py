"""The shipped schemas are written as YAML files beside this one; a loaded module only reaches Python files.

So `shipped_schemas.py` is generated from them, and travels with every module.
"""

import json
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent
WIDTH = 110
HEAD = '"""The shipped schemas by name, generated from the YAML files of the metrics folder: edit those."""'


def schema_text(name: str) -> str:
    """Return the text of a shipped schema, with its comments, to be copied and edited.

    >>> schema_text("business_documents").splitlines()[0]
    '# Invoices, receipts and bank statements, as Australian businesses write them.'
    """
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")


def generate_shipped_schemas() -> str:
    """Return the content of shipped_schemas.py: the data of every metrics/*.yaml by name."""
    schemas = {path.stem: yaml.safe_load(schema_text(path.stem)) for path in sorted(FOLDER.glob("*.yaml"))}
    return f"{HEAD}\n\nSHIPPED_SCHEMAS = {_literal(schemas, 0, 18)}\n"


def _literal(value, indent: int, used: int) -> str:
    """Write plain data as Python, on one line where it fits, else an item a line, as ruff formats it."""
    if not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
    inner, pad = indent + 4, " " * (indent + 4)
    if isinstance(value, dict):
        names = {key: f"{_literal(key, 0, 0)}: " for key in value}
        parts = [name + _literal(value[key], inner, inner + len(name)) for key, name in names.items()]
    else:
        parts = [_literal(item, inner, inner) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    line = f"{opening}{', '.join(parts)}{closing}"
    if "\n" not in line and used + len(line) < WIDTH:
        return line
    return opening + "".join(f"\n{pad}{part}," for part in parts) + f"\n{' ' * indent}{closing}"
