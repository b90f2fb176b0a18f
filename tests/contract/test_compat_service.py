"""Foreign clients against a real service with the local engine."""

import base64
import json
import os
import pickle
import shutil
import zlib
from collections.abc import Iterator

import httpx
import pytest

from sandbox_service.demo.server import running_service
from sandbox_service.queue.embedded import find_redis_server

pytestmark = pytest.mark.skipif(
    find_redis_server() is None or shutil.which("bwrap") is None,
    reason="needs redis-server and bubblewrap",
)
_SETTINGS = {"SANDBOX_ENGINE": "local", "SANDBOX_WORKERS": "1", "SANDBOX_SELF_TEST": "false"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = tmp_path_factory.mktemp("compat")
    with (
        running_service(folder, {**os.environ, **_SETTINGS}) as address,
        httpx.Client(base_url=address, timeout=60, trust_env=False) as client,
    ):
        yield client


def fusion(service, code="print(1)", language="python", **fields):
    return service.post("/run_code", json={"code": code, "language": language, **fields})


def ran(service, code, **fields):
    body = fusion(service, code, **fields).json()
    step = body["run_result"]
    return body["status"], step["status"], step["return_code"], step["stdout"]


def test_fusion_success_has_the_recorded_shape(service):
    body = fusion(service, extra=1, run_timeout="5").json()
    assert body["run_result"].pop("execution_time") > 0
    assert body == {
        "status": "Success",
        "message": "",
        "compile_result": None,
        "run_result": {"status": "Finished", "return_code": 0, "stdout": "1\n", "stderr": ""},
        "executor_pod_name": None,
        "files": {},
    }


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import sys; sys.exit(3)", ("Failed", "Finished", 3, "")),
        ("raise ValueError('x')", ("Failed", "Finished", 1, "")),
        ("import os; os.kill(os.getpid(), 9)", ("Failed", "Finished", -9, "")),
        ("import os; os.kill(os.getpid(), 11)", ("Failed", "Finished", -11, "")),
        ("a=b=", ("Failed", "Finished", 1, "")),
        ("print(repr(input()) if 0 else 'é')", ("Success", "Finished", 0, "é\n")),
        ("print('x' * 1000000)", ("Success", "Finished", 0, "x" * 1000000 + "\n")),
    ],
)
def test_fusion_tells_how_a_program_ended(service, code, expected):
    assert ran(service, code) == expected


def test_fusion_keeps_what_was_printed_before_the_time_was_over(service):
    code = "print('hi', flush=True)\nwhile True: pass"
    late = ("Failed", "TimeLimitExceeded", None, "hi\n")
    assert ran(service, code, run_timeout=1) == late


def test_fusion_null_stdin_is_empty(service):
    code = "import sys; print(repr(sys.stdin.read()))"
    assert ran(service, code, stdin=None)[3] == "''\n"


def test_fusion_output_that_is_not_utf8_is_a_success(service):
    status, _, _, text = ran(service, "import sys; sys.stdout.buffer.write(b'\\xff')")
    assert status == "Success"
    assert text.startswith("[DecodeError] 'utf-8' codec can't decode byte")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_fusion_compile_error_has_no_run(service):
    body = fusion(service, "a=b", "cpp").json()
    assert (body["status"], body["run_result"]) == ("Failed", None)
    assert body["compile_result"]["return_code"] == 1


@pytest.mark.parametrize(
    "fields", [{"files": {"a": "x"}}, {"language": "lean"}, {"fetch_files": ["o"]}]
)
def test_fusion_what_cannot_be_done_is_a_sandbox_error(service, fields):
    answer = fusion(service, **fields)
    assert (answer.status_code, answer.json()["status"]) == (200, "SandboxError")


@pytest.mark.parametrize(
    ("fields", "field", "kind"),
    [
        ({"code": "x", "language": "brainfuck"}, "language", "literal_error"),
        ({"language": "python"}, "code", "missing"),
        ({"code": "x", "language": "python", "stdin": 5}, "stdin", "string_type"),
    ],
)
def test_fusion_refuses_in_the_shape_of_fastapi(service, fields, field, kind):
    answer = service.post("/run_code", json=fields)
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", field]
    assert answer.json()["detail"][0]["type"] == kind


def test_fusion_lone_surrogate_in_code_is_500(service):
    answer = service.post("/run_code", content=b'{"code":"\\ud800","language":"python"}')
    assert answer.status_code == 500


def test_fusion_ping_is_answered(service):
    assert service.get("/v1/ping").json() == "pong"


def piston(service, content, **fields):
    body = {"language": "python", "version": "*", "files": [{"content": content}], **fields}
    return service.post("/api/v2/execute", json=body)


def test_piston_runs_with_a_newline_after_stdin(service):
    body = piston(service, "import sys; print(repr(sys.stdin.read()))", stdin="a").json()
    assert (body["run"]["stdout"], body["run"]["code"]) == ("'a\\n'\n", 0)
    assert (body["run"]["signal"], body["run"]["status"]) == (None, None)


def test_piston_time_out_is_sigkill(service):
    run = piston(service, "while True: pass", run_timeout=1000).json()["run"]
    assert (run["status"], run["signal"], run["code"]) == ("TO", "SIGKILL", None)


def test_piston_unknown_runtime_and_too_high_limit_are_400(service):
    assert piston(service, "1", language="cobol").status_code == 400
    assert piston(service, "1", run_timeout=10**9).json()["message"].startswith("run_timeout")
    assert service.post("/execute", content=b"x").status_code == 415


def test_piston_lists_its_runtimes(service):
    assert "python" in {each["language"] for each in service.get("/api/v2/runtimes").json()}


def judge0(service, code, path="/submissions/?wait=true", **fields):
    return service.post(path, json={"source_code": code, "language_id": 71, **fields})


@pytest.mark.parametrize(
    ("code", "number"),
    [("print(1)", 3), ("print(2)", 4), ("exit(1)", 11), ("a=", 6), ("import os; os.abort()", 10)],
)
def test_judge0_status_follows_the_ending(service, code, number):
    answer = judge0(service, code, expected_output="1")
    assert (answer.status_code, answer.json()["status"]["id"]) == (201, number)


def test_judge0_takes_and_gives_base64_where_asked(service):
    code = base64.b64encode(b"print(1)").decode()
    path = "/submissions?wait=true&base64_encoded=true&fields=stdout"
    assert judge0(service, code, path).json() == {"stdout": "MQo="}


def test_judge0_unknown_language_is_422(service):
    assert judge0(service, "1", language_id=9999).status_code == 422


def test_formats_that_are_on_are_listed(service):
    assert service.get("/v1/compat").json()["formats"]["sandboxfusion"] is True


def test_published_fusion_client_is_served_unmodified(service):
    sandbox_fusion = pytest.importorskip("sandbox_fusion")
    endpoint = str(service.base_url).rstrip("/")
    asked = sandbox_fusion.RunCodeRequest(code="print(6 * 7)", language="python")
    answer = sandbox_fusion.run_code(asked, endpoint=endpoint, max_attempts=1)
    assert answer.run_result.stdout == "42\n"


async def test_published_fusion_client_is_served_on_an_event_loop(service):
    sandbox_fusion = pytest.importorskip("sandbox_fusion")
    asked = sandbox_fusion.RunCodeRequest(code="import sys; sys.exit(3)", language="python")
    answer = await sandbox_fusion.run_code_async(asked, endpoint=address(service), max_attempts=1)
    assert (answer.status, answer.run_result.return_code) == ("Failed", 3)


def test_published_fusion_client_raises_where_the_sandbox_cannot(service):
    sandbox_fusion = pytest.importorskip("sandbox_fusion")
    asked = sandbox_fusion.RunCodeRequest(code="#eval 1", language="lean")
    with pytest.raises(Exception, match="Sandbox responded with error"):
        sandbox_fusion.run_code(asked, endpoint=address(service), max_attempts=1)


def address(service):
    return str(service.base_url).rstrip("/")


@pytest.fixture
def judge0_client(service):
    return pytest.importorskip("judge0").Client(address(service))


def test_published_judge0_client_runs_one_program(judge0_client):
    judge0 = pytest.importorskip("judge0")
    done = judge0.run(
        client=judge0_client,
        source_code="print(input() * 2)",
        stdin="é",
        expected_output="éé",
        language=judge0.PYTHON,
    )
    assert (done.status, done.stdout) == (judge0.Status.ACCEPTED, "éé\n")


def test_published_judge0_client_runs_a_batch(judge0_client):
    judge0 = pytest.importorskip("judge0")
    codes = ["print(1)", "print(2)", "exit(1)"]
    sent = [
        judge0.Submission(source_code=code, expected_output="1", language=judge0.PYTHON)
        for code in codes
    ]
    done = judge0.run(client=judge0_client, submissions=sent)
    assert [each.status.value for each in done] == [3, 4, 11]


def test_judge0_batch_names_what_does_not_fit(service):
    sent = {"submissions": [{"source_code": "1"}, {"source_code": "1", "language_id": 71}]}
    answer = service.post("/submissions/batch", json=sent)
    assert (answer.status_code, list(answer.json()[0])) == (201, ["language_id"])
    token = answer.json()[1]["token"]
    looked = service.get("/submissions/batch", params={"tokens": f"{token},unknown"}).json()
    assert looked["submissions"][0]["token"] == token
    assert looked["submissions"][1] is None


def test_judge0_refuses_a_batch_that_is_empty_or_too_large(service):
    for count in (0, 21):
        sent = {"submissions": [{}] * count}
        assert service.post("/submissions/batch", json=sent).status_code == 400


def test_judge0_unknown_token_is_404(service):
    assert service.get("/submissions/unknown").status_code == 404


def open_instruct(service, tests, program="def add(a, b): return a + b", path="/test_program"):
    return service.post(path, json={"program": program, "tests": tests})


def packed(value):
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


_ASSERTS = ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]


@pytest.mark.parametrize("tests", [_ASSERTS, json.dumps(_ASSERTS), packed(json.dumps(_ASSERTS))])
def test_open_instruct_counts_asserts(service, tests):
    body = open_instruct(service, tests).json()
    assert body["results"] == [1, 0]
    assert body["runtimes"][0] >= 0
    assert body["runtimes"][1] == -1.0


def test_open_instruct_compares_what_is_printed(service):
    tests = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "4\n"}]
    program = "print(2 * int(input()))"
    body = open_instruct(service, packed(tests), program, "/test_program_stdio").json()
    assert body["results"] == [1, 0]


def test_open_instruct_program_that_does_not_compile_passes_nothing(service):
    body = open_instruct(service, _ASSERTS, "a=b=").json()
    assert body == {"results": [0, 0], "runtimes": [-1.0, -1.0]}


def test_open_instruct_never_calls_what_a_pickle_names(service):
    answer = open_instruct(service, packed([print]))
    assert (answer.status_code, "plain values" in answer.json()["detail"]) == (500, True)


def test_open_instruct_tells_its_health(service):
    assert service.get("/health").json() == {"status": "healthy"}


_ANSWER = "So:\n```python\ndef add(a, b):\n    return a + b\n```"
_LABEL = json.dumps([{"test_code": each} for each in _ASSERTS])


def openrlhf(service, label=_LABEL):
    query = f"<|user|>Add.<|assistant|>{_ANSWER}<|im_end|></s>"
    sent = {"query": [query], "prompts": ["<|user|>Add.<|assistant|>"], "labels": [label]}
    return service.post("/openrlhf/reward", json=sent)


def test_openrlhf_gets_reward_score_and_numbers_to_log(service):
    expected = {"rewards": [0.5], "scores": [0.5], "extra_logs": {"pass_rate": 0.5}}
    assert openrlhf(service).json() == expected


def test_slime_gets_a_bare_number(service):
    sent = {"prompt": "Add.", "response": _ANSWER, "label": _LABEL}
    assert service.post("/slime/reward", json=sent).text == "0.5"


def test_label_may_say_language_and_policy(service):
    label = {"language": "python", "tests": json.loads(_LABEL), "reward": {"policy": "all_pass"}}
    sent = {"response": _ANSWER, "label": label}
    assert service.post("/slime/reward", json=sent).json() == 0.0


@pytest.mark.parametrize("label", ["", "5", "[]", '{"tests": 1}', '{"language": "cobol"}'])
def test_label_that_does_not_fit_is_422(service, label):
    assert openrlhf(service, label).status_code == 422
    sent = {"response": _ANSWER, "label": label}
    assert service.post("/slime/reward", json=sent).status_code == 422
