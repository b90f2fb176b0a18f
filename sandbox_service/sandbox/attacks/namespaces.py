# Namespaces and mounts: with one more, a program could take the walls apart.
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
REFUSED = (errno.EPERM, errno.ENOSYS, errno.EACCES)
UNSHARE, CLONE, SETNS, MOUNT, UMOUNT, PIVOT_ROOT, CHROOT = 272, 56, 308, 165, 166, 155, 161
CLONE3, OPEN_TREE, FSOPEN, MOVE_MOUNT, SIGCHLD = 435, 428, 430, 429, 17
KINDS = {"user": 0x10000000, "pid": 0x20000000, "mount": 0x20000, "net": 0x40000000}
KINDS |= {"ipc": 0x8000000, "uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
leaks = []


def attempt(name, *call):
    result = libc.syscall(*call)
    if result == 0 and call[0] == CLONE:
        os._exit(0)
    if result >= 0 or ctypes.get_errno() not in REFUSED:
        leaks.append(f"{name}: {os.strerror(ctypes.get_errno()) if result < 0 else 'done'}")


for kind, flag in KINDS.items():
    attempt(f"unshare {kind}", UNSHARE, flag)
    if kind != "time":  # clone() has another meaning for this bit
        attempt(f"clone {kind}", CLONE, ctypes.c_long(flag | SIGCHLD), 0, 0, 0, 0)
attempt("setns", SETNS, os.open("/proc/self/ns/net", os.O_RDONLY), 0)
attempt("mount", MOUNT, b"none", b"/tmp", b"tmpfs", 0, 0)
attempt("umount", UMOUNT, b"/proc", 2)
attempt("pivot_root", PIVOT_ROOT, b"/tmp", b"/tmp")
attempt("chroot", CHROOT, b"/tmp")
attempt("clone3", CLONE3, 0, 0)
attempt("open_tree", OPEN_TREE, -100, b"/", 1)
attempt("fsopen", FSOPEN, b"tmpfs", 0)
attempt("move_mount", MOVE_MOUNT, -1, b"", -1, b"", 0)
print("LEAK:" if leaks else "HELD:", *leaks)
