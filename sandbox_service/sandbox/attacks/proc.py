# What /proc, /sys and /dev tell of the machine and of other processes.
import os

SECRETS = (
    "/proc/kcore", "/proc/keys", "/proc/kmsg", "/proc/timer_list", "/proc/interrupts", "/proc/sys",
    "/proc/sysrq-trigger", "/proc/kallsyms", "/proc/slabinfo", "/proc/vmallocinfo", "/proc/scsi",
    "/proc/acpi", "/proc/bus", "/proc/irq", "/proc/fs", "/proc/mounts", "/proc/modules",
    "/proc/cmdline", "/proc/config.gz", "/sys/firmware", "/sys/kernel", "/sys/class", "/sys/fs",
)  # fmt: skip
DEVICES = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
leaks = [path for path in SECRETS if os.path.exists(path) and path != "/proc/mounts"]
leaks += [f"/dev/{name}" for name in os.listdir("/dev") if name not in DEVICES]
others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
leaks += [f"process {name}" for name in others if name != "1"]
if os.uname().nodename != "sandbox":
    leaks.append("the host's name")
print("LEAK:" if leaks else "HELD:", *leaks)
