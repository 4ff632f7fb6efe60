"""Runs turnspec in the background and returns its verdicts as they come, for a test that shows each case and each check as a test case."""

import atexit
import json
import os
import subprocess
import tempfile
import threading
from typing import Any, Dict, List, NamedTuple, Optional, Sequence


class Verdict(NamedTuple):
    """The verdict on one case, over all checks, or on one check, over all cases."""

    failures: List[str]  #: each failure that is no known one
    skipped: Optional[str]  #: why there is neither a pass nor a failure


class Run:
    """A run of the suite. It lists its cases and checks at once, and begins when the first verdict is asked for.

    It raises RuntimeError if the suite cannot run. The variable TURNSPEC_ARGS adds arguments: TURNSPEC_ARGS='--case text/*' pytest.
    """

    def __init__(self, runtime: str, subject: str, known: Optional[str] = None, args: Sequence[str] = (), program: Optional[str] = None) -> None:
        self._argv = [program or os.environ.get("TURNSPEC") or "turnspec", "run", "--full", "--runtime", runtime, "--subject", subject]
        if known:
            self._argv += ["--known", known]
        self._argv += [*args, *os.environ.get("TURNSPEC_ARGS", "").split()]
        listed = subprocess.run([*self._argv, "--list", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        if listed.returncode:
            raise RuntimeError(listed.stderr)
        names = json.loads(listed.stdout)
        self.cases: List[str] = names["cases"]  #: in the order in which they begin
        self.checks: List[str] = [check["id"] for check in names["checks"]]
        self._sentences = {check["id"]: check["sentence"] for check in names["checks"]}
        self._changed = threading.Condition()  # guards what follows
        self._process: Optional["subprocess.Popen[str]"] = None
        self._judged: Dict[str, List[Dict[str, Any]]] = {}  # the first results of each case
        self._report: Optional[Dict[str, Any]] = None
        self._error: Optional[str] = None

    def case(self, id: str) -> Verdict:
        """Waits until a case is judged without faults, and returns the verdict on it."""
        with self._changed:
            self._start()
            self._changed.wait_for(lambda: id in self._judged or self._report or self._error)
            self._raise()
            return _verdict(self._judged.get(id, []), ("fail",))

    def check(self, id: str) -> Verdict:
        """Waits until the run has ended, and returns the verdict on a check. It raises RuntimeError if a known failure is stale."""
        with self._changed:
            self._start()
            self._changed.wait_for(lambda: self._report or self._error)
            self._raise()
            assert self._report
            bad = ("fail", "flaky") if self._report["selection"].get("fail_on_flaky") else ("fail",)
            verdict = _verdict([r for r in self._report["results"] if r["check"] == id], bad)
        return verdict._replace(failures=[self._sentences[id], *verdict.failures]) if verdict.failures else verdict

    def _raise(self) -> None:
        if self._error:
            error, self._error = self._error, "the suite could not run: the first error says why"
            raise RuntimeError(error)

    def _start(self) -> None:
        if not self._process:
            lines, to_lines = os.pipe()
            folder = tempfile.TemporaryDirectory()
            file = os.path.join(folder.name, "report.json")
            argv = [*self._argv, "--report", "json=" + file, "--stream", "/dev/fd/%d" % to_lines]
            self._process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", pass_fds=[to_lines])
            os.close(to_lines)
            atexit.register(self._process.terminate)  # it has ended, or the tests have
            threading.Thread(target=self._read_lines, args=[lines], daemon=True).start()
            threading.Thread(target=self._wait, args=[self._process, folder, file], daemon=True).start()

    def _read_lines(self, lines: int) -> None:
        with open(lines, encoding="utf-8") as f:
            for line in f:
                case = json.loads(line)
                with self._changed:
                    self._judged.setdefault(case["case"], case["results"])
                    self._changed.notify_all()

    def _wait(self, process: "subprocess.Popen[str]", folder: "tempfile.TemporaryDirectory[str]", file: str) -> None:
        output, _ = process.communicate()
        report, error = None, None
        try:
            with folder, open(file, encoding="utf-8") as f:
                report = json.load(f)
        except OSError:
            error = output
        if process.returncode not in (0, 1) or (process.returncode == 1 and report and not _fails(report)):
            error = output[-4000:]  # such as a known failure that is stale
        with self._changed:
            self._report, self._error = report, error
            self._changed.notify_all()


def _fails(report: Dict[str, Any]) -> bool:
    return bool(_verdict(report["results"], ("fail", "flaky")).failures)


def _verdict(results: List[Dict[str, Any]], bad: Sequence[str]) -> Verdict:
    failures = [_describe(r) for r in results if r["verdict"] in bad and r["severity"] == "MUST" and "known" not in r]
    skipped = None
    if not failures and not any(r["verdict"] == "pass" for r in results):
        skipped = next((r.get("reason") or r["verdict"] for r in results if r["verdict"] != "not applicable"), "not applicable")
    return Verdict(failures, skipped)


def _describe(r: Dict[str, Any]) -> str:
    lines = ["{check}: {case} [{tier}]".format(**r)]
    for p in r.get("problems", []):
        fault = p["fault"]["operator"] + ": " if "fault" in p else ""
        lines.append("  " + fault + p["text"] + ("\n" + p["diff"] if "diff" in p else ""))
    return "\n".join([*lines, *(["  rerun: " + r["rerun"]] if "rerun" in r else [])])
