// Runs turnspec and returns its verdicts, for a test that shows each check as a test case.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function verdicts({ runtime, subject, known, args = [], program = process.env.TURNSPEC ?? "turnspec" }) {
  const dir = mkdtempSync(join(tmpdir(), "turnspec-"));
  try {
    const file = join(dir, "report.json");
    const more = process.env.TURNSPEC_ARGS?.split(" ").filter(Boolean) ?? [];
    const argv = ["run", "--full", "--runtime", runtime, "--subject", subject, "--report", `json=${file}`, ...(known ? ["--known", known] : []), ...args, ...more];
    const run = spawnSync(program, argv, { encoding: "utf8", maxBuffer: 1 << 30 });
    if (run.error) throw new Error(`${program} cannot be started (npm install --save-dev turnspec): ${run.error.message}`);
    if (run.status !== 0 && run.status !== 1) throw new Error(run.stderr || run.stdout);
    const { checks, results, selection } = JSON.parse(readFileSync(file, "utf8"));
    const bad = selection.fail_on_flaky ? ["fail", "flaky"] : ["fail"];
    const all = checks.map((check) => verdict(check, results.filter((r) => r.check === check.id), bad));
    // Such as a known failure that is stale.
    if (run.status === 1 && !all.some((v) => v.failures.length)) throw new Error(run.stdout.slice(-4000));
    return all;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function verdict({ id, sentence }, results, bad) {
  const failures = results.filter((r) => bad.includes(r.verdict) && r.severity === "MUST" && !r.known).map(describe);
  if (failures.length || results.some((r) => r.verdict === "pass")) return { id, sentence, failures };
  return { id, sentence, failures, skipped: results.find((r) => r.verdict !== "not applicable")?.reason ?? "not applicable" };
}

const describe = (r) =>
  [`${r.case} [${r.tier}]`, ...(r.problems ?? []).map((p) => `  ${p.fault ? `${p.fault.operator}: ` : ""}${p.text}${p.diff ? `\n${p.diff}` : ""}`),
    ...(r.rerun ? [`  rerun: ${r.rerun}`] : [])].join("\n");
