"""Store: a folder that holds the runs of studies, loses none of them, and makes none twice.

    FOLDER/index.sqlite        which runs there are, each by its key; who works on what
    FOLDER/rows/NAME.rows      their values, measures, ends and records, many runs a file
    FOLDER/studies/NAME.rows   the points of each study, in order

A file of rows is on the disk before the index names it. A process that ends in between leaves a
whole file that the index does not name; whoever opens the store next takes it in. Any number of
processes may write: a key enters the index once, and blocks of points are claimed before work.

Public names: Store, Claim, KEY.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import socket
import sqlite3
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError

from .chunks import SUFFIX, Chunk, encoded, sync_folder, write_chunk

FORMAT = "1"
KEY = 16
"""Bytes of a key."""

BLOCK = 16
"""Points that are claimed together."""

PATIENCE = 60.0
"""Seconds to wait for another process that writes."""

LEASE = 120.0
"""Seconds after which a claim of another machine is void unless it was renewed."""

TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT)",
    "CREATE TABLE IF NOT EXISTS chunks (id INTEGER PRIMARY KEY, name TEXT UNIQUE, family TEXT, "
    "first INTEGER, rows INTEGER)",
    "CREATE TABLE IF NOT EXISTS runs (key BLOB PRIMARY KEY, chunk INTEGER, row INTEGER) "
    "WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS studies (name TEXT PRIMARY KEY, family TEXT, points INTEGER, "
    "opened REAL)",
    "CREATE TABLE IF NOT EXISTS claims (study TEXT, block INTEGER, owner TEXT, expires REAL, "
    "PRIMARY KEY (study, block))",
)

Keys = NDArray[np.uint8]


@final
@dataclass(frozen=True, slots=True)
class Claim:
    """Points of a study that nobody else works on: their numbers, and the blocks."""

    study: str
    points: NDArray[np.intp]
    blocks: tuple[int, ...]


@final
class Store:
    """The runs of a folder.

    Args:
        folder: is made where it is not there.
        is_new: whether it may be made.

    Raises:
        LiaisonError: the folder holds something else, is of another format, or is damaged.
    """

    def __init__(self, folder: str | os.PathLike[str], *, is_new: bool = True) -> None:
        self.folder = Path(folder)
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{_begun(os.getpid())}"
        self._open(is_new)
        self._adopt()

    # ---- opening

    def _open(self, is_new: bool) -> None:
        index = self.folder / "index.sqlite"
        if not index.exists():
            self._check_empty(is_new)
        try:
            for part in ("rows", "studies"):
                (self.folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None
        with self._in_words():
            # one thread writes; another one may collect the garbage, and close it
            self._base = sqlite3.connect(
                index, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._base.close)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            with self._writing():
                for table in TABLES:
                    self._base.execute(table)
                self._base.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (FORMAT,))
            known = dict(self._base.execute("SELECT name, value FROM meta"))
        if known.get("format") != FORMAT:
            raise LiaisonError(
                f"{self.folder}: this store has the format {known.get('format')!r}; this version "
                f"of liaison reads the format {FORMAT!r}.",
                hint="Use the version that made it, or another folder.",
            )

    def _check_empty(self, is_new: bool) -> None:
        try:
            others = [x.name for x in self.folder.iterdir()] if self.folder.exists() else []
        except NotADirectoryError:
            raise LiaisonError(f"{self.folder}: this is a file; a store is a folder.") from None
        if not is_new and "studies" not in others:
            raise LiaisonError(f"{self.folder}: there is no store of a study here.")
        foreign = [x for x in others if x not in ("rows", "studies")]
        if foreign:
            raise LiaisonError(
                f"{self.folder}: the folder is in use: it holds {foreign[0]!r}, which is no part "
                "of a store.",
                hint="Name an empty folder, or one that does not exist yet.",
            )

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Errors of the index as errors of the store."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            text = str(error)
            if "full" in text:
                raise self._unwritable(OSError(errno.ENOSPC, "No space left on device")) from None
            if "locked" in text or "busy" in text:
                raise LiaisonError(
                    f"{self.folder}: another process has written to the store for more than "
                    f"{PATIENCE:.0f} s.",
                    hint="Wait for it, or end it.",
                ) from None
            if "disk I/O" in text or "unable to open" in text or "readonly" in text:
                raise self._unwritable(OSError(errno.EIO, text)) from None
            raise LiaisonError(
                f"{self.folder}: the index of the store is damaged: {text}.",
                hint="Delete index.sqlite, index.sqlite-wal and index.sqlite-shm: the index is "
                "made again from the files of rows.",
            ) from None

    def _unwritable(self, error: OSError) -> LiaisonError:
        why = "the disk is full" if error.errno == errno.ENOSPC else str(error.strerror)
        return LiaisonError(
            f"{self.folder}: the store cannot be written to: {why}.",
            hint="What is stored is whole: start the study again when there is room, and it goes "
            "on where it was.",
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Around changes of the index that belong together."""
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise
        self._base.execute("COMMIT")

    def close(self) -> None:
        """Closes the index."""
        self._base.close()

    def remove_at_end(self) -> None:
        """Removes the folder when the store is no longer used, or the process ends."""
        weakref.finalize(self, _remove, self._base, self.folder)

    # ---- rows

    def _adopt(self) -> None:
        """Takes in whole files that the index does not name, and removes what dead ones left.

        Runs of files that were deleted are forgotten.
        """
        with self._in_words():
            known = dict(self._base.execute("SELECT name, id FROM chunks"))
        listed = sorted((self.folder / "rows").iterdir())
        lost = [(known[x],) for x in known.keys() - {path.stem for path in listed}]
        if lost:
            with self._in_words(), self._writing():
                self._base.executemany("DELETE FROM runs WHERE chunk = ?", lost)
                self._base.executemany("DELETE FROM chunks WHERE id = ?", lost)
        for path in listed:
            if path.name.startswith("."):
                _remove_if_dead(path)
            elif path.suffix == SUFFIX and path.stem not in known:
                chunk = Chunk(path)
                if "family" not in chunk.header or "key" not in chunk:
                    raise chunk.damaged("it holds no rows of a store")
                self._enter(path.stem, chunk.codes("key"), chunk.header, ())
        self._adopt_studies()

    def _adopt_studies(self) -> None:
        """Takes in studies that the index does not name: it was lost, or a process ended before."""
        with self._in_words():
            known = {x for (x,) in self._base.execute("SELECT name FROM studies")}
        for path in sorted((self.folder / "studies").iterdir()):
            if path.name.startswith("."):
                _remove_if_dead(path)
            elif path.suffix == SUFFIX and path.stem not in known:
                points = Chunk(path)
                row = path.stem, points.header["family"], len(points.codes("key"))
                with self._in_words(), self._writing():
                    self._base.execute(
                        "INSERT OR IGNORE INTO studies VALUES (?, ?, ?, ?)",
                        (*row, path.stat().st_mtime),
                    )

    def add(self, data: bytes, claim: Claim | None = None) -> str:
        """Stores the bytes of a file of rows; its runs are known from then on.

        Raises:
            LiaisonError: the disk is full, or the folder cannot be written to.
        """
        chunk = Chunk(data)
        name = secrets.token_hex(12)
        try:
            write_chunk(self.folder / "rows" / f"{name}{SUFFIX}", data)
        except OSError as error:
            raise self._unwritable(error) from None
        self._enter(name, chunk.codes("key"), chunk.header, () if claim is None else (claim,))
        return name

    def _enter(
        self, name: str, keys: Keys, header: Mapping[str, Any], claims: Sequence[Claim]
    ) -> None:
        """Names a file in the index, with those of its keys that are new; ends claims."""
        family, first = str(header["family"]), int(header.get("first", 0))
        with self._in_words(), self._writing():
            cursor = self._base.execute(
                "INSERT OR IGNORE INTO chunks (name, family, first, rows) VALUES (?, ?, ?, ?)",
                (name, family, first, len(keys)),
            )
            if cursor.rowcount == 1:
                number = cursor.lastrowid
                listed = [(x.tobytes(), number, k) for k, x in enumerate(keys)]
                self._base.executemany("INSERT OR IGNORE INTO runs VALUES (?, ?, ?)", listed)
            for claim in claims:
                self._forget(claim)

    def known(self, keys: Keys) -> NDArray[np.bool_]:
        """Which of some keys are stored."""
        with self._in_words():
            (count,) = self._base.execute("SELECT count(*) FROM runs").fetchone()
            if not count:
                return np.zeros(len(keys), dtype=bool)
            if count > 4 * len(keys):
                ask = "SELECT 1 FROM runs WHERE key = ?"
                there = [self._base.execute(ask, (x.tobytes(),)).fetchone() for x in keys]
                return np.array([x is not None for x in there], dtype=bool)
            stored = {x for (x,) in self._base.execute("SELECT key FROM runs")}
        return np.array([x.tobytes() in stored for x in keys], dtype=bool)

    def __len__(self) -> int:
        with self._in_words():
            (count,) = self._base.execute("SELECT count(*) FROM runs").fetchone()
        return int(count)

    @property
    def version(self) -> int:
        """Changes when another process has written."""
        (number,) = self._base.execute("PRAGMA data_version").fetchone()
        return int(number)

    def chunks(self, family: str) -> list[Chunk]:
        """Files with rows of a family, in the order of their first points."""
        with self._in_words():
            names = self._base.execute(
                "SELECT name FROM chunks WHERE family = ? ORDER BY first, id", (family,)
            ).fetchall()
        return [Chunk(self.folder / "rows" / f"{x}{SUFFIX}") for (x,) in names]

    # ---- studies

    def put_study(self, columns: Mapping[str, NDArray[Any]], header: Mapping[str, Any]) -> str:
        """Stores the points of a study, once; returns its name."""
        data = encoded(columns, header)
        name = hashlib.blake2b(data, digest_size=12).hexdigest()
        path = self.folder / "studies" / f"{name}{SUFFIX}"
        try:
            if not path.exists():
                write_chunk(path, data)
        except OSError as error:
            raise self._unwritable(error) from None
        with self._in_words(), self._writing():
            self._base.execute(
                "INSERT OR REPLACE INTO studies VALUES (?, ?, ?, ?)",
                (name, header["family"], len(columns["key"]), time.time()),
            )
        return name

    def study(self, name: str = "") -> tuple[str, Chunk]:
        """The points of a study by name, or of the one that was opened last."""
        with self._in_words():
            rows = self._base.execute("SELECT name FROM studies ORDER BY opened").fetchall()
        names = [x for (x,) in rows]
        if not names or (name and name not in names):
            what = f"no study {name!r}" if name else "no study"
            raise LiaisonError(f"{self.folder}: the store holds {what}.")
        name = name or names[-1]
        return name, Chunk(self.folder / "studies" / f"{name}{SUFFIX}")

    # ---- who works on what

    def claim(self, study: str, is_known: NDArray[np.bool_], most: int) -> Claim | None:
        """The next points that are not stored and nobody works on, at most so many; None if none.

        Args:
            study: its name.
            is_known: which of its points are stored.
            most: points.
        """
        blocks = np.unique(np.flatnonzero(~is_known) // BLOCK)
        if not blocks.size:
            return None
        with self._in_words(), self._writing():
            rows = self._base.execute(
                "SELECT block, owner, expires FROM claims WHERE study = ?", (study,)
            ).fetchall()
            taken = {block for block, owner, expires in rows if self._is_alive(owner, expires)}
            free = [x for x in blocks.tolist() if x not in taken]
            chosen = free[: max(1, most // BLOCK)]
            expires = time.time() + LEASE
            listed = [(study, x, self._owner, expires) for x in chosen]
            self._base.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?)", listed)
        if not chosen:
            return None
        points = (np.array(chosen)[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        points = points[points < len(is_known)]
        return Claim(study, points[~is_known[points]], tuple(chosen))

    def renew(self, claims: Sequence[Claim]) -> None:
        """Claims that are still worked on hold longer."""
        expires = time.time() + LEASE
        with self._in_words(), self._writing():
            for claim in claims:
                listed = [(expires, claim.study, x) for x in claim.blocks]
                self._base.executemany(
                    "UPDATE claims SET expires = ? WHERE study = ? AND block = ?", listed
                )

    def release(self, claims: Sequence[Claim]) -> None:
        """Claims that nobody works on any more."""
        with self._in_words(), self._writing():
            for claim in claims:
                self._forget(claim)

    def _forget(self, claim: Claim) -> None:
        self._base.executemany(
            "DELETE FROM claims WHERE study = ? AND block = ?",
            [(claim.study, x) for x in claim.blocks],
        )

    def _is_alive(self, owner: str, expires: float) -> bool:
        """Whether a claim holds: its process lives, or on another machine, it is not too old."""
        host, _, rest = owner.rpartition(":")[0].rpartition(":")
        begun = owner.rpartition(":")[2]
        if host != socket.gethostname():
            return expires > time.time()
        return begun != "" and _begun(int(rest)) == begun


def _remove(base: sqlite3.Connection, folder: Path) -> None:
    base.close()
    shutil.rmtree(folder, ignore_errors=True)


def _begun(pid: int) -> str:
    """When a process of this machine began, in ticks of its clock; "" where there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return text.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return "0"
    return "0" if not Path("/proc/self/stat").exists() else ""


def _remove_if_dead(path: Path) -> None:
    """Removes a temporary file of a process that is no more."""
    pid = path.name.split(".")[-2]
    if pid.isdigit() and not _begun(int(pid)):
        path.unlink(missing_ok=True)
        sync_folder(path.parent)
