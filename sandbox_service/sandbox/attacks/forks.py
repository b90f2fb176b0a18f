# More processes than a run may have; each waits to be ended with the run.
import os
import time

children = 0
try:
    while children < 256:
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        children += 1
except OSError:
    pass
print("LEAK:" if children > 64 else "HELD:", children, "processes")
