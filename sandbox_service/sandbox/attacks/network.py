# Networks: no interface but a loopback of its own, where nobody else listens.
import fcntl
import socket
import struct

PORTS = (22, 53, 80, 443, 2000, 2358, 2375, 2376, 3306, 5000, 5432, 6379, 8000, 8080, 9090, 10250)
SIOCGIFNAME = 0x8910
leaks = []
with socket.socket() as any_socket:
    for index in range(1, 64):
        try:
            reply = fcntl.ioctl(any_socket, SIOCGIFNAME, struct.pack("16si20x", b"", index))
        except OSError:
            continue
        name = reply[:16].rstrip(b"\0").decode()
        if name != "lo":
            leaks.append(f"interface {name}")
for address in ("192.0.2.1", "169.254.169.254", "8.8.8.8"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        if probe.connect_ex((address, 53)) == 0:  # asks the routing table; sends nothing
            leaks.append(f"route to {address}")
for host in ("127.0.0.1", "127.0.0.11", "127.0.0.53"):
    for port in PORTS:
        with socket.socket() as probe:
            probe.settimeout(0.2)
            if probe.connect_ex((host, port)) == 0:
                leaks.append(f"{host}:{port}")
print("LEAK:" if leaks else "HELD:", *leaks)
