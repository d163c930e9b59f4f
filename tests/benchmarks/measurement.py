"""Measurements as all benchmarks print them with `--json`."""

from __future__ import annotations

import json
import os
import resource
import statistics
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from foldline.agent.mcp.calls import Tools
from foldline.agent.reading_steps import mcp_instructions

Statistic: TypeAlias = Literal["minimum", "median", "p95"]
HUNDREDTHS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The values of one piece of work, beside those of an anchor in the same run.

    Attributes:
        work: What was done, as a user would say it.
        values: In `unit`, in the order in which they were measured.
        goal: The most that `statistic` of the values may be; None without a goal.
        anchor: The name of the other program, or of the other way, that the work is compared with.
        factor: The goal as a multiple of the anchor's median.
        load: Processes that wanted a processor in the last minute, on average.
    """

    work: str
    values: tuple[float, ...]
    unit: str = "ms"
    goal: float | None = None
    statistic: Statistic = "p95"
    anchor: str = ""
    anchor_values: tuple[float, ...] = ()
    factor: float | None = None
    load: float = field(default_factory=lambda: round(os.getloadavg()[0], 1))

    @property
    def figure(self) -> float:
        """The value that the goal is for."""
        return getattr(self, self.statistic)  # type: ignore[no-any-return]

    @property
    def minimum(self) -> float:
        return min(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        if len(self.values) == 1:
            return self.values[0]
        return statistics.quantiles(self.values, n=HUNDREDTHS, method="inclusive")[94]

    @property
    def limit(self) -> float | None:
        """The goal as a number of `unit`."""
        if self.factor is not None and self.anchor_values:
            return self.factor * statistics.median(self.anchor_values)
        return self.goal

    @property
    def is_met(self) -> bool | None:
        """None without a goal."""
        return None if self.limit is None else self.figure <= self.limit


def told() -> int:
    """Return the bytes of MCP's schemas and foldline's instructions, as a model is sent them."""
    schemas = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            },
        }
        for tool in Tools().listed
    ]
    texts = json.dumps(schemas, separators=(",", ":")), mcp_instructions()
    return sum(len(text.encode()) for text in texts)


def children_seconds() -> float:
    """Return the processor time of the processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def as_json(measurements: list[Measurement]) -> str:
    """Return the measurements as `from_json` reads them."""
    return json.dumps([asdict(measurement) for measurement in measurements], indent=2)


def from_json(text: str) -> list[Measurement]:
    """Return the measurements that a benchmark printed."""
    return [
        Measurement(
            **{
                **row,
                "values": tuple(row["values"]),
                "anchor_values": tuple(row["anchor_values"]),
            }
        )
        for row in json.loads(text)
    ]
