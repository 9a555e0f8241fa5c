"""Where worlds live: the memory and the threads of a GPU, or of this processor.

Public names: Place, Gpu, Processor, place_named, Kernels.
"""

from __future__ import annotations

import ctypes
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError
from liaison.program.gpu.cuda import (
    LOCAL_BYTES,
    REGISTERS,
    DeviceArray,
    Driver,
    Function,
    driver,
)
from liaison.program.llvm.machine import load, ptx

from .module import Module

BLOCKS, SMALL_BLOCK, MUCH = (1024, 512, 256), 128, 65536
"""Threads in a block, which go from phase to phase of a step together and share instructions:
as many as leave a block for each multiprocessor. Measured: few where a thread keeps more than so
many bytes beside its registers."""

POSTED = 8192
"""Bytes of a block beside those of its groups."""

SHARES = 4
"""Ranges of worlds for each thread of this processor, so that none waits long for the last."""


class Place(ABC):
    """Where arrays of worlds lie and their kernels run."""

    is_gpu: bool

    @abstractmethod
    def array(self, values: Any, dtype: Any) -> Any:
        """A copy of an array there."""

    @abstractmethod
    def room(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array there, whose numbers may be any."""

    @abstractmethod
    def numpy(self, array: Any) -> NDArray[Any]:
        """An array from there, on this computer."""

    @abstractmethod
    def address(self, array: Any, what: str) -> int:
        """Where an array begins."""

    @abstractmethod
    def free_bytes(self) -> int:
        """Memory that arrays may take."""

    def kept_bytes(self, kernels: Kernels) -> int:
        """Memory that threads keep beside their registers while kernels run."""
        return 0

    @abstractmethod
    def load(self, module: Module) -> Kernels:
        """The kernels of a module."""


class Kernels(ABC):
    """Kernels of a module, compiled."""

    registers: int = 0
    local_bytes: int = 0

    def at_once(self, count: int) -> int:
        """Of so many worlds of a scene, those that may be under way at the same time."""
        return count

    @abstractmethod
    def launch(self, name: str, count: int, arguments: Sequence[Any]) -> None:
        """Runs one on so many worlds."""


@final
class Gpu(Place):
    """An NVIDIA GPU."""

    is_gpu = True

    def __init__(self, index: int) -> None:
        self.driver = driver(index)

    def array(self, values: Any, dtype: Any) -> DeviceArray:
        """A copy in the memory of the device."""
        return DeviceArray.of(values, dtype, self.driver)

    def room(self, shape: tuple[int, ...], dtype: Any) -> DeviceArray:
        """In the memory of the device."""
        return DeviceArray(shape, dtype, self.driver)

    def numpy(self, array: Any) -> NDArray[Any]:
        """A copy; waits for what was launched before."""
        return self.driver.copied(array)

    def address(self, array: Any, what: str) -> int:
        """Of an array on the same device."""
        address = int(array.__cuda_array_interface__["data"][0])
        if not isinstance(array, DeviceArray) and address:
            self.driver.check_owner(address, what)
        return address

    def free_bytes(self) -> int:
        """What the driver says."""
        return self.driver.free_bytes

    def kept_bytes(self, kernels: Kernels) -> int:
        """Of as many threads as have registers at the same time."""
        return kernels.local_bytes * self.driver.resident(kernels.registers)

    def load(self, module: Module) -> Kernels:
        """Through the driver's compiler."""
        text = ptx(module.text, self.driver.processor, passes=True)
        functions = self.driver.load_all(text, module.names)
        return _OnGpu(functions, self.driver, module)


@final
class _OnGpu(Kernels):
    def __init__(self, functions: Mapping[str, Function], owner: Driver, module: Module) -> None:
        self._functions, self._multiprocessors = functions, owner.multiprocessors
        self._largest, self._lanes, self._resident = module.block, module.lanes, module.resident
        self._group, self._shared = module.group, module.group_shared
        if self._shared:
            most = (owner.shared_bytes - POSTED) // self._shared
            self._largest = min(self._largest, most * self._group)
            functions["march"].allow(self._largest // self._group * self._shared)
        self.registers = max(x.attribute(REGISTERS) for x in functions.values())
        self.local_bytes = max(x.attribute(LOCAL_BYTES) for x in functions.values())

    def launch(self, name: str, count: int, arguments: Sequence[Any]) -> None:
        """One thread a world, or a block of threads that takes one after another; does not wait."""
        if self._lanes > 1:
            self._functions[name].launch(
                self.at_once(count) * self._lanes, self._largest, arguments
            )
            return
        block = self.block(count)
        shared = block // self._group * self._shared if name == "march" else 0
        self._functions[name].launch(count, block, arguments, shared_bytes=shared)

    def at_once(self, count: int) -> int:
        """As many as there is shared memory for."""
        return min(count, self._resident * self._multiprocessors)

    def block(self, count: int) -> int:
        """Threads in a block for so many worlds; of groups as few as multiprocessors allow."""
        if self._group > 1:
            groups = -(-count // self._group)
            return min(self._largest, -(-groups // self._multiprocessors) * self._group)
        if self._largest < SMALL_BLOCK:
            return self._largest
        if self.local_bytes > MUCH:
            return SMALL_BLOCK
        sizes = [size for size in BLOCKS if size <= self._largest]
        fit = [size for size in sizes if count >= size * self._multiprocessors]
        return fit[0] if fit else SMALL_BLOCK


@final
class Processor(Place):
    """All cores of this computer, by the same code."""

    is_gpu = False

    def array(self, values: Any, dtype: Any) -> NDArray[Any]:
        """A copy, rows contiguous."""
        return np.array(values, dtype=dtype, order="C")

    def room(self, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Rows contiguous."""
        return np.empty(shape, dtype)

    def numpy(self, array: Any) -> NDArray[Any]:
        """A copy."""
        return np.array(array)

    def address(self, array: Any, what: str) -> int:
        """Of a NumPy array."""
        return int(array.ctypes.data)

    def free_bytes(self) -> int:
        """What the system says."""
        if not hasattr(os, "sysconf") or "SC_AVPHYS_PAGES" not in os.sysconf_names:
            return 1 << 62
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def load(self, module: Module) -> Kernels:
        """Machine code of this processor, from the disk cache where it is there."""
        return _OnProcessor(module)


@final
class _OnProcessor(Kernels):
    def __init__(self, module: Module) -> None:
        self._code = load(module.text, module.names, passes=True)

    def launch(self, name: str, count: int, arguments: Sequence[Any]) -> None:
        """Worlds in ranges, on all cores; waits for them."""
        kinds = [type(x) for x in arguments]
        whole = kinds[0]
        function = ctypes.CFUNCTYPE(None, whole, whole, *kinds)(self._code[name])
        cores = os.cpu_count() or 1
        size = max(1, -(-count // (SHARES * cores)))
        ranges = [(k, min(k + size, count)) for k in range(0, count, size)]
        if len(ranges) == 1:
            function(*ranges[0], *arguments)
            return
        with ThreadPoolExecutor(cores, thread_name_prefix="liaison") as pool:
            list(pool.map(lambda ends: function(*ends, *arguments), ranges))


@cache
def place_named(name: str) -> Place:
    """The place of a name: "gpu", "gpu:1", or "processor".

    Raises:
        ArgumentError: another name.
        ProgramError: there is no such GPU.
    """
    if name == "processor":
        return Processor()
    kind, _, index = name.partition(":")
    if kind != "gpu" or not (index.isdecimal() or name == "gpu"):
        raise ArgumentError(
            f"device is {name!r}; it is 'gpu', 'gpu:1' for the second one, or 'processor'."
        )
    return Gpu(int(index or 0))
