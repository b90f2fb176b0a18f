# More files, and more bytes in files, than a run may keep.
import os

leaks, size, count = [], 0, 0
try:
    with open("/tmp/big", "wb", buffering=0) as file:
        while size < 192 << 20:
            size += file.write(bytes(1 << 20))
    leaks.append(f"{size >> 20} MiB")
except OSError:
    pass
try:
    for count in range(20_000):
        os.mkdir(f"/dev/shm/{count}")
    leaks.append(f"{count} folders")
except OSError:
    pass
print("LEAK:" if leaks else "HELD:", *leaks)
