# The processes that started the program: their memory, environment and descriptors.
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE, PIDFD_OPEN, PIDFD_GETFD, PROCESS_VM_READV = 0x4206, 434, 438, 310
leaks = []
for pid in {1, os.getppid()} - {0, os.getpid()}:
    for name, mode in (("mem", "r+b"), ("mem", "rb"), ("environ", "rb"), ("maps", "rb")):
        try:
            with open(f"/proc/{pid}/{name}", mode, buffering=0) as file:
                if name == "mem" or file.read(1):
                    leaks.append(f"/proc/{pid}/{name}")
        except OSError:
            pass
    try:
        if os.listdir(f"/proc/{pid}/fd"):
            leaks.append(f"/proc/{pid}/fd")
        os.readlink(f"/proc/{pid}/root")
        leaks.append(f"/proc/{pid}/root")
    except OSError:
        pass
    if libc.ptrace(PTRACE_SEIZE, pid, None, None) == 0:
        leaks.append(f"ptrace of {pid}")
    fd = libc.syscall(PIDFD_OPEN, pid, 0)
    if fd >= 0 and libc.syscall(PIDFD_GETFD, fd, 0, 0) >= 0:
        leaks.append(f"a descriptor of {pid}")
    if libc.syscall(PROCESS_VM_READV, pid, None, 0, None, 0, 0) == 0:
        leaks.append(f"memory of {pid}")
print("LEAK:" if leaks else "HELD:", *leaks)
