"""Landlock, one more layer where the kernel has it: files by hierarchy, no way to init.

A Landlock domain also ends ptrace-like access to processes outside it, and with ABI 6 signals
and abstract sockets to them. Source: Linux, Documentation/userspace-api/landlock.rst.
"""

import ctypes
import os
import struct

from runners import kernel

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_WRITE_FILE = 1 << 1
_READ = _EXECUTE | _READ_FILE | _READ_DIR
_FS_RIGHTS_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 5: (1 << 16) - 1}
_SCOPE_ABI = 6
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


def abi() -> int:
    """Returns the version of Landlock that the kernel offers, 0 for none."""
    try:
        return kernel.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)
    except OSError:
        return 0


def _handled(version: int) -> int:
    return _FS_RIGHTS_BY_ABI[max(known for known in _FS_RIGHTS_BY_ABI if known <= version)]


def _allow(ruleset: int, path: str, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, folder), 12)
    kernel.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    os.close(folder)


def restrict(version: int, writable: tuple[str, ...], devices: str) -> None:
    """Confines this process: reads everywhere, writes under `writable` and to `devices` only.

    Raises:
        OSError: the kernel refused.
    """
    rights = _handled(version)
    scope = _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= _SCOPE_ABI else 0
    attributes = struct.pack("=QQQ", rights, 0, scope)
    size = len(attributes) if version >= _SCOPE_ABI else 8
    ruleset = kernel.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0)
    _allow(ruleset, "/", _READ)
    _allow(ruleset, devices, (_READ_FILE | _WRITE_FILE | 1 << 15) & rights)
    for path in writable:
        _allow(ruleset, path, rights)
    kernel.syscall(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
