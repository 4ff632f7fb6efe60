"""Runs turnspec and returns its verdicts, for a test that shows each check as a test case."""

import json
import os
import subprocess
import tempfile
from typing import Any, Dict, List, NamedTuple, Optional, Sequence


class Verdict(NamedTuple):
    """The verdict on one check, over all cases."""

    id: str
    sentence: str
    failures: List[str]  #: each failure that is no known one
    skipped: Optional[str]  #: why there is neither a pass nor a failure


def verdicts(runtime: str, subject: str, known: Optional[str] = None, args: Sequence[str] = (), program: Optional[str] = None) -> List[Verdict]:
    """Runs the suite and returns a verdict for each check. It raises RuntimeError if the suite could not run, or if a known failure is
    stale. The variable TURNSPEC_ARGS adds arguments: TURNSPEC_ARGS='--case text/*' pytest."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "report.json")
        argv = [program or os.environ.get("TURNSPEC") or "turnspec", "run", "--full", "--runtime", runtime, "--subject", subject, "--report", "json=" + file]
        if known:
            argv += ["--known", known]
        run = subprocess.run([*argv, *args, *os.environ.get("TURNSPEC_ARGS", "").split()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace")
        if run.returncode > 1:
            raise RuntimeError(run.stdout)
        with open(file, encoding="utf-8") as f:
            report = json.load(f)
    bad = ("fail", "flaky") if report["selection"].get("fail_on_flaky") else ("fail",)
    out = [_verdict(check, [r for r in report["results"] if r["check"] == check["id"]], bad) for check in report["checks"]]
    if run.returncode and not any(v.failures for v in out):
        raise RuntimeError(run.stdout[-4000:])
    return out


def _verdict(check: Dict[str, Any], results: List[Dict[str, Any]], bad: Sequence[str]) -> Verdict:
    failures = [_describe(r) for r in results if r["verdict"] in bad and r["severity"] == "MUST" and "known" not in r]
    skipped = None
    if not failures and not any(r["verdict"] == "pass" for r in results):
        skipped = next((r.get("reason") or r["verdict"] for r in results if r["verdict"] != "not applicable"), "not applicable")
    return Verdict(check["id"], check["sentence"], failures, skipped)


def _describe(r: Dict[str, Any]) -> str:
    lines = ["{case} [{tier}]".format(**r)]
    for p in r.get("problems", []):
        fault = p["fault"]["operator"] + ": " if "fault" in p else ""
        lines.append("  " + fault + p["text"] + ("\n" + p["diff"] if "diff" in p else ""))
    return "\n".join([*lines, *(["  rerun: " + r["rerun"]] if "rerun" in r else [])])
