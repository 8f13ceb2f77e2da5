"""The verbs of the command line."""

import json
import os
import sys
from pathlib import Path

import evaluate

from .details import describe_details, describe_operating_point
from .option_words import HelpWithOptions, parse_options
from .streams import count_paths
from .system_names import name_systems
from .tables import score_table, type_table
from .vendor import ROOT, module_folders

DEMO_TARGET = 0.95
RECEIPTS = ROOT / "examples" / "receipts"


def load_metric(name):
    known = {folder.name: folder for folder in module_folders()}
    if name not in known:
        raise ValueError(f"there is no metric {name!r}; there are {', '.join(known)}")
    return evaluate.load(str(known[name]), keep_in_memory=True)


def add_score(verbs):
    about = "score one or several systems; any option of the metric is --option value"
    parser = verbs.add_parser("score", help=about, description=about, add_help=False)
    parser.add_argument("metric", help=", ".join(folder.name for folder in module_folders()))
    parser.add_argument("--help", "-h", action=HelpWithOptions, load_metric=load_metric)
    several = "a file or folder of a system; may be given repeatedly"
    parser.add_argument("--predictions", action="append", required=True, metavar="PATH", help=several)
    parser.add_argument("--references", required=True, metavar="PATH", help="a file or folder")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="count in N processes")
    kept = "write all results as JSON; where documents have ids, those of per_document stand in document_ids"
    parser.add_argument("--output", metavar="FILE", help=kept)
    parser.set_defaults(run=score)


def score(given, unknown):
    metric = load_metric(given.metric)
    options = parse_options(metric, unknown)
    check_output(given.output)
    results, notes = {}, []
    for name, path in zip(name_systems(given.predictions), given.predictions, strict=True):
        counted = count_paths(metric, path, given.references, options, given.processes)
        if not len(counted.counts):
            raise ValueError(f"{path} and {given.references} hold no documents: there is nothing to score")
        results[name] = metric.score(counted.counts, **options)
        if options.get("per_document") and counted.ids:
            results[name]["document_ids"] = counted.ids
        notes += [note for note in counted.notes if note not in notes]
    if given.output:
        Path(given.output).write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", "utf-8")
    for note in notes:
        print(note, file=sys.stderr)
    print(score_table(results))
    if options.get("per_type"):
        print_type_tables(metric, results)
    for name, result in results.items():
        for block in describe_details(name, result, metric.MAIN_SCORE, options.get("target_aligned")):
            print(f"\n{block}")
    print(f"\n{metric.signature(**options)}")


def check_output(path):
    """Raise an error where results cannot be written: it should not come after hours of scoring."""
    if path is None:
        return
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"--output {path}: there is no folder {folder}: make it first")
    if Path(path).is_dir():
        raise ValueError(f"--output {path}: this is a folder: give the name of a file")
    if not os.access(path if Path(path).exists() else folder, os.W_OK):
        raise ValueError(f"--output {path}: it may not be written: choose another place")


def print_type_tables(metric, results):
    for family, score_name in metric.SHOWN_PER_TYPE.items():
        print(f"\n{type_table(results, score_name, family)}")


def add_demo(verbs):
    parser = verbs.add_parser("demo", help="score two invented systems on the receipts of examples/receipts")
    parser.set_defaults(run=demo)


def demo(given, unknown):
    if unknown:
        raise ValueError(f"demo takes no options, got {unknown[0]!r}")
    metric = load_metric("kieval")
    references = RECEIPTS / "references.jsonl"
    options = {"system_a": {}, "system_b": {"thresholds": "auto", "target_aligned": DEMO_TARGET}}
    results = {}
    for name, own_options in options.items():
        counts = count_paths(metric, RECEIPTS / f"{name}.jsonl", references, own_options).counts
        results[name] = metric.score(counts, per_type=True, confidence_level=0.95, **own_options)
    print(f"{len(counts)} receipts, values compared exactly. 95 % intervals over documents in brackets.\n")
    print(score_table(results))
    print(f"\nWhich fields fail?\n{type_table(results, 'aligned')}")
    print(f"\n{describe_operating_point('system_b', results['system_b']['operating_point'], DEMO_TARGET)}")
