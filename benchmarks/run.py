"""Runs the benchmarks and writes what they found into benchmarks/README.md.

    python benchmarks/run.py [bench_kieval ..]

With names, only these are measured; what was found before of the others is kept in results.json.
"""

import json
import subprocess
import sys
from pathlib import Path

import compare
from report import write_report

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
SCRIPTS = sorted(path.stem for path in HERE.glob("bench_*.py"))


def main(names):
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name in names:
        print(f"== {name}", flush=True)
        if name == "compare":
            results |= compare.measure()
        else:
            results.setdefault("printed", {})[name] = run_script(name)
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    write_report(results)


def run_script(name):
    """What a script prints; it is shown meanwhile."""
    command = [sys.executable, str(HERE / f"{name}.py")]
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        sys.exit(f"{name} failed")
    return "".join(lines)


if __name__ == "__main__":
    main(sys.argv[1:] or [*SCRIPTS, "compare"])
