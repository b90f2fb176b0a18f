# Twice the memory that a run may have, in a child, so that the program itself ends well.
import os

if os.fork() == 0:
    blocks = [b"x" * (1 << 20) for _ in range(512)]
    os.write(1, b"LEAK: twice the memory\n")
    os._exit(0)
os.wait()
