"""The init of a jail: a program of a few machine instructions, made here and run from memory.

It waits for the jail's main process, reaping whatever else comes to it, tells how that one ended
and ends, and the kernel ends everything else in the namespaces. As a program of its own it has
nothing in its memory that a run could want, and costs no copy of the interpreter's.
"""

import os
import struct
from typing import NamedTuple

STATUS_FD = 99
TAG = b"ENDED\0\0\0"
_USAGE_BYTES = 144
_REPORT = struct.Struct(f"=8sq{_USAGE_BYTES}sii{_USAGE_BYTES}s")
_USAGE = struct.Struct("=qqqqq")

# The main process is number 2, the first that init starts in its namespace.
_CODE = bytes.fromhex(
    "4881ec40010000"        #        sub  rsp, 320            tag 0, own usage 16, status 160,
    "b862000000"            #        mov  eax, 98             the main process's usage 168
    "31ff"                  #        xor  edi, edi
    "488d742410"            #        lea  rsi, [rsp+16]
    "0f05"                  #        syscall                  getrusage(RUSAGE_SELF)
    "b83d000000"            # again: mov  eax, 61
    "48c7c7ffffffff"        #        mov  rdi, -1
    "488db424a0000000"      #        lea  rsi, [rsp+160]
    "31d2"                  #        xor  edx, edx
    "4c8d9424a8000000"      #        lea  r10, [rsp+168]
    "0f05"                  #        syscall                  wait4(any child)
    "83f802"                #        cmp  eax, 2
    "75db"                  #        jne  again
    "48b8454e444544000000"  #        mov  rax, "ENDED"
    "48890424"              #        mov  [rsp], rax
    "48c744240800000000"    #        mov  qword [rsp+8], 0
    "b801000000"            #        mov  eax, 1
    "bf63000000"            #        mov  edi, 99
    "4889e6"                #        mov  rsi, rsp
    "ba38010000"            #        mov  edx, 312
    "0f05"                  #        syscall                  write(the report)
    "b8e7000000"            #        mov  eax, 231
    "31ff"                  #        xor  edi, edi
    "0f05"                  #        syscall                  exit_group(0)
)  # fmt: skip

# ELF-64 header and one program header, both as in elf(5).
_ADDRESS = 0x400000
_HEADER = struct.Struct("=16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("=IIQQQQQQ")
_IDENT = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
_EXECUTABLE, _X86_64, _LOAD, _READ_EXECUTE = 2, 62, 1, 5
_EXECUTE_ONLY = 0o111  # what its owner may not read is not dumpable


class Ended(NamedTuple):
    """How a program ended, as its init saw it."""

    status: int
    init_cpu_s: float
    peak_bytes: int


def load() -> int:
    """Returns a descriptor of the program, to be executed from."""
    start = _HEADER.size + _SEGMENT.size
    size = start + len(_CODE)
    header = _HEADER.pack(
        _IDENT, _EXECUTABLE, _X86_64, 1, _ADDRESS + start, _HEADER.size, 0, 0,
        _HEADER.size, _SEGMENT.size, 1, 0, 0, 0,
    )  # fmt: skip
    segment = _SEGMENT.pack(_LOAD, _READ_EXECUTE, 0, _ADDRESS, _ADDRESS, size, size, 0x1000)
    writable = os.memfd_create("init", os.MFD_CLOEXEC)
    os.write(writable, header + segment + _CODE)
    fd = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
    os.fchmod(writable, _EXECUTE_ONLY)
    os.close(writable)
    return fd


def parse_report(data: bytes) -> Ended:
    """Reads what an init wrote.

    Raises:
        ValueError: it is not what an init writes.
    """
    if len(data) != _REPORT.size or not data.startswith(TAG):
        raise ValueError(data.decode("utf-8", "replace"))
    _, _, own, status, _, usage = _REPORT.unpack(data)
    return Ended(status, _cpu_s(own), _USAGE.unpack_from(usage)[4] * 1024)


def _cpu_s(usage: bytes) -> float:
    user_s, user_us, system_s, system_us, _ = _USAGE.unpack_from(usage)
    return float(user_s + system_s + (user_us + system_us) / 1e6)
