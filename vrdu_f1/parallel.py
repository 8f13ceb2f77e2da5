"""Counting in several processes: the same rows of counts in the same order, whatever the number of processes.

A task is some documents of both sides. It is sent to a worker as it is, and read, normalised and counted there:
that is where the time goes. New processes are spawned, because a fork would copy the locks of Arrow's threads.
"""

import contextlib
import functools
import gc
import pickle
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import NamedTuple

import pyarrow as pa
from datasets.utils import tqdm

from .documents import list_documents, plain_groups_to_arrow
from .problems import relocate

DOCUMENTS_OF_A_TASK = 500
TASKS_AHEAD = 2
SECONDS_WITHOUT_PROGRESS_BAR = 3


class Read(NamedTuple):
    """The documents of a task, where each stands: `place(side, index)`, and what else the task wants to tell."""

    predictions: object
    references: object
    place: object
    told: object = None


@dataclass(frozen=True)
class Task:
    """Some documents of both sides in memory, and the position of the first."""

    first: int
    predictions: object
    references: object

    def __len__(self):
        return len(self.references)

    def __str__(self):
        return f"documents {self.first} to {self.first + len(self) - 1}"

    def __reduce__(self):
        return type(self), (self.first, Packed.pack(self.predictions), Packed.pack(self.references))

    def read(self):
        return Read(Packed.unpack(self.predictions), Packed.unpack(self.references), self._place)

    def _place(self, side, index):
        return side, self.first + index


@dataclass(frozen=True)
class Packed:
    """An Arrow array for another process: only what a slice shows, where pickle would send all it is cut from."""

    data: bytes

    @classmethod
    def pack(cls, documents):
        if not isinstance(documents, pa.Array):
            return documents
        batch = pa.record_batch([documents], ["documents"])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return cls(sink.getvalue().to_pybytes())

    @staticmethod
    def unpack(documents):
        if not isinstance(documents, Packed):
            return documents
        return pa.ipc.open_stream(documents.data).read_next_batch().column(0)


def count_in_processes(metric, predictions, references, options, processes):
    """The table of counts of lists of documents, counted by several processes."""
    sides = [_sliceable(predictions, "predictions"), _sliceable(references, "references")]
    if len(sides[0]) != len(sides[1]):
        raise ValueError(f"predictions has {len(sides[0])} documents, references has {len(sides[1])}")
    if not len(sides[0]):
        return metric.count([], [], **options)
    tables = [table for table, _ in count_tasks(metric, _slices(*sides), options, processes, len(sides[0]))]
    return pa.concat_tables(tables)


def _sliceable(documents, side):
    if isinstance(documents, pa.ChunkedArray):
        return documents.combine_chunks()
    return documents if isinstance(documents, pa.Array) else list_documents(documents, side)


def _slices(predictions, references):
    for first in range(0, len(references), DOCUMENTS_OF_A_TASK):
        part = slice(first, first + DOCUMENTS_OF_A_TASK)
        yield Task(first, *(_as_arrow_if_quick(side[part]) for side in (predictions, references)))


def _as_arrow_if_quick(documents):
    """Nested groups of plain Python become Arrow faster than they are pickled; all else is left to the workers."""
    if isinstance(documents, pa.Array):
        return documents
    array = plain_groups_to_arrow(documents)
    return documents if array is None else array


def count_tasks(metric, tasks, options, processes=1, total=None):
    """For each task in turn its table of counts, and what it tells.

    At most a few tasks are read ahead. Long work shows a progress bar, on a terminal.
    """
    check_processes(processes)
    run = _run_here if processes == 1 else _run_in_workers
    bar = tqdm(total=total, unit=" documents", disable=None, delay=SECONDS_WITHOUT_PROGRESS_BAR)
    with bar, contextlib.closing(run(metric, tasks, options, processes)) as results:
        for table, told in results:
            bar.update(len(table))
            yield table, told


def check_processes(processes):
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise ValueError(f"processes must be a positive whole number, got {processes!r:.80}")


def count_task(metric, task, options):
    """The table of counts of one task. An error names the document where the user knows it."""
    with _without_garbage_collection():
        read = task.read()
        try:
            return metric.count(read.predictions, read.references, **options), read.told
        except ValueError as error:
            raise relocate(error, read.place) from None


@contextlib.contextmanager
def _without_garbage_collection():
    """Documents are many small objects without cycles: looking for cycles takes longer than reading them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _run_here(metric, tasks, options, processes):
    for task in tasks:
        yield count_task(metric, task, options)


def _run_in_workers(metric, tasks, options, processes):
    # A worker can import this file only after it has loaded the metric: evaluate then knows the folder of both.
    metric_and_options = pickle.dumps((Unloaded(metric.how_to_load()), options))
    pool = ProcessPoolExecutor(
        processes, get_context("spawn"), initializer=pickle.loads, initargs=(metric_and_options,)
    )
    count = functools.partial(_count_in_worker, metric_and_options)
    waiting = deque()
    try:
        for task in tasks:
            waiting.append((str(task), pool.submit(count, task)))
            if len(waiting) > processes * TASKS_AHEAD:
                yield _first_result(waiting)
        while waiting:
            yield _first_result(waiting)
    except BrokenProcessPool:
        raise ChildProcessError(_explain_death([name for name, _ in waiting])) from None
    finally:
        pool.shutdown(cancel_futures=True)


class Unloaded:
    """Pickled, it is a metric that loads itself where it is unpickled."""

    def __init__(self, load):
        self.load = load

    def __reduce__(self):
        return self.load, ()


def _first_result(waiting):
    result = waiting[0][1].result()
    waiting.popleft()
    return result


def _count_in_worker(metric_and_options, task):
    metric, options = _unpickle_once(metric_and_options)
    return count_task(metric, task, options)


_unpickle_once = functools.lru_cache(maxsize=1)(pickle.loads)


def _explain_death(names):
    where = f" while counting {names[0]}" if len(names) == 1 else f" while counting {names[0]} or soon after"
    return (
        f"a worker process died{where if names else ''}: it was killed or ran out of memory. "
        "Use fewer processes; in a script, call this below: if __name__ == '__main__':"
    )
