"""Runs a seccomp filter as the kernel would, for the instructions that ours are made of.

Source: Linux, Documentation/networking/filter.rst and Documentation/userspace-api/seccomp_filter.rst.
"""

import struct
from typing import NamedTuple

X86_64 = 0xC000003E
_DATA = struct.Struct("=IIQ6Q")
_INSTRUCTION = struct.Struct("=HBBI")
_LOAD, _AND, _JUMP, _RETURN = 0x20, 0x54, 0x05, 0x06
_COMPARE = {
    0x15: lambda a, k: a == k,
    0x25: lambda a, k: a > k,
    0x35: lambda a, k: a >= k,
    0x45: lambda a, k: bool(a & k),
}


class Decision(NamedTuple):
    """What the kernel does with a call."""

    action: int
    errno: int


ALLOW = Decision(0x7FFF0000, 0)


def refuse(errno: int) -> Decision:
    return Decision(0x00050000, errno)


def decide(program: bytes, number: int, *arguments: int, arch: int = X86_64) -> Decision:
    """Returns the decision about one call; fails on a jump that leads out of the program."""
    instructions = list(_INSTRUCTION.iter_unpack(program))
    six = (*arguments, *[0] * (6 - len(arguments)))
    data = _DATA.pack(number & 0xFFFFFFFF, arch, 0, *(each & (1 << 64) - 1 for each in six))
    at = accumulator = 0
    while True:
        code, if_true, if_false, value = instructions[at]
        at += 1
        if code == _RETURN:
            return Decision(value & 0xFFFF0000, value & 0xFFFF)
        if code == _LOAD:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif code == _AND:
            accumulator &= value
        elif code == _JUMP:
            at += value
        else:
            at += if_true if _COMPARE[code](accumulator, value) else if_false
