"""The cache of object code on disk: private, checked, safe between processes, never in the way.

A file holds the SHA-256 of its content and the content. It is written under a temporary name
and renamed, so a reader sees all of it or nothing. Whatever goes wrong (no folder, no
permission, a damaged file) means only that the code is compiled again. Beyond 500 MB, or what
LIAISON_CACHE_MB says, files that were not used for longest are removed; whoever reads one
meanwhile reads on, or compiles again.

Public names: cache_folder, key_of, fetch, store, prune.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path

DIGEST = hashlib.sha256().digest_size
LIMIT = 500.0  # [MB]
KEPT = 0.8  # what is left of the limit after files were removed
STALE = 86400.0  # [s] after which a file half written is left over from a process that died
LOOKS = 16  # one store in so many looks at the size of the folder


def cache_folder() -> Path:
    """LIAISON_CACHE, else liaison in XDG_CACHE_HOME, else ~/.cache/liaison."""
    given = os.environ.get("LIAISON_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "liaison"


def key_of(*parts: str) -> str:
    """Name of the file that belongs to these parts, all of them."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def fetch(key: str) -> bytes | None:
    """The content stored under the key; None where there is none that is whole."""
    try:
        file = cache_folder() / f"{key}.o"
        data = file.read_bytes()
    except (OSError, RuntimeError):
        return None
    content = data[DIGEST:]
    if hashlib.sha256(content).digest() != data[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(file)  # used now
    return content


def store(key: str, content: bytes) -> None:
    """Keep the content under the key, if that is possible."""
    with contextlib.suppress(OSError, RuntimeError):
        folder = cache_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=f"{key[:16]}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            os.replace(name, folder / f"{key}.o")
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
    with contextlib.suppress(OSError, RuntimeError), os.scandir(cache_folder()) as found:
        for file in found:
            with contextlib.suppress(OSError):
                about = file.stat()
                if file.name.endswith(".o"):
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
