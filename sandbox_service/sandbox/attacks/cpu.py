# Processor time spent by children that nobody waits for, one after the other.
import os
import time

if os.fork() == 0:
    while time.time_ns():
        start = time.process_time()
        while time.process_time() - start < 0.05:
            pass
        if os.fork():
            os._exit(0)
time.sleep(8)
print("LEAK: no limit for relayed work")
