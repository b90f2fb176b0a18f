"""The loopback that runs may talk over: the sandbox's own, and without a memory.

Jails of one sandbox share it one after the other. A closed TCP connection usually keeps its
port for a minute, and the next run would find it taken; here the kernel forgets it at once
(net.ipv4.tcp_max_tw_buckets; Linux, Documentation/networking/ip-sysctl.rst).
"""

import fcntl
import socket
import struct

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_FORGET = "/proc/sys/net/ipv4/tcp_max_tw_buckets"


def build() -> None:
    """Prepares the network namespace of this process, which must be a new one of its own.

    Raises:
        OSError: the kernel refused.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))
    with open(_FORGET, "wb", buffering=0) as file:
        file.write(b"0")
