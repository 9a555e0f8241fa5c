"""DLPack: memory handed to another library without a copy, as a capsule it understands.

Source: DLPack, `dlpack.h`, version 0.8: DLManagedTensor and its deleter.

Public names: capsule_of, CUDA, FLOATS, INTEGERS.
"""

from __future__ import annotations

import ctypes
from typing import Any

CUDA, INTEGERS, FLOATS = 2, 0, 2
NAME = b"dltensor"


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """DLManagedTensor."""


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter))

_KEPT: dict[int, tuple[Any, ...]] = {}
"""What is handed out: it lives until whoever took it lets go."""


def _forget(managed: Any) -> None:
    _KEPT.pop(ctypes.addressof(managed.contents), None)


_DELETER = Deleter(_forget)
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _dropped(capsule: int) -> None:
    """A capsule that nobody took is forgotten; one that was taken has another name by now."""
    api = ctypes.pythonapi
    if api.PyCapsule_IsValid(ctypes.c_void_p(capsule), NAME):
        get = api.PyCapsule_GetPointer
        get.restype = ctypes.c_void_p
        address = get(ctypes.c_void_p(capsule), NAME)
        _KEPT.pop(int(address), None)


_DESTRUCTOR = _Destructor(_dropped)


def capsule_of(
    owner: Any,
    address: int,
    shape: tuple[int, ...],
    kind: tuple[int, int],
    device: tuple[int, int],
) -> Any:
    """A capsule of an array in memory, rows contiguous.

    Args:
        owner: kept alive as long as the capsule or what is made of it.
        address: of the first element.
        shape: of the array.
        kind: FLOATS or INTEGERS, and bits of an element.
        device: kind of device and its number.
    """
    sizes = (ctypes.c_int64 * len(shape))(*shape)
    steps = [1]
    for size in reversed(shape[1:]):
        steps.insert(0, steps[0] * size)
    strides = (ctypes.c_int64 * len(shape))(*steps[: len(shape)])
    pointer = ctypes.POINTER(ctypes.c_int64)
    tensor = _Tensor(
        address, *device, len(shape), *kind, 1,
        ctypes.cast(sizes, pointer), ctypes.cast(strides, pointer), 0,
    )  # fmt: skip
    managed = _Managed(tensor, None, _DELETER)
    place = ctypes.addressof(managed)
    _KEPT[place] = (owner, sizes, strides, managed)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.c_char_p, _Destructor)
    return make(place, NAME, _DESTRUCTOR)
