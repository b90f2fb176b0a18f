# Files outside the run's own: nothing may be written, no host path may be seen.
import os
import sys

OWN = ("/work", "/tmp", "/dev/shm", "/proc")
leaks = []
folders = ["/", "/usr", "/usr/bin", "/usr/lib", "/etc", "/opt", "/dev", "/program", "/bin", "/lib"]
folders += ["/srv", "/var", "/root", "/home", "/run", "/mnt", "/sys", "/box"]
folders += [path for path in sys.path if os.path.isdir(path) and not path.startswith(OWN)]
for folder in folders:
    path = os.path.join(folder, "sandbox_attack")
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        leaks.append(f"can write into {folder}")
    except OSError:
        pass
for path in ("/etc/passwd", "/bin/sh", "/usr/bin/env", sys.executable):
    for attempt in (lambda: os.close(os.open(path, os.O_WRONLY)), lambda: os.chmod(path, 0o777)):
        try:
            attempt()
            leaks.append(f"can change {path}")
        except OSError:
            pass
for path in ("/var/run/docker.sock", "/run/docker.sock", "/etc/shadow", "/sys/fs/cgroup", "/root"):
    if os.path.exists(path) and os.access(path, os.R_OK):
        leaks.append(f"sees {path}")
for line in open("/proc/self/mountinfo"):
    target, flags = line.split()[4:6]
    if "rw" in flags.split(",") and not target.startswith((*OWN, "/dev/")):
        leaks.append(f"{target} is writable")
print("LEAK:" if leaks else "HELD:", *leaks)
