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
from staticfire.engine.faults.answers_twice import AnswersTwice
from staticfire.engine.faults.answers_with_a_wrong_body import AnswersWithAWrongBody
from staticfire.engine.faults.answers_without_a_head import AnswersWithoutAHead
from staticfire.engine.faults.answers_without_closing import AnswersWithoutClosing
from staticfire.engine.faults.base import Fault, as_fault, fault, fault_name, faults, make
from staticfire.engine.faults.claims_an_encoding import ClaimsAnEncoding
from staticfire.engine.faults.closes_without_answering import ClosesWithoutAnswering
from staticfire.engine.faults.combines import Combines
from staticfire.engine.faults.crashes import Crashes
from staticfire.engine.faults.dribbles import Dribbles
from staticfire.engine.faults.frames_events_oddly import FramesEventsOddly
from staticfire.engine.faults.honest import Honest
from staticfire.engine.faults.leaves_its_connection import LeavesItsConnection
from staticfire.engine.faults.loses_its_scheduler import LosesItsScheduler
from staticfire.engine.faults.needs_a_key import NeedsAKey
from staticfire.engine.faults.never_answers import NeverAnswers
from staticfire.engine.faults.omits_done import OmitsDone
from staticfire.engine.faults.omits_the_last_chunk import OmitsTheLastChunk
from staticfire.engine.faults.outlives_its_client import OutlivesItsClient
from staticfire.engine.faults.reads_slowly import ReadsSlowly
from staticfire.engine.faults.redirects import Redirects
from staticfire.engine.faults.resets import Resets
from staticfire.engine.faults.says_done import SaysDone
from staticfire.engine.faults.sends_a_bad_chunk import SendsABadChunk
from staticfire.engine.faults.sends_a_bad_header import SendsABadHeader
from staticfire.engine.faults.sends_a_bad_status_line import SendsABadStatusLine
from staticfire.engine.faults.sends_a_big_head import SendsABigHead
from staticfire.engine.faults.sends_a_forbidden_body import SendsAForbiddenBody
from staticfire.engine.faults.sends_a_long_line import SendsALongLine
from staticfire.engine.faults.sends_an_interim_answer import SendsAnInterimAnswer
from staticfire.engine.faults.sends_comments import SendsComments
from staticfire.engine.faults.sends_error_event import SendsErrorEvent
from staticfire.engine.faults.sends_trailers import SendsTrailers
from staticfire.engine.faults.speaks_another_protocol import SpeaksAnotherProtocol
from staticfire.engine.faults.splits_the_body import SplitsTheBody
from staticfire.engine.faults.stalls import Stalls
from staticfire.engine.faults.states_a_wrong_length import StatesAWrongLength
from staticfire.engine.faults.switches_protocols import SwitchesProtocols
from staticfire.engine.faults.takes_aborts import TakesAborts
from staticfire.engine.faults.truncates import Truncates
from staticfire.engine.faults.waits import Waits

__all__ = [
    "Answers",
    "AnswersTwice",
    "AnswersWithAWrongBody",
    "AnswersWithoutAHead",
    "AnswersWithoutClosing",
    "ClaimsAnEncoding",
    "ClosesWithoutAnswering",
    "Combines",
    "Crashes",
    "Dribbles",
    "Fault",
    "FramesEventsOddly",
    "Honest",
    "LeavesItsConnection",
    "LosesItsScheduler",
    "NeedsAKey",
    "NeverAnswers",
    "OmitsDone",
    "OmitsTheLastChunk",
    "OutlivesItsClient",
    "ReadsSlowly",
    "Redirects",
    "Resets",
    "SaysDone",
    "SendsABadChunk",
    "SendsABadHeader",
    "SendsABadStatusLine",
    "SendsABigHead",
    "SendsAForbiddenBody",
    "SendsALongLine",
    "SendsAnInterimAnswer",
    "SendsComments",
    "SendsErrorEvent",
    "SendsTrailers",
    "SpeaksAnotherProtocol",
    "SplitsTheBody",
    "Stalls",
    "StatesAWrongLength",
    "SwitchesProtocols",
    "TakesAborts",
    "Truncates",
    "Waits",
    "as_fault",
    "fault",
    "fault_name",
    "faults",
    "make",
]
