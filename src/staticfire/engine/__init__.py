"""Mock engines: inference servers that misbehave on purpose, as their scripts say.

    engine = MockEngine(Script(model="qwen", life=[Refuses(seconds=12), Serving()]), name="late")
    await engine.start()

An engine answers honestly in its personality's dialect; the phase it is in, or a rule for the
request, turns that answer into a faulty one. See `faults` for what can go wrong.
"""

from __future__ import annotations

from staticfire.engine.capacity import Capacity
from staticfire.engine.faults import (
    Answers,
    AnswersWithoutClosing,
    ClosesWithoutAnswering,
    Combines,
    Dribbles,
    Fault,
    Honest,
    NeverAnswers,
    OmitsDone,
    Resets,
    SendsErrorEvent,
    Truncates,
    Waits,
    fault,
    faults,
)
from staticfire.engine.handlers import handles
from staticfire.engine.holds import Hold
from staticfire.engine.journal import Request, Row
from staticfire.engine.personalities import personalities
from staticfire.engine.phases import (
    Accepting,
    Busy,
    Dead,
    Draining,
    Loading,
    Phase,
    Refuses,
    Serving,
    Sleeping,
)
from staticfire.engine.script import Rule, Script
from staticfire.engine.server import MockEngine

__all__ = [
    "Accepting",
    "Answers",
    "AnswersWithoutClosing",
    "Busy",
    "Capacity",
    "ClosesWithoutAnswering",
    "Combines",
    "Dead",
    "Draining",
    "Dribbles",
    "Fault",
    "Hold",
    "Honest",
    "Loading",
    "MockEngine",
    "NeverAnswers",
    "OmitsDone",
    "Phase",
    "Refuses",
    "Request",
    "Resets",
    "Row",
    "Rule",
    "Script",
    "SendsErrorEvent",
    "Serving",
    "Sleeping",
    "Truncates",
    "Waits",
    "fault",
    "faults",
    "handles",
    "personalities",
]
