# Parts of the kernel that programs have no business with.
import ctypes
import errno
import fcntl
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EACCES)
CALLS = {
    "bpf": (321, 0, 0, 0), "perf_event_open": (298, 0, 0, -1, -1, 0), "userfaultfd": (323, 0),
    "keyctl": (250, 0, -3, 0), "add_key": (248, b"user", b"x", b"x", 1, -3),
    "request_key": (249, b"user", b"x", 0, -3), "io_uring_setup": (425, 1, 0),
    "name_to_handle_at": (303, -100, b"/", 0, 0, 0), "open_by_handle_at": (304, -1, 0, 0),
    "memfd_secret": (447, 0), "modify_ldt": (154, 0, 0, 0), "process_vm_readv": (310, 1, 0, 0, 0, 0),
    "fanotify_init": (300, 0, 0), "kcmp": (312, 1, 1, 0, 0, 0), "syslog": (103, 10, 0, 0),
    "init_module": (175, 0, 0, b""), "kexec_load": (246, 0, 0, 0, 0), "reboot": (169, 0, 0, 0),
    "swapon": (167, b"/", 0), "acct": (163, 0), "quotactl": (179, 0, 0, 0, 0),
    "clock_settime": (227, 0, 0), "settimeofday": (164, 0, 0), "iopl": (172, 3),
    "sethostname": (170, b"x", 1), "personality": (135, 0x0040000),
}  # fmt: skip
leaks = []
for name, call in CALLS.items():
    arguments = [each if isinstance(each, bytes) else ctypes.c_long(each) for each in call]
    if libc.syscall(*arguments) >= 0 or ctypes.get_errno() not in REFUSED:
        leaks.append(f"{name} ({os.strerror(ctypes.get_errno())})")
if os.fork() == 0:  # a call of the x32 kind; one of the walls may end the caller
    os._exit(int(libc.syscall(0x40000000 + 39) >= 0))
if os.wait()[1] >> 8:
    leaks.append("x32 calls")
for family in (4, 9, 15, 16, 17, 29, 31, 38, 40, 44):  # netlink, packet, algorithms, vsock …
    try:
        socket.socket(family, socket.SOCK_RAW).close()
        leaks.append(f"socket family {family}")
    except OSError:
        pass
for family, kind in ((socket.AF_INET, socket.SOCK_RAW), (socket.AF_INET, 10)):
    try:
        socket.socket(family, kind, 1).close()
        leaks.append("raw socket")
    except OSError:
        pass
for request in (0x5412, 0x541C):  # TIOCSTI, TIOCLINUX
    try:
        fcntl.ioctl(0, request, b"x")
        leaks.append("terminal injection")
    except OSError as error:
        if error.errno != errno.EPERM:
            leaks.append(f"ioctl {request:#x} reaches the kernel")
with open("/usr/bin/env", "rb") as file:
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        leaks.append("file lock that neighbours can see")
    except OSError:
        pass
print("LEAK:" if leaks else "HELD:", *leaks)
