// Runs turnspec and returns its verdicts, for a test that shows each check as a test case.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function verdicts({ runtime, subject, known, args = [], program = process.env.TURNSPEC ?? "turnspec" }) {
  const dir = mkdtempSync(join(tmpdir(), "turnspec-"));
  try {
    const file = join(dir, "report.json");
    const argv = ["run", "--runtime", runtime, "--subject", subject, "--report", `json=${file}`, ...(known ? ["--known", known] : []), ...args];
    const run = spawnSync(program, argv, { encoding: "utf8", maxBuffer: 1 << 30, shell: process.platform === "win32" });
    if (run.error) throw new Error(`${program} cannot be started (npm install --save-dev turnspec): ${run.error.message}`);
    if (run.status > 1) throw new Error(run.stderr || run.stdout);
    return summarize(JSON.parse(readFileSync(file, "utf8")), run.status);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function summarize(report, status) {
  const checks = report.checks.map(({ id, sentence, severity }) => {
    const results = report.results.filter((r) => r.check === id);
    const failures = results.filter((r) => r.verdict === "fail" && !r.known && severity === r.severity).map(describe);
    const skipped = results.some((r) => r.verdict === "pass") ? undefined : results.find((r) => r.verdict !== "not applicable")?.reason ?? "not applicable";
    return { id, sentence, severity, failures, ...(failures.length || !skipped ? {} : { skipped }) };
  });
  return { failed: status !== 0, checks };
}

const describe = (r) =>
  [`${r.case} [${r.tier}]`, ...(r.problems ?? []).map((p) => `  ${p.fault ? `${p.fault.operator}: ` : ""}${p.text}${p.diff ? `\n${p.diff}` : ""}`),
    `  rerun: turnspec run --case ${r.case} --check ${r.check} …`].join("\n");
