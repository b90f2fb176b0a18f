# Much more output than a run may print.
import os

for _ in range(64):
    os.write(1, b"x" * (1 << 20))
os.write(2, b"LEAK: 64 MiB\n")
