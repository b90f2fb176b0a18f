"""Memory limits of languages whose run time keeps a heap: through HTTP, on Docker."""

import pytest

MIB = 1024 * 1024
LIMIT_MIB = 192
HOLDS_IT = {
    "java": """
        public class Main {
            public static void main(String[] arguments) {
                int mib = new java.util.Scanner(System.in).nextInt();
                java.util.List<byte[]> held = new java.util.ArrayList<>();
                for (int i = 0; i < mib; i++) {
                    held.add(new byte[1 << 20]);
                }
                System.out.println(held.size());
            }
        }
    """,
    "javascript": """
        const mib = Number(require("fs").readFileSync(0));
        const held = [];
        for (let i = 0; i < mib; i++) held.push(new Array(131072).fill(i + 0.5));
        console.log(held.length);
    """,
    "go": """
        package main

        import "fmt"

        func main() {
            var mib int
            fmt.Scan(&mib)
            held := [][]byte{}
            for i := 0; i < mib; i++ {
                block := make([]byte, 1<<20)
                for j := range block {
                    block[j] = 1
                }
                held = append(held, block)
            }
            fmt.Println(len(held))
        }
    """,
}
OUTSIDE_THE_HEAP = {
    "java": """
        public class Main {
            public static void main(String[] arguments) {
                int mib = new java.util.Scanner(System.in).nextInt();
                java.nio.ByteBuffer[] held = new java.nio.ByteBuffer[mib];
                for (int i = 0; i < mib; i++) {
                    held[i] = java.nio.ByteBuffer.allocateDirect(1 << 20);
                }
                System.out.println(held.length);
            }
        }
    """,
    "javascript": """
        const mib = Number(require("fs").readFileSync(0));
        const held = [];
        for (let i = 0; i < mib; i++) held.push(Buffer.alloc(1 << 20, 1));
        console.log(held.length);
    """,
}
PROGRAMS = [
    *(pytest.param(*item, id=item[0]) for item in HOLDS_IT.items()),
    *(pytest.param(*item, id=f"{item[0]}-outside-the-heap") for item in OUTSIDE_THE_HEAP.items()),
]

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(120),
    pytest.mark.parametrize("engine", ["docker"], indirect=True),
]


@pytest.mark.parametrize(("language", "code"), PROGRAMS)
def test_64_mb_over_the_limit_is_too_much_and_64_mb_under_is_not(client, language, code):
    tests = [
        {"stdin": str(mib), "expected_stdout": str(mib)} for mib in (LIMIT_MIB - 64, LIMIT_MIB + 64)
    ]
    limits = {"memory_bytes": LIMIT_MIB * MIB, "cpu_time_s": 10.0}
    submission = {"language": language, "code": code, "tests": tests, "limits": limits}
    result = client.post("/v1/submissions", params={"wait": 100}, json=submission).json()
    verdicts = [test["verdict"] for test in result["tests"]]
    assert verdicts == ["accepted", "memory_limit_exceeded"], result
