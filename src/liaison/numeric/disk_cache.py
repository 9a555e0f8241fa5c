"""The cache on disk: private, checked, safe between processes, never in the way.

It holds object code, and the convex parts of meshes. A file holds the SHA-256 of its key with its
content, and the content: under the name of another thing it is not taken. It is written under a
temporary name and renamed, so a reader sees all of it or nothing. A folder that others may write
to, or that belongs to another user, is not used: what is in it would be executed. Whatever goes
wrong (no folder, no permission, a damaged file) means only that the work is done again. Beyond
500 MB, or what LIAISON_CACHE_MB says, files that were not used for longest are removed; whoever
reads one meanwhile reads on, or does the work again.

Public names: cache_folder, own_folder, key_of, fetch, store, prune, SUFFIXES.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

FORMAT = "2"  # of the files
DIGEST = hashlib.sha256().digest_size
LIMIT = 500.0  # [MB]
KEPT = 0.8  # what is left of the limit after files were removed
STALE = 86400.0  # [s] after which a file half written is left over from a process that died
SUFFIXES = (".o", ".parts")
"""Of its files: object code, and convex parts of meshes."""
LOOKS = 16  # one store in so many looks at the size of the folder


def cache_folder() -> Path:
    """LIAISON_CACHE, else liaison in XDG_CACHE_HOME, else ~/.cache/liaison."""
    chosen = os.environ.get("LIAISON_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "liaison"


def own_folder() -> Path | None:
    """The cache folder, where nobody else but root can put a file there; None otherwise."""
    try:
        folder = cache_folder()
        about = folder.stat()
    except (OSError, RuntimeError):
        return None
    if not hasattr(os, "geteuid"):
        return folder
    is_own = about.st_uid in (0, os.geteuid())
    is_open = about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return folder if is_own and not is_open else None


def key_of(*parts: str) -> str:
    """Name of the file that belongs to these parts, all of them."""
    return hashlib.sha256("\0".join((FORMAT, *parts)).encode()).hexdigest()


def _digest(key: str, content: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + content).digest()


def fetch(key: str, suffix: str = SUFFIXES[0]) -> bytes | None:
    """The content stored under the key; None where there is none that is whole."""
    folder = own_folder()
    if folder is None:
        return None
    file = folder / f"{key}{suffix}"
    try:
        data = file.read_bytes()
    except OSError:
        return None
    content = data[DIGEST:]
    if _digest(key, content) != data[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # used now
    return content


def store(key: str, content: bytes, suffix: str = SUFFIXES[0]) -> None:
    """Keep the content under the key, if that is possible."""
    with contextlib.suppress(OSError, RuntimeError):
        cache_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = own_folder()
        if folder is None:
            return
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{key[:16]}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, content) + content)
            os.replace(name, folder / f"{key}{suffix}")
        except OSError:
            os.unlink(name)
            raise
        if int(key[:8], 16) % LOOKS == 0:
            prune()


def prune(limit: float | None = None) -> None:
    """Removes the files used longest ago until the folder is well under a size.

    Args:
        limit: size [MB]; LIAISON_CACHE_MB, or 500, if None.
    """
    files, total = [], 0
    with contextlib.suppress(OSError, RuntimeError), os.scandir(cache_folder()) as listing:
        for file in listing:
            with contextlib.suppress(OSError):
                about = file.stat()
                if file.name.endswith(SUFFIXES):
                    files.append((about.st_mtime, about.st_size, file.path))
                    total += about.st_size
                elif file.name.endswith(".part") and time.time() - about.st_mtime > STALE:
                    os.unlink(file.path)
    allowed = (_limit() if limit is None else limit) * 1e6
    if total <= allowed:
        return
    for _, size, path in sorted(files):
        if total <= KEPT * allowed:
            break
        total -= size
        with contextlib.suppress(OSError):  # another process was quicker
            os.unlink(path)


def _limit() -> float:
    """The size said in the environment [MB], if that is a number."""
    try:
        return float(os.environ.get("LIAISON_CACHE_MB", LIMIT))
    except ValueError:
        return LIMIT
