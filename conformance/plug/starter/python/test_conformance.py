"""Shows each check of turnspec as a test: pytest conformance"""

import os
import shlex
import sys

import pytest
from turnspec_plug.suite import verdicts

HERE = os.path.dirname(os.path.abspath(__file__))
SUBJECT = shlex.join([sys.executable, os.path.join(HERE, "plug.py")])
KNOWN = os.path.join(HERE, "known-failures.txt")
VERDICTS = verdicts("{{runtime}}", SUBJECT, known=KNOWN)


@pytest.mark.parametrize("verdict", VERDICTS, ids=lambda v: v.id)
def test_check(verdict):
    if verdict.skipped:
        pytest.skip(verdict.skipped)
    assert not verdict.failures, "\n".join([verdict.sentence, *verdict.failures])
