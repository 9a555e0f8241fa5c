"""Work of a study: points that are not stored yet are claimed, computed and stored, chunk by chunk.

Who computes is an `Executor` of `concurrent.futures`: threads of this process (each chunk then runs
on all cores in compiled code), processes, or the workers of a cluster. This process alone writes;
a worker that dies gives its chunk to another one. Results do not depend on who computes what.

Public names: Progress, carry_out, AT_ONCE.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from dataclasses import dataclass, field
from typing import Any, Protocol, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError
from liaison.numeric import Array

from .chunks import Chunk
from .store import BLOCK, Claim, Store

CHUNK_SECONDS = 1.0
"""Seconds of work of one chunk, about."""

FIRST_CHUNK = 16 * BLOCK
AT_ONCE = 2
"""Chunks that are computed or wait for a worker, for each worker."""

DEATHS = 5
"""Workers that may die before the study ends."""

RENEWED = 30.0
"""Seconds between renewals of claims."""

WAITS = 0.5
"""Seconds to wait for points that another process works on."""


class Maker(Protocol):
    """Computes the rows of some points, as the bytes of a file."""

    def __call__(self, values: Array, keys: NDArray[np.uint8], first: int) -> bytes:
        """The rows of points with these values and keys; `first` is the number of the first."""


@final
@dataclass(slots=True)
class Progress:
    """How far a study has come.

    Attributes:
        points: of the study.
        done: that are stored.
        known: that were stored before.
        failed: how many runs of this time failed, by cause.
        seconds: since it began.
    """

    points: int
    done: int = 0
    known: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Runs a second."""
        return (self.done - self.known) / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float:
        """Seconds that are left, about; infinite where nothing is known yet."""
        return (self.points - self.done) / self.rate if self.rate else float("inf")

    def line(self) -> str:
        """All of it on one line."""
        text = f"{self.done} of {self.points} runs"
        if self.rate:
            text += f", {self.rate:.3g} a second, {_clock(self.left)} left"
        causes = ", ".join(f"{count} {cause}" for cause, count in self.failed.most_common(3))
        return text + (f"; failed: {causes}" if causes else "")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes}:{rest:02d} min"


@final
class _Work:
    """A study under way."""

    def __init__(
        self,
        store: Store,
        study: str,
        values: Array,
        keys: NDArray[np.uint8],
        executor: Callable[[], Executor],
        workers: int,
        maker: Maker,
        most: int,
        report: Callable[[Progress], None],
    ) -> None:
        self.store, self.study, self.values, self.keys = store, study, values, keys
        self._make_executor, self.workers, self.maker, self.most = executor, workers, maker, most
        self.report = report
        self.is_known = store.known(keys)
        self.version = store.version
        count = int(np.count_nonzero(self.is_known))
        self.progress = Progress(len(keys), count, count)
        self.size = min(FIRST_CHUNK, most)
        self.under_way: dict[Future[bytes], tuple[Claim, Executor]] = {}
        self.began, self.renewed, self.deaths = time.monotonic(), time.monotonic(), 0

    def finish(self) -> None:
        """Goes on until every point is stored."""
        self.executor = self._make_executor()
        try:
            while True:
                self._fill()
                if not self.under_way:
                    if np.all(self.is_known):
                        return
                    time.sleep(WAITS)  # another process works on the rest
                    self._look()
                    continue
                done, _ = wait(self.under_way, timeout=WAITS, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(future)
                self._keep_claims()
                self._report()
        finally:
            self._stop()

    def _fill(self) -> None:
        """Claims chunks until every worker has some."""
        while len(self.under_way) < AT_ONCE * self.workers:
            self._look()
            claim = self.store.claim(self.study, self.is_known, self.size)
            if claim is None:
                return
            self._submit(claim)

    def _submit(self, claim: Claim) -> None:
        points = claim.points
        task = self.values[points], self.keys[points], int(points[0])
        try:
            future = self.executor.submit(self.maker, *task)
        except BrokenExecutor:
            self._replace_executor()
            future = self.executor.submit(self.maker, *task)
        self.under_way[future] = claim, self.executor

    def _look(self) -> None:
        """Notes what other processes have stored."""
        version = self.store.version
        if version != self.version:
            self.version = version
            self.is_known |= self.store.known(self.keys)
            self.progress.done = int(np.count_nonzero(self.is_known))

    def _take(self, future: Future[bytes]) -> None:
        """Stores what a worker has computed, or gives its points to another one."""
        claim, executor = self.under_way.pop(future)
        try:
            data = future.result()
        except (BrokenExecutor, CancelledError):
            # one death breaks all that a pool has under way: it is replaced once
            if executor is self.executor:
                self._replace_executor()
            self._submit(claim)
            return
        self.store.add(data, claim)
        self.is_known[claim.points] = True
        self.progress.done = int(np.count_nonzero(self.is_known))
        chunk = Chunk(data)
        words = chunk.words("reason")
        codes, counts = np.unique(chunk.codes("reason"), return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            if words[code]:
                self.progress.failed[words[code]] += count
        seconds = max(float(chunk.header.get("seconds", 0.0)), 1e-9)
        size = int(len(claim.points) * CHUNK_SECONDS / seconds)
        self.size = max(BLOCK, min(self.most, size, 4 * self.size))

    def _replace_executor(self) -> None:
        """Another pool of workers, where one of them has died."""
        self.deaths += 1
        if self.deaths > DEATHS:
            raise LiaisonError(
                f"{self.deaths} workers of the study ended without a result.",
                hint="Often memory is short: use fewer workers. What is stored is kept.",
            )
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._make_executor()

    def _keep_claims(self) -> None:
        now = time.monotonic()
        if now - self.renewed > RENEWED:
            self.renewed = now
            self.store.renew([claim for claim, _ in self.under_way.values()])

    def _report(self) -> None:
        self.progress.seconds = time.monotonic() - self.began
        self.report(self.progress)

    def _stop(self) -> None:
        """Ends the workers; what they have not finished is free for others."""
        claims = [claim for claim, _ in self.under_way.values()]
        self.executor.shutdown(wait=True, cancel_futures=True)
        self.progress.seconds = time.monotonic() - self.began
        if claims:
            self.store.release(claims)


def carry_out(
    store: Store,
    study: str,
    points: Mapping[str, NDArray[Any]],
    maker: Maker,
    *,
    executor: Callable[[], Executor],
    workers: int,
    most: int,
    report: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Computes and stores all points of a study that are not stored yet.

    Args:
        store: that holds the runs.
        study: its name there.
        points: columns "value" and "key", a row for each point.
        maker: computes rows.
        executor: makes a pool of workers.
        workers: of the pool.
        most: points of one chunk.
        report: called with the progress about twice a second.

    Raises:
        LiaisonError: the store cannot be written to, or workers die again and again.
        KeyboardInterrupt: Ctrl-C; what is stored is kept.
    """
    work = _Work(
        store, study, points["value"], points["key"], executor, workers, maker, most, report
    )
    work.finish()
    return work.progress
