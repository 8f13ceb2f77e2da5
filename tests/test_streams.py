"""Large files: read in step or by id, with the same result as reading them whole, in one process or several."""

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_module import run
from test_parallel import make_corpus

from metrics.documents import to_arrow
from metrics.files import pair_documents, read_documents
from metrics.streams import DOCUMENTS_OF_A_SPAN, count_paths

NUMBER = 2 * DOCUMENTS_OF_A_SPAN + 30


def write_json_lines(path, corpus):
    """Some lines are blank, and the file begins with a byte order mark."""
    lines = (json.dumps({"id": identifier, "document": document}) for identifier, document in corpus.items())
    path.write_text("\ufeff" + "\n\n".join(lines) + "\n", "utf-8")


def write_json(path, corpus):
    items = [{"id": identifier, "document": document} for identifier, document in corpus.items()]
    path.write_text(json.dumps(items), "utf-8")


def write_parquet(path, corpus):
    texts = [document if isinstance(document, str) else json.dumps(document) for document in corpus.values()]
    pq.write_table(pa.table({"id": list(corpus), "document": texts, "pages": [1] * len(corpus)}), path)


def write_parquet_of_groups(path, corpus):
    groups = to_arrow(list(corpus.values()))
    pq.write_table(pa.table({"id": list(corpus), "document": groups}), path, row_group_size=70)


def write_parquet_folder(path, corpus):
    path.mkdir()
    items = list(corpus.items())
    write_parquet(path / "part-0.parquet", dict(items[:300]))
    write_parquet(path / "part-1.parquet", dict(items[300:]))


WRITERS = {
    "lines.jsonl": write_json_lines,
    "list.json": write_json,
    "text.parquet": write_parquet,
    "groups.parquet": write_parquet_of_groups,
    "folder": write_parquet_folder,
}
every_form = pytest.mark.parametrize("form", WRITERS)


def make_files(folder, form, predicted, expected):
    paths = []
    for side, corpus in (("predictions", predicted), ("references", expected)):
        (folder / side).mkdir()
        WRITERS[form](folder / side / form, corpus)
        paths.append(folder / side / form)
    return paths


def corpora(number=NUMBER):
    sides = make_corpus(number)
    return [{f"receipt {index}": document for index, document in enumerate(side)} for side in sides]


def shuffled(corpus, seed=0):
    items = list(corpus.items())
    random.Random(seed).shuffle(items)
    return dict(items)


@every_form
@pytest.mark.parametrize("processes", [1, 2])
def test_documents_in_the_same_order(tmp_path, kieval, form, processes):
    predicted, expected = corpora()
    paths = make_files(tmp_path, form, predicted, expected)
    counted = count_paths(kieval, *paths, {}, processes)
    assert counted.counts == kieval.count(list(predicted.values()), list(expected.values()))
    assert counted.ids == list(expected)
    assert counted.notes == []


@every_form
@pytest.mark.parametrize("processes", [1, 2])
def test_documents_in_another_order_and_missing_predictions(tmp_path, kieval, form, processes):
    predicted, expected = corpora()
    some = {identifier: predicted[identifier] for identifier in list(predicted)[3:-600]}
    paths = make_files(tmp_path, form, shuffled(some), expected)
    counted = count_paths(kieval, *paths, {}, processes)
    in_order = [some.get(identifier, []) for identifier in expected]
    assert counted.counts == kieval.count(in_order, list(expected.values()))
    assert counted.ids == list(expected)
    missing = [identifier for identifier in expected if identifier not in some]
    assert counted.notes == [
        f"{paths[0]}: {len(missing)} documents without a prediction are scored as empty: {', '.join(missing[:5])}, .."
    ]


@every_form
def test_streams_agree_with_reading_whole_files(tmp_path, kieval, form):
    predicted, expected = corpora(100)
    paths = make_files(tmp_path, form, shuffled(predicted), expected)
    columns = pair_documents(*map(read_documents, paths))
    assert count_paths(kieval, *paths, {}).counts == kieval.count(columns[0], columns[1])


def test_forms_can_be_mixed(tmp_path, kieval):
    predicted, expected = corpora()
    write_parquet(tmp_path / "predictions.parquet", shuffled(predicted))
    write_json_lines(tmp_path / "references.jsonl", expected)
    counts = count_paths(kieval, tmp_path / "predictions.parquet", tmp_path / "references.jsonl", {}).counts
    assert counts == kieval.count(list(predicted.values()), list(expected.values()))


def test_documents_without_ids_are_paired_by_position(tmp_path, kieval):
    sides = make_corpus(NUMBER)
    for name, documents in zip(("p.jsonl", "r.jsonl"), sides, strict=True):
        lines = (document if isinstance(document, str) else json.dumps(document) for document in documents)
        (tmp_path / name).write_text("\n".join(lines), "utf-8")
    assert count_paths(kieval, tmp_path / "p.jsonl", tmp_path / "r.jsonl", {}).counts == kieval.count(*sides)
    (tmp_path / "short.jsonl").write_text("{}\n" * 3, "utf-8")
    with pytest.raises(ValueError, match=f"predictions has 3 documents, references has {NUMBER}: give each an id"):
        count_paths(kieval, tmp_path / "short.jsonl", tmp_path / "r.jsonl", {})


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("with_ids", ["p.jsonl", "r.jsonl"])
def test_ids_of_one_side_only_are_told_and_pair_nothing(tmp_path, kieval, with_ids, processes):
    corpus = {str(index): {"t": str(index)} for index in range(NUMBER)}
    for name in ("p.jsonl", "r.jsonl"):
        (tmp_path / name).write_text("\n".join(map(json.dumps, reversed(corpus.values()))), "utf-8")
    write_json_lines(tmp_path / with_ids, corpus)
    predictions, references = tmp_path / "p.jsonl", tmp_path / "r.jsonl"
    counted = count_paths(kieval, predictions, references, {}, processes)
    assert kieval.score(counted.counts)["true_positives"] == NUMBER % 2  # the document in the middle
    assert counted.ids == list(corpus)
    other = tmp_path / ({"p.jsonl", "r.jsonl"} - {with_ids}).pop()
    assert counted.notes == [f"{tmp_path / with_ids} has ids and {other} has none: documents are paired by position"]


def test_empty_files(tmp_path, kieval):
    for name in ("p.jsonl", "r.jsonl"):
        (tmp_path / name).write_text("\n", "utf-8")
    assert count_paths(kieval, tmp_path / "p.jsonl", tmp_path / "r.jsonl", {}).counts == kieval.count([], [])


def test_unparsable_answers_can_be_scored_as_empty(tmp_path, kieval):
    write_json_lines(tmp_path / "p.jsonl", {"a": "no JSON here", "b": {"t": "1"}})
    write_json_lines(tmp_path / "r.jsonl", {"a": {"t": "1"}, "b": {"t": "1"}})
    counts = count_paths(kieval, tmp_path / "p.jsonl", tmp_path / "r.jsonl", {"on_invalid": "empty"}).counts
    assert kieval.score(counts)["invalid_predictions"] == 1


def late(document, number=NUMBER):
    """Good documents, then a bad one."""
    return {str(index): {"t": "1"} for index in range(number)} | {"bad": document}


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("form", "document", "options", "message"),
    [
        ("lines.jsonl", {"a": [[1]]}, {}, rf'lines.jsonl:{2 * NUMBER + 1}\["a"\]\[0\]: expected a text'),
        ("lines.jsonl", "nothing", {}, rf"lines.jsonl:{2 * NUMBER + 1}: no JSON object"),
        ("lines.jsonl", {"t": "1"}, {"thresholds": [0.5]}, "lines.jsonl:1: 't' '1' has no confidence"),
        ("text.parquet", {"a": [[1]]}, {}, rf'text.parquet\[{NUMBER}\]\["a"\]\[0\]: expected a text'),
        ("folder", "nothing", {}, rf"part-1.parquet\[{NUMBER - 300}\]: no JSON object"),
    ],
)
def test_error_names_file_and_line(tmp_path, kieval, form, document, options, message, processes):
    paths = make_files(tmp_path, form, late(document), late({"t": "1"}))
    with pytest.raises(ValueError, match=message):
        count_paths(kieval, *paths, options, processes)


def append(path, line):
    path.write_text(path.read_text("utf-8") + line + "\n", "utf-8")


def test_repeated_and_unknown_ids_are_errors_however_far_apart(tmp_path, kieval):
    corpus = late({"t": "1"})
    paths = make_files(tmp_path, "lines.jsonl", corpus, corpus)
    for path in paths:
        append(path, '{"id": "7", "document": {}}')
    with pytest.raises(ValueError, match="the id '7' stands twice"):
        count_paths(kieval, *paths, {})
    write_json_lines(paths[1], corpus)
    with pytest.raises(ValueError, match="the id '7' stands twice"):
        count_paths(kieval, *paths, {})
    write_json_lines(paths[0], corpus | {"more": {}})
    with pytest.raises(ValueError, match="1 predictions have no reference: 'more'"):
        count_paths(kieval, *paths, {})
    append(paths[0], '{"t": "1"}')
    with pytest.raises(ValueError, match="some documents have an id and some have none"):
        count_paths(kieval, *paths, {})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no parquet", "a.parquet: not a Parquet file"),
        (pa.table({"text": ["{}"]}), "a.parquet: expected a column 'document' and maybe 'id', found 'text'"),
        (pa.table({"id": [None], "document": ["{}"]}), r"a.parquet\[0\]: expected a text or number as id"),
        (pa.table({"document": pa.array([None], pa.string())}), r"a.parquet\[0\]: expected a document .* got NoneType"),
        (pa.table({"document": [[{"type": 1, "entities": []}]]}), r"a.parquet\[0\]\[0\]\[.type.\]: the type of this"),
    ],
)
def test_bad_parquet_is_a_clear_error(tmp_path, kieval, content, message):
    path = tmp_path / "a.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        pq.write_table(content, path)
    with pytest.raises(ValueError, match=message):
        count_paths(kieval, path, path, {})
    with pytest.raises(ValueError, match=message):
        read_documents(path).to_arrow("predictions")


def test_whole_numbers_are_ids(tmp_path, kieval):
    pq.write_table(pa.table({"id": [2, 1], "document": ['{"t": 2}', '{"t": 1}']}), tmp_path / "p.parquet")
    (tmp_path / "r.jsonl").write_text('{"id": 1, "document": {"t": 1}}\n{"id": "2", "document": {"t": 2}}\n', "utf-8")
    counts = count_paths(kieval, tmp_path / "p.parquet", tmp_path / "r.jsonl", {}).counts
    assert kieval.score(counts)["aligned"] == 1.0


@pytest.mark.parametrize(("form", "is_in_step"), [("lines.jsonl", True), ("text.parquet", False)])
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc, which is not here")
def test_memory_does_not_grow_with_the_documents(tmp_path, form, is_in_step):
    peaks = {}
    for number in (5_000, 35_000):
        (tmp_path / str(number)).mkdir()
        corpus = {str(index): {"t": f"{index:>4000}"} for index in range(number)}
        predicted = corpus if is_in_step else dict(reversed(corpus.items()))
        peaks[number] = peak_memory(*make_files(tmp_path / str(number), form, predicted, corpus))
    # 30,000 more documents of 4 KB on either side
    more_text = 30_000 * 4_000 * 2
    assert peaks[35_000] - peaks[5_000] < more_text / 4


def peak_memory(predictions, references):
    """Bytes of a process of its own; files that are mapped into memory do not count, they can be dropped any time."""
    script = """
        import sys, threading
        from metrics.commands import load_metric
        from metrics.streams import count_paths
        seen, done = [], threading.Event()

        def watch():
            while not done.wait(0.01):
                seen.extend(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("RssAnon"))

        watcher = threading.Thread(target=watch)
        watcher.start()
        count_paths(load_metric("kieval"), sys.argv[1], sys.argv[2], {})
        done.set()
        watcher.join()
        print(max(seen))
    """
    return int(run(script, str(predictions), str(references))) * 1024
