"""The results of the benchmarks as benchmarks/README.md and benchmarks/chart.svg."""

import ast
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

HERE = Path(__file__).parent
# Both read well on white and on black.
TEXT = "#808080"
COLOURS = ["#1f77b4", "#d9730d", "#2ca02c", "#c0504d", "#9467bd"]

INTRODUCTION = """\
# Measured

Made by `make bench`: first side by side with the peers, then [what we ask of ourselves](#what-we-ask-of-ourselves).

## Side by side with the peers

The same invented documents (a tenth of the values wrong), one run, every peer in a virtual
environment of its own. Only scoring is timed; reading files and preparing a tool's own input is not. Tools take turns,
{turns} of each; a ratio is the time of a peer over that of our module in the same turn, as the median and (lowest to
highest) of the turns. Memory is what a process gained at its peak while scoring; 0 says that it stayed
below the peak of loading the documents. A score that both measure must agree;
where nothing is said, the tools measure different things, and only their cost is compared.

Run on {date} with Python {python} on {system}, two cores. Versions: {versions}.
*plain KIEval* is the metric's definition in plain Python with scipy's assignment ([plain_kieval.py](plain_kieval.py)).

![Time of each tool, on logarithmic scales](chart.svg)
"""


def write_report(results):
    draw_chart(results["rows"])
    machine = results["machine"]
    parts = [
        INTRODUCTION.format(
            turns=5,
            versions=", ".join(package.replace("==", " ") for package in machine["packages"].values()),
            **{key: machine[key] for key in ("date", "python", "system")},
        )
    ]
    for corpus, own in dict.fromkeys((row["corpus"], row["own"]) for row in results["rows"]):
        rows = [row for row in results["rows"] if (row["corpus"], row["own"]) == (corpus, own)]
        parts.append(f"### {corpus[0].upper()}{corpus[1:]}: `{own}`\n\n{format_rows(corpus, rows)}\n")
    parts.append("## What we ask of ourselves\n\nMedian and (range) of the turns of one run.\n")
    for name, printed in sorted(results.get("printed", {}).items()):
        parts.append(f"### {name}\n\n{describe_script(name)}\n\n```text\n{printed.rstrip()}\n```\n")
    (HERE / "README.md").write_text("\n".join(parts), "utf-8")


def describe_script(name):
    """The first paragraph of a script's docstring."""
    docstring = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text("utf-8")))
    return f"[{name}.py]({name}.py): {docstring.split(chr(10) * 2)[0]}"


def format_rows(corpus, rows):
    head = ["rows" if "rows" in corpus else "documents", "tool", "time", "ratio", "memory", "agreement"]
    lines = [head, ["---:", "---", "---:", "---:", "---:", "---"]]
    for row in rows:
        if "left_out" in row:
            lines.append([f"{row['size']:,}", row["tool"], row["left_out"], "", "", ""])
            continue
        low, middle, high = row["ratio"]
        is_own = row["tool"] == row["own"]
        ratio = "1" if is_own else f"{middle:.3g} ({low:.3g} to {high:.3g})"
        cells = [f"{row['size']:,}", row["tool"], format_time(row["seconds"]), ratio, f"{row['memory']:.0f} MB"]
        lines.append([*cells, agreement(row)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def agreement(row):
    if row["difference"] is None or row["tool"] == row["own"]:
        return ""
    scores = ", ".join(row["same_scores"])
    return f"{scores}: {'equal' if row['difference'] < 1e-9 else 'differs by ' + format(row['difference'], '.2g')}"


def format_time(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def draw_chart(rows):
    """Left: time against the number of receipts. Right: against the rows of one table. Both logarithmic."""
    plt.rcParams.update({"text.color": TEXT, "axes.labelcolor": TEXT, "xtick.color": TEXT, "ytick.color": TEXT,
                         "axes.edgecolor": TEXT, "font.size": 11, "svg.hashsalt": "chart"})  # fmt: skip
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2))
    draw_lines(axes[0], rows, "receipts", "receipts")
    draw_lines(axes[1], rows, "rows of one table", "rows of one table")
    axes[0].set_ylabel("seconds")
    figure.tight_layout()
    figure.savefig(HERE / "chart.svg", transparent=True, metadata={"Date": None})
    plt.close(figure)


def draw_lines(axis, rows, corpus, label):
    rows = [row for row in rows if (row["corpus"], row["own"]) == (corpus, "kieval") and "seconds" in row]
    for colour, tool in zip(COLOURS, dict.fromkeys(row["tool"] for row in rows), strict=False):
        points = [(row["size"], row["seconds"]) for row in rows if row["tool"] == tool]
        sizes, seconds = zip(*points, strict=True)
        axis.plot(sizes, seconds, marker="o", color=colour, linewidth=2.5 if tool == "kieval" else 1.5)
        axis.annotate(
            tool,
            points[-1],
            xytext=(6, -4 if tool == "kieval" else 8),
            textcoords="offset points",
            color=colour,
            va="center",
        )
    axis.set(xscale="log", yscale="log", xlabel=label)
    axis.grid(color=TEXT, alpha=0.25)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.margins(x=0.25)
