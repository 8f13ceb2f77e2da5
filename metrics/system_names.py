"""Short names of systems, made of the paths of their predictions."""

import os
from collections import Counter
from pathlib import Path


def name_systems(paths):
    """A name for each path: that of the folder, or of the file without its ending, and more of it where some are equal.

    >>> name_systems(["runs/one/test.jsonl", "runs/two/test.jsonl", "other.jsonl", "other.jsonl"])
    ['one/test', 'two/test', 'other (1)', 'other (2)']
    """
    paths = [Path(os.path.abspath(path)) for path in paths]
    stems = [path if path.is_dir() else path.with_suffix("") for path in paths]
    files_of_stem = {stem: {path for path, own in zip(paths, stems, strict=True) if own == stem} for stem in stems}
    # a.json and a.jsonl of one folder keep their endings
    told = [stem if len(files_of_stem[stem]) == 1 else path for path, stem in zip(paths, stems, strict=True)]
    return _number_equal(_with_parents(told))


def _with_parents(paths):
    """The last part of each path, with as many parents as tell it from other paths."""
    lengths = [1] * len(paths)
    while True:
        names = ["/".join(path.parts[-length:]) for path, length in zip(paths, lengths, strict=True)]
        paths_of = {name: {path for path, own in zip(paths, names, strict=True) if own == name} for name in names}
        equal = [index for index, name in enumerate(names) if len(paths_of[name]) > 1]
        if not equal:
            return names
        for index in equal:
            lengths[index] += 1


def _number_equal(names):
    total, seen = Counter(names), Counter()
    numbered = []
    for name in names:
        seen[name] += 1
        numbered.append(f"{name} ({seen[name]})" if total[name] > 1 else name)
    return numbered
