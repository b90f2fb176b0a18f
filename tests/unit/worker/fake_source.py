"""A source of sandboxes that answers from a list and notes what it was asked."""

from collections.abc import Sequence

from sandbox_service.sandbox.base import Gather
from sandbox_service.schema.run import Ending, Execution, ExecutionReport, RunReport


def make_report(**overrides) -> RunReport:
    return RunReport(**({"ending": Ending.EXITED, "exit_code": 0} | overrides))


class FakeSource:
    """Each execution takes as many reports from the list as it has runs."""

    def __init__(self, *reports: RunReport, artifacts: dict[str, bytes] | None = None) -> None:
        self._reports = list(reports)
        self._artifacts = artifacts or {}
        self.asked: list[Execution] = []
        self.fresh: list[bool] = []

    def execute(self, execution: Execution, *, fresh: bool) -> ExecutionReport:
        self.asked.append(execution)
        self.fresh.append(fresh)
        count = len(execution.runs)
        runs, self._reports = self._reports[:count], self._reports[count:]
        return ExecutionReport(runs=tuple(runs), artifacts=self._artifacts)

    def look_ahead(self, executions: Sequence[Execution]) -> Gather:
        reports = [self.execute(execution, fresh=False) for execution in executions]
        return lambda: list(reports)

    def close(self) -> None:
        self.asked.clear()
