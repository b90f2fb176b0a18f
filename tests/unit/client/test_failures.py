"""Every error of the shared table comes back as the class that the service raised."""

import httpx
import pytest

from sandbox_service import errors
from sandbox_service.api.errors import problem_of
from sandbox_service.client._failures import Failed, failure_of_transport, raise_for_failure
from sandbox_service.errors import (
    InvalidSubmission,
    QueueFull,
    RequestError,
    SandboxServiceError,
    ServiceError,
    ServiceUnavailable,
    UnexpectedResponse,
)

CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, SandboxServiceError)
]


def error_of(response: httpx.Response) -> SandboxServiceError:
    with pytest.raises(Failed) as caught:
        raise_for_failure(response)
    return caught.value.error


def over_the_wire(error: SandboxServiceError) -> SandboxServiceError:
    answer = problem_of(error)
    return error_of(httpx.Response(answer.status_code, headers=answer.headers, content=answer.body))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda each: each.code)
def test_error_over_the_wire_keeps_class_and_message(kind):
    received = over_the_wire(kind("what happened"))
    assert type(received) is kind
    assert str(received) == "what happened"


def test_error_over_the_wire_names_the_field():
    received = over_the_wire(InvalidSubmission("too small", field="limits.cpu_time_s"))
    assert isinstance(received, RequestError)
    assert received.field == "limits.cpu_time_s"


def test_full_queue_over_the_wire_says_when_to_come_back():
    received = over_the_wire(QueueFull("full", retry_after_s=7.0))
    assert isinstance(received, QueueFull)
    assert received.retry_after_s == 7.0


@pytest.mark.parametrize(("status", "kind"), [(418, RequestError), (599, ServiceError)])
def test_code_of_a_newer_service_is_known_by_its_status(status, kind):
    received = error_of(httpx.Response(status, json={"code": "newer", "detail": "x"}))
    assert type(received) is kind


def test_code_that_names_a_class_elsewhere_is_not_looked_up():
    received = error_of(httpx.Response(400, json={"code": "os.system", "detail": "x"}))
    assert type(received) is RequestError


@pytest.mark.parametrize(
    ("status", "kind"),
    [(404, RequestError), (502, ServiceUnavailable), (501, UnexpectedResponse)],
)
def test_page_of_a_proxy_is_an_error_by_its_status(status, kind):
    assert type(error_of(httpx.Response(status, text="<html>"))) is kind


@pytest.mark.parametrize("kind", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_lost_request_is_transient(kind):
    failed = failure_of_transport(kind("gone"))
    assert failed.is_transient
    assert isinstance(failed.error, ServiceUnavailable)


def test_address_without_a_scheme_is_the_callers_fault():
    failed = failure_of_transport(httpx.UnsupportedProtocol("no scheme"))
    assert not failed.is_transient
    assert isinstance(failed.error, RequestError)


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_retry_after_that_is_no_time_is_ignored(text):
    with pytest.raises(Failed) as caught:
        raise_for_failure(httpx.Response(503, headers={"Retry-After": text}))
    assert caught.value.retry_after_s is None
