# What the program inherits: variables, descriptors, a terminal.
import os
import stat

KNOWN = {"PATH", "HOME", "TMPDIR", "LANG", "PYTHONHASHSEED", "LC_CTYPE"}
leaks = [name for name in os.environ if name not in KNOWN and not name.endswith("_NUM_THREADS")]
for fd in range(4096):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    if fd > 2:
        leaks.append(f"descriptor {fd}")
    if stat.S_ISSOCK(mode) or os.isatty(fd):
        leaks.append(f"descriptor {fd} is a socket or a terminal")
print("LEAK:" if leaks else "HELD:", *leaks)
