"""Knowledge of engines: who may be called ready, from which evidence."""

from __future__ import annotations

from staticfire.readiness.accept import RULES, Asked, Failure, Judgement, judge
from staticfire.readiness.evidence import Evidence
from staticfire.readiness.questions import probe
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Limits, Settings
from staticfire.readiness.verdict import Source, Status, Verdict
from staticfire.readiness.waiting import Change, Target, Waited, wait_for
from staticfire.readiness.watch import Watch

__all__ = [
    "RULES",
    "Asked",
    "Change",
    "Evidence",
    "Failure",
    "Judgement",
    "Limits",
    "Plan",
    "Record",
    "Settings",
    "Source",
    "Status",
    "Target",
    "Verdict",
    "Waited",
    "Watch",
    "judge",
    "probe",
    "wait_for",
]
