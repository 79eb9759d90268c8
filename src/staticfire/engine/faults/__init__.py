"""Faults: one misbehaviour a file, named by what the client sees.

A user's own fault is one class and one registration line:

    @fault("stutters")
    @dataclass(frozen=True, slots=True)
    class Stutters:
        def play(self, honest, ask):
            for action in honest:
                yield action
                if isinstance(action, Send):
                    yield action
"""

from __future__ import annotations

from staticfire.engine.faults.answers import Answers
from staticfire.engine.faults.answers_without_closing import AnswersWithoutClosing
from staticfire.engine.faults.base import Fault, as_fault, fault, fault_name, faults, make
from staticfire.engine.faults.closes_without_answering import ClosesWithoutAnswering
from staticfire.engine.faults.combines import Combines
from staticfire.engine.faults.dribbles import Dribbles
from staticfire.engine.faults.honest import Honest
from staticfire.engine.faults.never_answers import NeverAnswers
from staticfire.engine.faults.omits_done import OmitsDone
from staticfire.engine.faults.resets import Resets
from staticfire.engine.faults.sends_error_event import SendsErrorEvent
from staticfire.engine.faults.truncates import Truncates
from staticfire.engine.faults.waits import Waits

__all__ = [
    "Answers",
    "AnswersWithoutClosing",
    "ClosesWithoutAnswering",
    "Combines",
    "Dribbles",
    "Fault",
    "Honest",
    "NeverAnswers",
    "OmitsDone",
    "Resets",
    "SendsErrorEvent",
    "Truncates",
    "Waits",
    "as_fault",
    "fault",
    "fault_name",
    "faults",
    "make",
]
