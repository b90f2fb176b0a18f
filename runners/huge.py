"""Puts the interpreter's own code onto huge pages.

Every fork meets hundreds of small pages of code, one fault for sixteen of them, and gives each back
at its end. Two or three huge pages in their place come along with the fork, and cost next to
nothing. Where the kernel has none to give, everything stays as it is.
"""

import ctypes
import mmap
from collections.abc import Iterator

_HUGE_BYTES = 2 * 1024 * 1024
_MADV_HUGEPAGE, _MADV_COLLAPSE = 14, 25  # asm-generic/mman-common.h; the second since Linux 6.1
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_MAP_FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.PyDLL(None)
_libc.mmap.restype = _libc.mremap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_libc.mremap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p,
)  # fmt: skip
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
_libc.madvise.argtypes = _libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)


def use_huge_pages() -> bool:
    """Moves the code that huge pages can hold; returns whether there are any."""
    address = ctypes.cast(ctypes.pythonapi.Py_IncRef, ctypes.c_void_p).value
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        start, end = _extent(maps, address or 0)
    start, end = -(-start // _HUGE_BYTES) * _HUGE_BYTES, end // _HUGE_BYTES * _HUGE_BYTES
    return start < end and _move(start, end - start)


def _extent(maps: Iterator[str], address: int) -> tuple[int, int]:
    """Returns the bounds of the read-only mappings of one file, around an address."""
    found, file = (0, 0), ""
    for line in maps:
        span, mode, _, _, inode, *_ = line.split()
        low, high = (int(part, 16) for part in span.split("-"))
        is_more = inode == file and low == found[1] and "w" not in mode
        if file and not is_more and found[0] <= address < found[1]:
            return found
        found = (found[0] if is_more else low, high)
        file = inode if "w" not in mode and inode != "0" else ""
    return 0, 0


def _move(start: int, size: int) -> bool:
    """Puts a copy on huge pages into the place of what is there."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    writable = mmap.PROT_READ | mmap.PROT_WRITE
    room = _libc.mmap(None, size + _HUGE_BYTES, writable, flags, -1, 0)
    if room in {None, _MAP_FAILED}:
        return False
    copy = -(-room // _HUGE_BYTES) * _HUGE_BYTES
    _libc.madvise(copy, size, _MADV_HUGEPAGE)
    ctypes.memmove(copy, start, size)
    if (
        _libc.madvise(copy, size, _MADV_COLLAPSE) != 0
        or _libc.mprotect(copy, size, mmap.PROT_READ | mmap.PROT_EXEC) != 0
    ):
        _libc.munmap(room, size + _HUGE_BYTES)
        return False
    # One call: there is no moment at which the code is gone.
    return bool(_libc.mremap(copy, size, size, _MREMAP_MAYMOVE | _MREMAP_FIXED, start) == start)
