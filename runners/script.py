"""A list of system calls, made one after the other by a few machine instructions.

A fork of an interpreter pays for every page of memory that it writes to, and running Python
writes to hundreds. A jail's init needs no Python: its whole life is a list of system calls that
is prepared before the fork and carried out by the loop below. A call's result can be stored
where a later call finds it as an argument; a mode says what to do next.
"""

import ctypes
import mmap
import os
import struct
from enum import IntEnum


class Mode(IntEnum):
    """What follows a call."""

    CHECK = 0
    """The next call; after an error, the calls that `on_error` has placed."""

    IGNORE = 1
    """The next call, whatever came back."""

    RETURN_UNLESS_ZERO = 2
    """The script ends with the result unless that is zero: the parent's side of a clone."""

    JUMP_UNLESS_ZERO = 3
    """The call whose address is the operand, unless the result is zero."""


# struct call { long number, arguments[6], mode; long *store; long operand; };
_CALL = struct.Struct("=10q")
_FIRST_ARGUMENT, _STORE, _OPERAND = 8, 64, 72
_END = -1
_MAX_CALLS = 2048
_DATA_BYTES = 256 * 1024
_TABLE_BYTES = _MAX_CALLS * _CALL.size

# struct state { call *current; long error; call *failed, *on_error, *first; };
_STATE = struct.Struct("=5q")
_ON_ERROR = 24
_FAILURE = struct.Struct("=4q")
_CALL_FAILURE = 8
FAILURE_BYTES = _FAILURE.size

# long run(struct call *first, struct state *state), for x86-64
_CODE = bytes.fromhex(
    "53"            # run:    push rbx
    "4154"          #         push r12
    "4889fb"        #         mov  rbx, rdi           the call being made
    "4989f4"        #         mov  r12, rsi
    "49891c24"      # loop:   mov  [r12], rbx
    "488b03"        #         mov  rax, [rbx]
    "4885c0"        #         test rax, rax
    "7867"          #         js   end                number -1
    "488b7b08"      #         mov  rdi, [rbx+8]
    "488b7310"      #         mov  rsi, [rbx+16]
    "488b5318"      #         mov  rdx, [rbx+24]
    "4c8b5320"      #         mov  r10, [rbx+32]
    "4c8b4328"      #         mov  r8, [rbx+40]
    "4c8b4b30"      #         mov  r9, [rbx+48]
    "0f05"          #         syscall
    "488b4b40"      #         mov  rcx, [rbx+64]      store
    "4885c9"        #         test rcx, rcx
    "7403"          #         je   mode
    "488901"        #         mov  [rcx], rax
    "488b4b38"      # mode:   mov  rcx, [rbx+56]
    "4883f901"      #         cmp  rcx, 1
    "7426"          #         je   next               IGNORE
    "7719"          #         ja   others
    "483d01f0ffff"  #         cmp  rax, -4095         CHECK
    "721c"          #         jb   next
    "4989442408"    #         mov  [r12+8], rax       the error
    "49895c2410"    #         mov  [r12+16], rbx      and whose it is
    "498b5c2418"    #         mov  rbx, [r12+24]
    "eba9"          #         jmp  loop
    "4883f903"      # others: cmp  rcx, 3
    "740b"          #         je   jump
    "4885c0"        #         test rax, rax           RETURN_UNLESS_ZERO
    "7513"          #         jne  done
    "4883c350"      # next:   add  rbx, 80
    "eb98"          #         jmp  loop
    "4885c0"        # jump:   test rax, rax           JUMP_UNLESS_ZERO
    "74f5"          #         je   next
    "488b5b48"      #         mov  rbx, [rbx+72]
    "eb8d"          #         jmp  loop
    "31c0"          # end:    xor  eax, eax
    "415c"          # done:   pop  r12
    "5b"            #         pop  rbx
    "c3"            #         ret
)  # fmt: skip

_libc = ctypes.PyDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_PRIVATE = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_MAP_FAILED = ctypes.c_void_p(-1).value


def _load() -> int:
    """Maps the instructions and returns their address.

    Raises:
        OSError: the kernel lets nothing become executable, or this is another processor.
    """
    if os.uname().machine != "x86_64":
        raise OSError(f"no machine code for {os.uname().machine}")
    fd = os.memfd_create("script", os.MFD_CLOEXEC)
    os.write(fd, _CODE)
    executable = mmap.PROT_READ | mmap.PROT_EXEC
    address: int | None = _libc.mmap(None, len(_CODE), executable, mmap.MAP_PRIVATE, fd, 0)
    os.close(fd)
    if address is None or address == _MAP_FAILED:
        raise OSError(ctypes.get_errno(), "no executable memory")
    return address


class Script:
    """A list of calls in memory, with the texts and structures that they point to."""

    def __init__(self) -> None:
        self._names: list[str] = []
        # Pages of a mapping that nobody touches cost a fork nothing.
        self._memory = mmap.mmap(-1, _TABLE_BYTES + _DATA_BYTES, flags=_PRIVATE)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._free = self._base + _TABLE_BYTES
        self._state = self.data(_STATE.pack(0, 0, 0, 0, self._base))

    def data(self, content: bytes, size: int = 0) -> int:
        """Puts bytes into the script's memory and returns their address; zeros up to `size`."""
        address = self._free
        length = max(len(content), size)
        self._free += (length + 15) & ~15
        if self._free > self._base + _TABLE_BYTES + _DATA_BYTES:
            raise ValueError("the script's memory is full")
        ctypes.memmove(address, content, len(content))
        return address

    def text(self, content: str) -> int:
        """Puts a text with its final zero into the script's memory and returns its address."""
        return self.data(os.fsencode(content) + b"\0")

    def call(
        self,
        name: str,
        number: int,
        *arguments: int,
        mode: Mode = Mode.CHECK,
    ) -> int:
        """Appends a call; returns its address. `name` is for the message if it fails."""
        index = len(self._names)
        if index >= _MAX_CALLS:
            raise ValueError("the script has too many calls")
        self._names.append(name)
        six = (*arguments, *[0] * (6 - len(arguments)))
        _CALL.pack_into(
            self._memory, index * _CALL.size, number, *(_signed(value) for value in six),
            mode, 0, 0,
        )  # fmt: skip
        return self._base + index * _CALL.size

    def store(self, call: int, address: int) -> None:
        """Has a call's result stored at an address: an argument or an operand of a later call."""
        ctypes.c_long.from_address(call + _STORE).value = address

    def pointers(self, addresses: list[int]) -> int:
        """Puts a list of addresses with its final zero into memory and returns its address."""
        return self.data(struct.pack(f"={len(addresses) + 1}q", *addresses, 0))

    def end(self) -> None:
        """Appends the end: the script's result is zero."""
        self.call("end", _END)

    def land(self, call: int) -> None:
        """Makes the next call the one that a jump leads to."""
        self.aim(call, self._base + len(self._names) * _CALL.size)

    @staticmethod
    def aim(call: int, target: int) -> None:
        """Makes a call that was appended before the one that a jump leads to."""
        ctypes.c_long.from_address(call + _OPERAND).value = target

    @staticmethod
    def put(address: int, value: int) -> None:
        """Writes a number to an address in the script's memory."""
        ctypes.c_long.from_address(address).value = value

    @staticmethod
    def argument(call: int, index: int) -> int:
        """Address of a call's argument, to store another call's result in."""
        return call + _FIRST_ARGUMENT + 8 * index

    def on_error(self) -> int:
        """Makes the following calls those that follow an error; returns where it is told.

        There stand four numbers: the error, the address of the call, of these calls, and of the
        first call.
        """
        here = self._base + len(self._names) * _CALL.size
        ctypes.c_long.from_address(self._state + _ON_ERROR).value = here
        return self._state + _CALL_FAILURE

    def run(self) -> int:
        """Carries the script out; returns what the call that ended it returned, or zero."""
        return int(_RUN(self._base, self._state))

    def failure(self, told: bytes) -> str:
        """Returns a message for what stands where an error is told."""
        error, call, _, first = _FAILURE.unpack(told)
        return f"{self._names[(call - first) // _CALL.size]}: {os.strerror(-error)}"


def _signed(value: int) -> int:
    """Returns the 64 bits of a value as a signed number, which is what the table holds."""
    return value - (1 << 64) if value >= 1 << 63 else value


_RUN = ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)(_load())
