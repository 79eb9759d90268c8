"""How a request is told, by its status and its end."""

from __future__ import annotations

import pytest

from staticfire.report.kinds import Kind, kind_of
from staticfire.report.results import Request


@pytest.mark.parametrize(
    ("status", "ended", "kind"),
    [
        (200, "whole", Kind.OK),
        (204, "whole", Kind.OK),
        (400, "whole", Kind.REFUSED),
        (307, "whole", Kind.REFUSED),
        (429, "whole", Kind.BACKPRESSURE),
        (503, "whole", Kind.BACKPRESSURE),
        (529, "whole", Kind.BACKPRESSURE),
        (500, "whole", Kind.ERROR),
        (502, "whole", Kind.ERROR),
        (200, "cut", Kind.BROKEN),
        (503, "reset", Kind.BROKEN),
        (None, "refused", Kind.BROKEN),
        (None, "killed", Kind.BROKEN),
        (200, "client left", Kind.LEFT),
        (None, "aborted", Kind.LEFT),
        (None, "open", Kind.GOING),
        (200, "held", Kind.GOING),
    ],
)
def test_a_kind_by_status_and_end(status, ended, kind):
    """An answer that was not whole is broken whatever its status; shedding is no error."""
    assert kind_of(Request("e", 0.0, 1.0, status, ended)) is kind
