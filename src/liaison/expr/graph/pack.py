"""A graph as a flat table, for pickling and for fingerprints.

Public names: Packed, pack, unpack, fingerprint.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, final

from . import node as _node
from .node import Expr, constant, make, make_many, symbol
from .ops import OPS
from .walk import Formulas, listed, topological


@final
@dataclass(frozen=True, slots=True)
class Packed:
    """Formulas as a table of operations, arguments before what uses them.

    Attributes:
        ops: name of each node's operation.
        sizes: number of arguments of each node.
        args: their rows, all nodes one after the other.
        data: values, names and other data, by row.
        roots: rows of the formulas themselves.
    """

    ops: list[str]
    sizes: bytes
    args: array[int]
    data: dict[int, Any]
    roots: array[int]


def pack(fs: Formulas) -> Packed:
    """The table of formulas; `unpack` gives the same nodes in any process."""
    roots = listed(fs)
    row: dict[Expr, int] = {}
    ops: list[str] = []
    sizes, args, data = bytearray(), array("q"), {}
    for i, node in enumerate(topological(roots)):
        row[node] = i
        ops.append(node.op)
        inner = node.args
        sizes.append(len(inner))
        args.extend([row[arg] for arg in inner])
        if not inner or node.data is not None:
            data[i] = node.a
    return Packed(ops, bytes(sizes), args, data, array("q", [row[root] for root in roots]))


def unpack(packed: Packed) -> list[Expr]:
    """The formulas of a table, node by node as they were."""
    nodes: list[Expr] = []
    start = 0
    for i, op in enumerate(packed.ops):
        size = packed.sizes[i]
        args = tuple([nodes[k] for k in packed.args[start : start + size]])
        start += size
        nodes.append(_unpacked(op, args, packed.data.get(i)))
    return [nodes[k] for k in packed.roots]


def _unpacked(op: str, args: tuple[Expr, ...], data: Any) -> Expr:
    if op == "const":
        return constant(data)
    if op == "symbol":
        return symbol(data)
    if data is not None or len(args) > 2:
        return make_many(op, data, args, OPS[op].token(data) if data is not None else "")
    return make(op, *args)


def _unpack_one(packed: Packed) -> Expr:
    return unpack(packed)[0]


def _reduced(node: Expr) -> tuple[Any, ...]:
    return _unpack_one, (pack([node]),)


_node._REDUCE.append(_reduced)


def fingerprint(fs: Formulas) -> str:
    """A hash of the content of formulas, in order: the same in every process.

    Symbols count by name, constants by type and value, tables by their data.
    """
    digest = blake2b(digest_size=20)
    row: dict[Expr, int] = {}
    roots = listed(fs)
    lines: list[str] = []
    for i, node in enumerate(topological(roots)):
        row[node] = i
        lines.append(f"{node.op} {[row[arg] for arg in node.args]} {_content(node)}\n")
        if len(lines) > 4096:
            digest.update("".join(lines).encode())
            lines.clear()
    digest.update("".join(lines).encode())
    digest.update(repr([row[root] for root in roots]).encode())
    return digest.hexdigest()


def _content(node: Expr) -> str:
    if node.op == "const":
        return node.a.hex() if type(node.a) is float else str(node.a)
    if node.op == "symbol":
        return repr(node.a)
    return OPS[node.op].token(node.a) if node.data is not None else ""
