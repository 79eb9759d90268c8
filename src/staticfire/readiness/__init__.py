"""Knowledge of engines: who may be called ready, from which evidence."""

from __future__ import annotations

from staticfire.readiness import core
from staticfire.readiness.accept import RULES, Asked, Failure, Judgement, judge
from staticfire.readiness.effects import Effect, Probe, Restart, Show
from staticfire.readiness.evidence import Evidence, Identity, News, Process, Turn
from staticfire.readiness.keys import key_headers
from staticfire.readiness.probing import probe
from staticfire.readiness.ready import NotReady, probe_sync, wait_ready, wait_ready_sync
from staticfire.readiness.record import Plan, Record
from staticfire.readiness.settings import Limits, Settings
from staticfire.readiness.verdict import Source, Status, Verdict
from staticfire.readiness.waiting import Change, Target, Waited, wait_for
from staticfire.readiness.watch import Keeper, Watch, check_all

__all__ = [
    "RULES",
    "Asked",
    "Change",
    "Effect",
    "Evidence",
    "Failure",
    "Identity",
    "Judgement",
    "Keeper",
    "Limits",
    "News",
    "NotReady",
    "Plan",
    "Probe",
    "Process",
    "Record",
    "Restart",
    "Settings",
    "Show",
    "Source",
    "Status",
    "Target",
    "Turn",
    "Verdict",
    "Waited",
    "Watch",
    "check_all",
    "core",
    "judge",
    "key_headers",
    "probe",
    "probe_sync",
    "wait_for",
    "wait_ready",
    "wait_ready_sync",
]
