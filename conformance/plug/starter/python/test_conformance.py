"""Shows each case and each check of turnspec as a test: pytest conformance"""

import os
import shlex
import sys

import pytest
from turnspec_plug.suite import Run

HERE = os.path.dirname(os.path.abspath(__file__))
SUBJECT = shlex.join([sys.executable, os.path.join(HERE, "plug.py")])
RUN = Run("{{runtime}}", SUBJECT, known=os.path.join(HERE, "known-failures.txt"))


@pytest.mark.parametrize("case", RUN.cases)
def test_case(case):
    """Ends as soon as the case was tried without faults."""
    demand(RUN.case(case))


@pytest.mark.parametrize("check", RUN.checks)
def test_check(check):
    """Is about all cases, with faults too, so it ends with the run."""
    demand(RUN.check(check))


def demand(verdict):
    if verdict.skipped:
        pytest.skip(verdict.skipped)
    if verdict.failures:
        pytest.fail("\n".join(verdict.failures), pytrace=False)
