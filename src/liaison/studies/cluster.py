"""Workers of a cluster for studies: processes that a scheduler of dask.distributed knows.

A scheduler runs any code that reaches it. So an address is of this machine, or of a connection
with TLS ("tls://…"), or has the word "insecure" before it: "insecure tcp://10.0.0.5:8786".

Public names: executor_of, check_address, ClusterExecutor.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, final
from urllib.parse import urlsplit

from liaison.errors import ArgumentError, LiaisonError, needed

LOST = ("KilledWorker", "CommClosedError", "FutureCancelledError", "CancelledError")
"""Errors of dask that mean that a worker is gone."""

CONNECTED = 10
"""Seconds to wait for a scheduler."""


def check_address(text: str) -> str:
    """The address of a scheduler, without the word before it.

    Raises:
        ArgumentError: it is of another machine, without TLS and without the word "insecure".
    """
    word, _, rest = text.strip().rpartition(" ")
    address = rest if "://" in rest else f"tcp://{rest}"
    parts = urlsplit(address)
    if word not in ("", "insecure") or not parts.hostname or parts.scheme not in ("tcp", "tls"):
        raise ArgumentError(
            f"{text!r} is no address of a scheduler.", hint="It is written as tcp://127.0.0.1:8786."
        )
    if parts.scheme == "tls" or word == "insecure" or _is_here(parts.hostname):
        return address
    raise ArgumentError(
        f"the scheduler {address} is on another machine, and the connection has no TLS: whoever "
        "listens could run code here and there.",
        hint=f"Use tls://…, or, in a network that you trust, write 'insecure {address}'.",
    )


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def executor_of(cluster: Any) -> tuple[Callable[[], Executor], int]:
    """What makes a pool of the workers of a cluster, and how many chunks they compute at once.

    Args:
        cluster: the address of a scheduler, or a client of dask.distributed.

    Raises:
        LiaisonError: no scheduler answers, or it has no workers.
    """
    with needed("cluster"):
        from distributed import Client

    if isinstance(cluster, str):
        address = check_address(cluster)
        try:
            client = Client(address, timeout=CONNECTED, set_as_default=False)
        except OSError:
            raise LiaisonError(
                f"no scheduler answers at {address}.",
                hint="Start one: dask scheduler --host 127.0.0.1, and workers: dask worker "
                f"{address} --nthreads 1.",
            ) from None
    elif isinstance(cluster, Client):
        client = cluster
    else:
        raise ArgumentError(f"cluster is {cluster!r}; it must be an address or a dask client.")
    workers = client.scheduler_info(n_workers=-1)["workers"]
    count = sum(int(x["nthreads"]) for x in workers.values())
    if not count:
        raise LiaisonError(
            f"the scheduler {client.scheduler.address} has no workers.",
            hint=f"Start some: dask worker {client.scheduler.address} --nthreads 1.",
        )
    return (lambda: ClusterExecutor(client, is_own=isinstance(cluster, str))), count


@final
class ClusterExecutor(Executor):
    """Calls on the workers of a cluster, as futures of `concurrent.futures`.

    Args:
        client: of the scheduler.
        is_own: whether to close it at the end.
    """

    def __init__(self, client: Any, *, is_own: bool) -> None:
        self._client, self._is_own = client, is_own
        self._under_way: list[Any] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Calls a function on a worker."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        task = self._client.submit(fn, *args, pure=False, **kwargs)
        self._under_way = [x for x in self._under_way if not x.done()]
        self._under_way.append(task)

        def end(done: Any) -> None:
            try:
                future.set_result(done.result())
            except BaseException as error:
                is_lost = type(error).__name__ in LOST
                future.set_exception(BrokenExecutor(str(error)) if is_lost else error)

        task.add_done_callback(end)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancels what is under way; the workers stay."""
        if cancel_futures and self._under_way:
            self._client.cancel(self._under_way)
        if self._is_own and wait:
            self._client.close()
