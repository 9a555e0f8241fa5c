"""The cache of object code on disk: private, checked, safe between processes, never in the way.

A file holds the SHA-256 of its content and the content. It is written under a temporary name
and renamed, so a reader sees all of it or nothing. Whatever goes wrong (no folder, no
permission, a damaged file) means only that the code is compiled again.

Public names: cache_folder, key_of, fetch, store.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

DIGEST = hashlib.sha256().digest_size


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
        data = (cache_folder() / f"{key}.o").read_bytes()
    except (OSError, RuntimeError):
        return None
    content = data[DIGEST:]
    return content if hashlib.sha256(content).digest() == data[:DIGEST] else None


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
