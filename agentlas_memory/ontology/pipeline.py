"""Preparing many files: in this process when they are few, in one process a core otherwise."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from agentlas_memory.ontology.embedder import Embedder, open_embedder
from agentlas_memory.ontology.prepare import prepare_files
from agentlas_memory.ontology.prepared import Job, PreparedSource, Unprepared

_BATCH_BYTES = 256 << 10
_BATCH_FILES = 64
_QUICK_BYTES = 96 << 10  # about 100 chunks: done before model2vec would be imported
_POOL_BYTES = 2 << 20  # below, starting processes takes longer than the work
_MOST_WORKERS = 4
_AHEAD = 2  # batches a worker may be ahead of the writer, so that memory stays flat

Prepared = PreparedSource | Unprepared


def prepare_all(root: Path, jobs: Sequence[Job]) -> Generator[Prepared, None, None]:
    """Yield every file's source (or why there is none) in the order of the jobs."""
    if not jobs:
        return
    size = sum(job.size for job in jobs)
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    if size < _POOL_BYTES or workers < 2:
        embedder = open_embedder(many=size > _QUICK_BYTES)
        for batch in _batches(jobs):
            yield from prepare_files(root, batch, embedder)
    else:
        yield from _prepare_in_pool(root, jobs, workers)


def _prepare_in_pool(root: Path, jobs: Sequence[Job], workers: int) -> Iterator[Prepared]:
    # spawn: a forked child would carry locks of threads that it does not have.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_start_worker) as pool:
        waiting: deque[Future[list[Prepared]]] = deque()
        try:
            for batch in _batches(jobs):
                with _interrupts_held():
                    waiting.append(pool.submit(_work, root, batch))
                if len(waiting) >= workers * _AHEAD:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Put off Ctrl-C: a worker is started here, and inherits that until it can ignore it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _batches(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    batch: list[Job] = []
    size = 0
    for job in jobs:
        batch.append(job)
        size += job.size
        if size >= _BATCH_BYTES or len(batch) >= _BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_embedder: Embedder | None = None  # of a worker process


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, which ends the run in order; end when it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the cores are ours already


def _end_with_parent() -> None:
    # Without this a worker waits for work for ever: all of them hold the queue's other end open.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(root: Path, jobs: Sequence[Job]) -> list[Prepared]:
    global _embedder
    _embedder = _embedder or open_embedder(many=True)
    return prepare_files(root, jobs, _embedder)
