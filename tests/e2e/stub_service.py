"""The dashboard's routes over figures that a test makes up; it can be stopped and started again."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from sandbox_service.api.routes import dashboard
from sandbox_service.dashboard.figures import Figures, figures
from sandbox_service.dashboard.history import Sample
from sandbox_service.dashboard.snapshot import Recent, Snapshot, WorkerState
from sandbox_service.dashboard.stream import Past, Trouble, event
from sandbox_service.schema.job import QueueState
from sandbox_service.schema.result import Result
from tests.served import Served

LANES = ("interactive", "train", "eval")
_PERIOD_S = 0.1


def make_figures(**verdicts: int) -> Figures:
    counters: dict[str, float] = {f"verdict:{name}": number for name, number in verdicts.items()}
    done = sum(verdicts.values())
    counters |= {"accepted": done, "queued_s:bucket:0.025": done, "run_s:bucket:0.05": done}
    counters |= {"reward:bucket:1.0": verdicts.get("accepted", 0)}
    counters |= {"reward:bucket:0.5": verdicts.get("wrong_answer", 0)}
    rest = ("runtime_error", "compile_error", "time_limit_exceeded", "memory_limit_exceeded")
    counters |= {"reward:bucket:0.0": sum(verdicts.get(name, 0) for name in rest)}
    return figures(counters, {}, 300.0)


def make_snapshot(**overrides: Any) -> Snapshot:
    now = time.time()
    fields: dict[str, Any] = {
        "at": now,
        "period_s": 2.0,
        "lanes": tuple(
            QueueState(name=name, depth=0, started=0, workers=2, oldest_s=0.0) for name in LANES
        ),
        "workers": (WorkerState(name="host-1-ab", lease_s=4.0),),
        "worker_count": 1,
        "latest": make_figures(),
        "total": make_figures(),
        "sample": Sample(at=now, depths=dict.fromkeys(LANES, 0), results_per_s=0.0),
        "recent": (),
    } | overrides
    return Snapshot(**fields)


def make_recent(result: Result, **overrides: Any) -> Recent:
    fields = {
        "tenant": "default",
        "id": result.id,
        "status": result.status,
        "verdict": result.verdict,
        "reward": result.reward,
        "passed": result.passed,
        "total": result.total,
        "queued_s": 0.004,
        "run_s": 0.021,
        "engine": "docker",
    } | overrides
    return Recent.model_validate(fields)


class StubService(Served):
    """Tells every watcher the current snapshot, ten times a second."""

    def __init__(self, *, key: str = "") -> None:
        super().__init__(self._app)
        self.snapshot = make_snapshot()
        self.past: tuple[Sample, ...] = ()
        self.results: dict[str, Result] = {}
        self.trouble = ""
        self.is_silent = False
        self._key = key

    def _app(self) -> FastAPI:
        app = FastAPI()
        app.include_router(dashboard.router)
        app.get("/v1/events", response_model=None)(self._events)
        app.get("/v1/recent/{tenant}/{name}", response_model=None)(self._look)
        return app

    def _refusal(self, request: Request) -> Response | None:
        if not self._key or request.headers.get("authorization") == f"Bearer {self._key}":
            return None
        return JSONResponse({"code": "not_authenticated", "detail": "An API key is needed."}, 401)

    async def _events(self, request: Request) -> Response:
        return self._refusal(request) or StreamingResponse(
            self._told(), media_type="text/event-stream"
        )

    async def _told(self) -> AsyncIterator[bytes]:
        yield event("past", Past(samples=self.past))
        while not self.is_stopping:
            if self.trouble:
                yield event("trouble", Trouble(code="queue_unavailable", detail=self.trouble))
            elif not self.is_silent:
                yield event("snapshot", self.snapshot.model_copy(update={"at": time.time()}))
            await asyncio.sleep(_PERIOD_S)

    async def _look(self, request: Request, tenant: str, name: str) -> Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        result = self.results.get(name) if tenant == "default" else None
        if result is None:
            detail = f"no submission {name!r}"
            return JSONResponse({"code": "not_found", "detail": detail}, 404)
        state = {"id": name, "status": result.status, "result": result.model_dump(mode="json")}
        return JSONResponse(state)
