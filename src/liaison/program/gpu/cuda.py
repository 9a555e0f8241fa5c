"""The wall around CUDA's driver: devices, memory, modules and launches, through ctypes.

Only the driver's own library is asked for, which every computer with an NVIDIA GPU has; no toolkit.
Arrays are lent to other libraries by DLPack: memory without a copy, as a capsule they understand
(DLManagedTensor of dlpack.h, version 0.8, and its deleter).

Public names: Driver, driver, DeviceArray, capsule_of, CUDA, FLOATS, INTEGERS.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.errors import ProgramError

NAMES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
REGISTERS, LOCAL_BYTES = 4, 3
CAPABILITY = (75, 76)
MULTIPROCESSORS, RESIDENT, ALL_REGISTERS, BLOCK_BYTES = 16, 39, 82, 97
SHARED_BYTES = 8  # attribute of a kernel: shared memory given at the launch, at most
ORDINAL = 9  # attribute of a pointer: whose memory it is
Address = ctypes.c_uint64


@final
class Driver:
    """One device and its primary context."""

    def __init__(self, library: Any, device: int = 0) -> None:
        self._library, self.index = library, device
        self.call("cuInit", 0)
        known, handle = ctypes.c_int(), ctypes.c_int()
        self.call("cuDeviceGetCount", ctypes.byref(known))
        if not 0 <= device < known.value:
            raise ProgramError(
                f"GPU {device} was asked for; this computer has {known.value}, counted from 0."
            )
        self.call("cuDeviceGet", ctypes.byref(handle), device)
        self._context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), handle)
        self.device = handle
        self.enter()

    def call(self, name: str, *arguments: object) -> None:
        """A function of the driver; what it rejects is expressed in its words."""
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            message = text.value.decode() if text.value else f"error {status}"
            raise ProgramError(f"the GPU's driver reports an error in {name}: {message}.")

    def enter(self) -> None:
        """Makes the context this thread's."""
        self.call("cuCtxSetCurrent", self._context)

    @property
    def processor(self) -> str:
        """The kind of the device, as PTX names it."""
        version = [self.attribute(x) for x in CAPABILITY]
        return f"sm_{version[0]}{version[1]}"

    def attribute(self, which: int) -> int:
        """A number of the device."""
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), which, self.device)
        return value.value

    @property
    def version(self) -> str:
        """Of CUDA, that the driver knows: "12.4"."""
        number = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(number))
        return f"{number.value // 1000}.{number.value % 1000 // 10}"

    @property
    def multiprocessors(self) -> int:
        """How many it has."""
        return self.attribute(MULTIPROCESSORS)

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a block may have, at most."""
        return self.attribute(BLOCK_BYTES)

    def resident(self, registers: int) -> int:
        """Threads with so many registers that it runs at the same time."""
        most = self.attribute(ALL_REGISTERS) // max(1, registers)
        return self.multiprocessors * min(self.attribute(RESIDENT), most)

    @property
    def free_bytes(self) -> int:
        """Memory that nobody has taken."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.enter()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value

    def check_owner(self, address: int, what: str) -> None:
        """Raises an error for an array in the memory of another device."""
        ordinal = ctypes.c_int()
        self.enter()
        self.call("cuPointerGetAttribute", ctypes.byref(ordinal), ORDINAL, Address(address))
        if ordinal.value != self.index:
            raise ProgramError(
                f"{what} lies on GPU {ordinal.value}, but is used on GPU {self.index}.",
                hint=f"Move it there, or take device='gpu:{ordinal.value}'.",
            )

    def load(self, text: str, name: str) -> Function:
        """A kernel from PTX text, compiled for the device by the driver."""
        return self.load_all(text, [name])[name]

    def load_all(self, text: str, names: Iterable[str]) -> dict[str, Function]:
        """Kernels of one text, by name."""
        self.enter()
        handle = ctypes.c_void_p()
        try:
            self.call("cuModuleLoadData", ctypes.byref(handle), ctypes.c_char_p(text.encode()))
        except ProgramError as error:
            error.hint = (
                f"The driver is of CUDA {self.version}; the code is PTX {_version_of(text)} for "
                f"{self.processor}. A newer driver may take it."
            )
            raise
        module, functions = _Module(self, handle), {}
        for name in names:
            function = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(function), handle, name.encode())
            functions[name] = Function(self, module, function)
        return functions

    def copied(self, array: Any) -> NDArray[Any]:
        """A copy on this computer of any array on the device, also of another library's."""
        interface = array.__cuda_array_interface__
        copy = np.empty(tuple(interface["shape"]), np.dtype(interface["typestr"]))
        if copy.size:
            place, size = Address(int(interface["data"][0])), ctypes.c_size_t(copy.nbytes)
            self.enter()
            self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(copy.ctypes.data), place, size)
        return copy

    def synchronize(self) -> None:
        """Waits until everything that was launched is done."""
        self.call("cuCtxSynchronize")


def _version_of(text: str) -> str:
    """The version that a PTX text says it is of."""
    lines = (line.split() for line in text.splitlines() if line.startswith(".version"))
    return next((words[1] for words in lines), "unknown")


@final
class _Module:
    """What the driver compiled, unloaded after the last of its kernels is gone."""

    def __init__(self, owner: Driver, handle: ctypes.c_void_p) -> None:
        weakref.finalize(self, owner._library.cuModuleUnload, handle)


@final
class Function:
    """A kernel on the device."""

    def __init__(self, owner: Driver, module: _Module, handle: ctypes.c_void_p) -> None:
        self._driver, self._module, self._handle = owner, module, handle

    def attribute(self, which: int) -> int:
        """What the driver's compiler made of it."""
        value = ctypes.c_int()
        self._driver.call("cuFuncGetAttribute", ctypes.byref(value), which, self._handle)
        return value.value

    def allow(self, shared_bytes: int) -> None:
        """Lets a block have so many bytes of shared memory."""
        self._driver.enter()
        self._driver.call("cuFuncSetAttribute", self._handle, SHARED_BYTES, shared_bytes)

    def launch(
        self,
        count: int,
        block: int,
        arguments: Sequence[Any],
        *,
        times: int = 1,
        shared_bytes: int = 0,
    ) -> None:
        """Runs it on so many threads, or so many times as many; does not wait.

        Args:
            count: threads, or states where several threads share one.
            block: of these in a block.
            arguments: of the kernel.
            times: threads that share a state.
            shared_bytes: of a block.
        """
        places = (ctypes.c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
        grid = -(-count // block)
        self._driver.enter()
        sizes = (grid, 1, 1, times * block, 1, 1, shared_bytes)
        self._driver.call("cuLaunchKernel", self._handle, *sizes, None, places, None)


@cache
def driver(device: int = 0) -> Driver:
    """The driver of one of this computer's GPUs, the first if not said otherwise.

    Raises:
        ProgramError: there is none.
    """
    for name in NAMES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        return Driver(library, device)
    raise ProgramError(
        "this computer has no NVIDIA driver, so no GPU can run the kernel.",
        hint="to_ptx(program, entry) makes the text anywhere; to_llvm(program).batch and "
        "worlds(…, device='processor') run here.",
    )


@final
class DeviceArray:
    """An array in the memory of the GPU, rows contiguous.

    Other libraries see it without a copy: through `__cuda_array_interface__`, or DLPack as in
    `torch.from_dlpack(array)`, `cupy.from_dlpack(array)` and `jax.dlpack.from_dlpack(array)`.

    Attributes:
        address: of its first element.
        shape: as NumPy's.
        dtype: of floats or whole numbers.

    Example:
        >>> import liaison
        >>> states = liaison.DeviceArray((1000, 2), "float64")
        >>> states
        <DeviceArray 1000 × 2 of float64>
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, owner: Driver | None = None) -> None:
        device = owner or driver()
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        self.nbytes = max(1, int(np.prod(shape, dtype=np.int64))) * self.dtype.itemsize
        self._driver = device
        device.enter()
        place = Address()
        device.call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(self.nbytes))
        self.address = place.value
        weakref.finalize(self, _free, device, self.address)

    def __repr__(self) -> str:
        return f"<DeviceArray {' × '.join(map(str, self.shape))} of {self.dtype}>"

    @classmethod
    def of(
        cls, values: ArrayLike, dtype: Any = np.float64, owner: Driver | None = None
    ) -> DeviceArray:
        """A copy of an array of this computer."""
        array = np.ascontiguousarray(values, dtype=dtype)
        copy = cls(array.shape, dtype, owner)
        copy.fill(array)
        return copy

    def fill(self, array: NDArray[Any]) -> None:
        """Copies values of the same shape into it."""
        values = np.ascontiguousarray(array, dtype=self.dtype)
        if values.shape != self.shape:
            raise ProgramError(f"values of shape {values.shape} for an array of {self.shape}.")
        if values.size:
            place, size = Address(self.address), ctypes.c_size_t(values.nbytes)
            self._driver.enter()
            self._driver.call("cuMemcpyHtoD_v2", place, ctypes.c_void_p(values.ctypes.data), size)

    def numpy(self) -> NDArray[Any]:
        """A copy on this computer; waits for what was launched before."""
        return self._driver.copied(self)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """How CuPy, PyTorch, Numba and others find it."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "version": 3,
            "strides": None,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Kind of device, CUDA, and its number."""
        return CUDA, self._driver.index

    def __dlpack__(self, **_: Any) -> Any:
        """The same memory as a capsule of DLPack; what was launched before is over."""
        self._driver.enter()
        self._driver.synchronize()
        code = {"f": FLOATS, "i": INTEGERS}[self.dtype.kind]
        kind = (code, 8 * self.dtype.itemsize)
        return capsule_of(self, self.address, self.shape, kind, self.__dlpack_device__())


def _free(owner: Driver, address: int) -> None:
    owner.enter()
    owner.call("cuMemFree_v2", Address(address))


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
