"""The files of the VRDU benchmark -> documents and options.

The benchmark has a folder for each corpus (registration-form, ad-buy-form):

    main/meta.json             name -> match function, and name -> appearance pattern
    main/dataset.jsonl         one document a line: "filename" and "annotations" (also as dataset.jsonl.gz)
    few_shot-splits/*.json     lists of file names: "train", "valid", "test"

and a model writes, for each split, what it extracted:

    <split>-test_predictions.json    {"results": {filename: [[name, [text, box, segments]], ..]}}

An annotation is [name, [[text, box, segments], ..]], the candidates being alternatives; a hierarchical one is
[[name, ..], [[[text, box, segments], ..]]]. The appearance pattern is "unrepeated", "repeated" or the name of
the hierarchical entity that the name is a component of; without patterns every name is unrepeated. White space in
texts is collapsed, as the benchmark's toolkit does.
"""

import gzip
import json
import warnings
from pathlib import Path

from .problems import quote

# The benchmark's match functions as comparators. Dates are American, and a swapped day and month is forgiven;
# prices may differ by a cent.
COMPARATOR_OF = {
    "DateMatch": {"type": "date", "dayfirst": False, "swap_day_month": True},
    "PriceMatch": {"type": "money", "tolerance": 0.01, "relative": False, "decimal": "."},
    "AddressMatch": "address",
    "NumericalStringMatch": "digits",
    "GeneralStringMatch": "alnum",
    "NameMatch": "name",
    "DefaultMatch": "exact",
}
NAMED = 5
UNREPEATED, REPEATED = "unrepeated", "repeated"


def read_benchmark(corpus, extractions, split=None, part="test"):
    """Predictions, references and options of a corpus folder, as `compute` takes them.

    `split` is the path of a split file, whose `part` is evaluated; without one, every document of the data set is.
    A document without extractions is an empty one, of which a warning tells; where all are, it is an error. So are
    extractions for a file that the data set lacks.
    """
    main = Path(corpus) / "main"
    options = read_meta(main / "meta.json")
    references = read_dataset(_dataset_file(main), options)
    extracted = read_extractions(extractions)
    if unknown := [name for name in extracted if name not in references]:
        raise ValueError(f"{extractions}: {len(unknown)} files are not in the data set: {quote(unknown[0])}")
    names = list(references) if split is None else read_split(split, part)
    if missing := [name for name in names if name not in references]:
        raise ValueError(f"{split}: {len(missing)} files are not in the data set: {quote(missing[0])}")
    _report_missing([name for name in names if name not in extracted], len(names), extractions)
    return [extracted.get(name, []) for name in names], [references[name] for name in names], options


def _report_missing(missing, documents, extractions):
    if not missing:
        return
    some = ", ".join(map(quote, missing[:NAMED])) + (", .." if len(missing) > NAMED else "")
    if len(missing) == documents:
        raise ValueError(
            f"{extractions}: no extractions for any of the {documents} evaluated documents ({some}): "
            "give the file of this split, with the file names of the data set"
        )
    message = f"{extractions}: {len(missing)} of {documents} documents have no extractions and score as empty: {some}"
    warnings.warn(message, stacklevel=3)


def read_meta(path):
    """The options of vrdu_f1 that a meta.json stands for: schema, repeated, groups."""
    meta = _read_json(path)
    functions = _get(meta, "entity_name_to_match_func", dict, path)
    schema = {name: _comparator(name, function, path) for name, function in functions.items()}
    patterns = meta.get("entity_appearance_pattern", dict.fromkeys(functions, UNREPEATED))
    if not isinstance(patterns, dict) or not all(isinstance(pattern, str) for pattern in patterns.values()):
        raise ValueError(f"{path}: expected entity_appearance_pattern to map names to patterns")
    groups = {}
    for name, pattern in patterns.items():
        if pattern not in (UNREPEATED, REPEATED):
            groups.setdefault(pattern, []).append(name)
    return {
        "schema": schema,
        "repeated": [name for name, pattern in patterns.items() if pattern == REPEATED],
        "groups": groups,
    }


def read_dataset(path, options):
    """File name -> document of a dataset.jsonl, under the options of its meta.json."""
    documents = {}
    with _open(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                place = f"{path}:{number}"
                entry = _parse(line, place)
                name = _get(entry, "filename", str, place)
                if name in documents:
                    raise ValueError(f"{place}: the file {quote(name)} stands twice")
                annotations = _get(entry, "annotations", list, place)
                documents[name] = _document(annotations, options, place)
    return documents


def read_extractions(path):
    """File name -> entities in the order of a model's extraction file."""
    results = _get(_read_json(path), "results", dict, path)
    documents = {}
    for filename, items in results.items():
        place = f"{path}: {quote(filename)}"
        if not isinstance(items, list):
            raise ValueError(f"{place}: expected a list of [name, [text, box, segments]]")
        documents[filename] = [_extraction(item, f"{place}[{index}]") for index, item in enumerate(items)]
    return documents


def read_split(path, part="test"):
    """The file names of one part of a split file."""
    return _get(_read_json(path), part, list, path)


def _document(annotations, options, place):
    ungrouped, groups = [], []
    for index, annotation in enumerate(annotations):
        where = f"{place} annotations[{index}]"
        if not isinstance(annotation, list) or len(annotation) != 2 or not isinstance(annotation[1], list):
            raise ValueError(f"{where}: expected [name, [[text, box, segments], ..]]")
        name, candidates = annotation
        if isinstance(name, list):
            groups.append(_group(name, candidates, options, where))
            continue
        texts = list(dict.fromkeys(_text(candidate, where) for candidate in candidates))
        if name in options["repeated"] and len(texts) > 1:
            raise ValueError(f"{where}: {len(texts)} alternatives of the repeated name {quote(name)}; give one")
        ungrouped += [{"type": name, "value": text} for text in texts]
    return [{"type": "", "entities": ungrouped}, *groups]


def _group(names, candidates, options, place):
    owner = next((group for group, known in options["groups"].items() if set(names) <= set(known)), None)
    if owner is None:
        raise ValueError(f"{place}: {quote(', '.join(map(str, names)))} are components of no hierarchical entity")
    if len(candidates) != 1 or not isinstance(candidates[0], list) or len(candidates[0]) != len(names):
        raise ValueError(f"{place}: expected one candidate with a text for each of its {len(names)} names")
    texts = [_text(component, place) for component in candidates[0]]
    return {"type": owner, "entities": [{"type": n, "value": t} for n, t in zip(names, texts, strict=True)]}


def _extraction(item, place):
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        raise ValueError(f"{place}: expected [name, [text, box, segments]]")
    return {"type": item[0], "value": _text(item[1], place)}


def _text(entity, place):
    """The text of [text, box, segments], or a text alone, with its white space collapsed."""
    text = entity[0] if isinstance(entity, list) and entity else entity
    if not isinstance(text, str):
        raise ValueError(f"{place}: expected [text, box, segments], got {quote(entity)}")
    return " ".join(text.split())


def _comparator(name, function, path):
    if function not in COMPARATOR_OF:
        known = ", ".join(COMPARATOR_OF)
        raise ValueError(f"{path}: unknown match function {quote(function)} of {quote(name)}; known: {known}")
    return COMPARATOR_OF[function]


def _dataset_file(folder):
    for name in ("dataset.jsonl", "dataset.jsonl.gz"):
        if (folder / name).exists():
            return folder / name
    raise ValueError(f"{folder}: there is no dataset.jsonl or dataset.jsonl.gz")


def _open(path):
    path = Path(path)
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _read_json(path):
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    return _parse(text, path)


def _parse(text, place):
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError(f"{place}: not JSON ({error})") from None


def _get(mapping, key, kind, place):
    found = mapping.get(key) if isinstance(mapping, dict) else None
    if not isinstance(found, kind):
        what = {dict: "a mapping", list: "a list", str: "a text"}[kind]
        raise ValueError(f"{place}: expected {what} under {key!r}, got {quote(found)}")
    return found
