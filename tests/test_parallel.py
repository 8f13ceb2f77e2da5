"""Several processes: the same numbers, errors that name the document, and no hang."""

import json
import multiprocessing
import os
import signal
import threading
import time

import pyarrow as pa
import pytest
from helpers import MODULES, ROOT, load
from hypothesis import given
from hypothesis import strategies as st
from test_module import start

from metrics.parallel import DOCUMENTS_OF_A_TASK, Packed, Task, count_tasks
from metrics.sums import exact_sum

every_module = pytest.mark.parametrize("name", MODULES)
SECONDS_TO_NOTICE = 60


def make_corpus(documents):
    """Predictions as JSON text, references as nested groups, mappings and entities."""
    predictions, references = [], []
    for number in range(documents):
        rows = [{"name": f"item {(number + row) % 7}", "price": str(number % 5)} for row in range(number % 4)]
        forms = [
            {"menu": rows, "total": str(number % 3)},
            [("total", str(number % 3)), ("date", "12 mars")],
            [{"type": "menu", "entities": [{"type": "menu.name", "value": f"item {number % 7}"}]}],
        ]
        predictions.append(json.dumps({"menu": rows[:2], "total": str(number % 2)}))
        references.append(forms[number % 3])
    return predictions, references


@every_module
def test_several_processes_give_the_same_table(name):
    metric = load(name, keep_in_memory=True)
    predictions, references = make_corpus(3 * DOCUMENTS_OF_A_TASK + 7)
    expected = metric.count(predictions, references)
    assert metric.count(predictions, references, processes=2) == expected


def test_documents_added_before_do_not_disturb_counting(kieval):
    metric = load("kieval", keep_in_memory=True, schema={"*": "string"})
    metric.add(prediction={"a": "1"}, reference={"a": "1"})
    counts = metric.count([{"a": "X"}], [{"a": "x"}], processes=2)
    assert metric.score(counts)["aligned"] == 1.0
    assert metric.compute()["documents"] == 1


def test_arrow_columns_and_no_documents_at_all(kieval):
    predictions, references = ([[{"type": "", "entities": [{"type": "a", "value": "1"}]}]] * 600 for _ in range(2))
    plain = kieval.count(predictions, references)
    columns = [pa.chunked_array([pa.array(side)]) for side in (predictions, references)]
    assert kieval.count(*columns, processes=2) == plain
    assert kieval.count([], [], processes=2) == kieval.count([], [])


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        ([{"a": "1"}] * 1203 + [{"a": [["x"]]}] + [{"a": "1"}] * 100, {}, r'predictions\[1203\]\["a"\]\[0\]: expected'),
        ([{"a": "1"}] * 1203 + [3.5] + [{"a": "1"}] * 100, {}, r"predictions\[1203\]: expected a document"),
        ([{"a": "1"}] * 1304, {"thresholds": [0.5]}, r"predictions\[0\]: 'a' '1' has no confidence"),
        ([{"a": "1"}] * 1303, {}, "predictions has 1303 documents, references has 1304"),
        ({"a": "1"}, {}, "predictions: expected a list of documents, got dict"),
    ],
)
def test_error_names_the_document_whatever_the_number_of_processes(kieval, predictions, options, message):
    for processes in (1, 2):
        with pytest.raises(ValueError, match=message):
            kieval.count(predictions, [{"a": "1"}] * 1304, processes=processes, **options)


@pytest.mark.parametrize("processes", [0, -1, 1.5, True, "2"])
def test_number_of_processes_is_checked(kieval, processes):
    with pytest.raises(ValueError, match="processes must be a positive whole number"):
        kieval.count([{}] * 2, [{}] * 2, processes=processes)


class Deadly:
    """A document that ends the process that receives it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_worker_that_ends_is_an_error_that_names_the_documents(kieval):
    predictions = [{"a": "1"}] * 600 + [Deadly()]
    began = time.monotonic()
    with pytest.raises(ChildProcessError, match=r"a worker process died while counting documents (0|500) to "):
        kieval.count(predictions, [{"a": "1"}] * 601, processes=2)
    assert time.monotonic() - began < SECONDS_TO_NOTICE
    assert multiprocessing.active_children() == []


def test_killed_worker_is_an_error_soon(kieval):
    def kill_a_worker():
        while not (children := multiprocessing.active_children()):
            time.sleep(0.05)
        os.kill(children[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    began = time.monotonic()
    with pytest.raises(ChildProcessError, match="a worker process died"):
        kieval.count(["{}"] * 100_000, [{}] * 100_000, processes=2)
    killer.join()
    assert time.monotonic() - began < SECONDS_TO_NOTICE


def test_only_a_few_tasks_are_read_ahead(kieval):
    made = []

    def make_tasks():
        for number in range(40):
            made.append(number)
            yield Task(number, [{"a": "1"}], [{"a": "1"}])

    results = count_tasks(kieval, make_tasks(), {}, processes=2)
    next(results)
    assert len(made) < 10
    results.close()


def test_slice_of_an_arrow_column_is_sent_without_the_rest():
    column = pa.array(["x" * 100] * 10_000)
    packed = Packed.pack(column[5:7])
    assert len(packed.data) < 2_000
    assert Packed.unpack(packed) == column[5:7]


@every_module
def test_sums_of_pieces_score_the_same_to_the_last_digit(name):
    metric = load(name, keep_in_memory=True)
    counts = metric.count(*make_corpus(100))
    expected = metric.score(counts, per_type=True)
    for size in (1, 7, 100):
        pieces = [metric.sum_counts(counts.slice(first, size)) for first in range(0, 100, size)]
        merged = metric.sum_counts(pa.concat_tables(pieces))
        assert metric.score(merged, per_type=True) == expected
        assert len(merged) < 10
    with pytest.raises(ValueError, match="these counts are sums over documents"):
        metric.score(merged, per_document=True)


def test_sums_keep_the_confidences_of_a_curve(kieval):
    predictions = [[{"type": "a", "value": "1", "confidence": c}] for c in (0.2, 0.9, 0.5)]
    counts = kieval.count(predictions, [{"a": "1"}, {"a": "2"}, {"a": "1"}], thresholds="auto")
    summed = kieval.sum_counts(counts)
    assert kieval.score(summed, thresholds="auto") == kieval.score(counts, thresholds="auto")


@given(st.lists(st.lists(st.floats(-1e9, 1e9), max_size=9), max_size=9))
def test_exact_sums_of_pieces_add_up_to_the_exact_sum_of_all(pieces):
    values = [value for piece in pieces for value in piece]
    partial = [part for piece in pieces for part in exact_sum(pa.array(piece, pa.float64()).to_numpy())]
    expected = exact_sum(pa.array(values, pa.float64()).to_numpy())
    assert exact_sum(pa.array(partial, pa.float64()).to_numpy()) == expected


@every_module
def test_rounds_of_two_processes_do_not_mix(name, tmp_path):
    """The fast process is rounds ahead of the slow one, which still reads what belongs to its round."""
    script = """
        import json, sys, time, evaluate
        rank, folder, cache = int(sys.argv[1]), sys.argv[2], sys.argv[3]
        metric = evaluate.load(folder, num_process=2, process_id=rank, experiment_id="many", cache_dir=cache)
        for number in range(4):
            time.sleep(0.3 if rank == 0 else 0)
            documents = [{"total": str(number)}] * (number + 1)
            result = metric.for_round(number).compute(predictions=documents, references=documents)
            if rank == 0:
                print(json.dumps(result["documents"]))
    """
    processes = [start(script, str(rank), str(ROOT / name), str(tmp_path)) for rank in (0, 1)]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert outputs[0].split() == ["2", "4", "6", "8"]
    assert [process.returncode for process in processes] == [0, 0]
