"""Standard input of 100 MB passes through within the default limits."""

from tests.correctness.judged import judge

INPUT = "12345678 " * 11_650_844
IN_PIECES = """
import sys
size = 0
while part := sys.stdin.buffer.read(1 << 16): size += len(part)
print(size)
"""


def test_program_reads_100_mb_in_pieces(pipeline):
    result = judge(pipeline, IN_PIECES, {"stdin": INPUT, "expected_stdout": f"{len(INPUT)}\n"})
    assert result.verdict == "accepted", result.tests[0].detail
    assert result.tests[0].usage.memory_bytes < 64 * 1024 * 1024


def test_input_does_not_count_against_the_memory_of_the_program(pipeline):
    code = "import sys\nprint(len(sys.stdin.buffer.read()))"
    test = {"stdin": INPUT, "expected_stdout": f"{len(INPUT)}\n"}
    results = [judge(pipeline, code, test) for _ in range(2)]
    assert [result.verdict for result in results] == ["accepted", "accepted"]


def test_program_that_reads_nothing_of_it_ends(pipeline):
    assert judge(pipeline, "", {"stdin": INPUT, "expected_stdout": ""}).verdict == "accepted"
