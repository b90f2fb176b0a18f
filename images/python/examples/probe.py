import sys

order = sys.stdin.readline().strip()
if order == "echo":
    sys.stdout.write(sys.stdin.read())
elif order == "fail":
    sys.exit(3)
elif order == "loop":
    while True:
        pass
elif order == "flood":
    while True:
        print("x" * 1000)
elif order == "hoard":
    held = []
    while True:
        held.append(bytearray(1 << 20))
