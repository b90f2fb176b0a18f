"""Landlock, one more layer where the kernel has it: files by hierarchy, no way to init.

A Landlock domain also ends ptrace-like access to processes outside it, and with ABI 6 signals
and abstract sockets to them. Source: Linux, Documentation/userspace-api/landlock.rst.
"""

import ctypes
import struct
from enum import Enum, auto

from runners import kernel

_VERSION = 1
PATH_BENEATH = 1

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE, _IOCTL = 1 << 1, 1 << 15
_FS_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPE_ABI = 6
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


class Access(Enum):
    """What a rule allows beneath a folder."""

    READ = auto()
    DEVICES = auto()
    WRITE = auto()


def abi() -> int:
    """Returns the version of Landlock that the kernel offers, 0 for none."""
    try:
        return kernel.syscall(
            kernel.Call.LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION
        )
    except OSError:
        return 0


def _handled(version: int) -> int:
    return _FS_RIGHTS_BY_ABI[max(known for known in _FS_RIGHTS_BY_ABI if known <= version)]


def ruleset(version: int) -> bytes:
    """Returns the attributes of a domain that handles all file rights and, if it can, scopes."""
    if version < _SCOPE_ABI:
        return struct.pack("=Q", _handled(version))
    return struct.pack("=QQQ", _handled(version), 0, _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS)


def rule(version: int, access: Access, folder_fd: int) -> bytes:
    """Returns the rule that allows something beneath an open folder."""
    rights = {
        Access.READ: _EXECUTE | _READ_FILE | _READ_DIR,
        Access.DEVICES: _READ_FILE | _WRITE_FILE | _IOCTL,
        Access.WRITE: _handled(version),
    }[access]
    return struct.pack("=Qi", rights & _handled(version), folder_fd)
