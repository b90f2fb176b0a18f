# Rights that a program must not have: users, capabilities, dumps, a missing filter.
import os
import resource

status = {}
for line in open("/proc/self/status"):
    name, _, value = line.partition(":")
    status[name] = value.strip()
leaks = []
if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
    leaks.append("is root")
if status["NoNewPrivs"] != "1":
    leaks.append("may gain privileges")
if status["Seccomp"] != "2":
    leaks.append("no system call filter")
leaks += [name for name, value in status.items() if name.startswith("Cap") and int(value, 16)]
if resource.getrlimit(resource.RLIMIT_CORE)[1]:
    leaks.append("may dump core")
if os.getpid() == 1:
    leaks.append("is its own init")
print("LEAK:" if leaks else "HELD:", *leaks)
