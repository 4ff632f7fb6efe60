// Runs turnspec in the background and returns its verdicts as they come, for a test that shows each case and each check as a test case.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export function start({ runtime, subject, known, args = [], program = process.env.TURNSPEC ?? "turnspec" }) {
  const more = process.env.TURNSPEC_ARGS?.split(" ").filter(Boolean) ?? [];
  const argv = ["run", "--full", "--runtime", runtime, "--subject", subject, ...(known ? ["--known", known] : []), ...args, ...more];
  const list = spawnSync(program, [...argv, "--list", "--json"], { encoding: "utf8", maxBuffer: 1 << 28 });
  if (list.error) throw new Error(`${program} cannot be started (npm install --save-dev turnspec): ${list.error.message}`);
  if (list.status !== 0) throw new Error(list.stderr);
  const { cases, checks } = JSON.parse(list.stdout);
  const judged = new Map(cases.map((id) => [id, promise()]));
  let report; // of the whole run, once it was begun
  let failed = false;

  const begin = () => (report ??= run(program, argv, (line) => judged.get(line.case)?.resolve(line.results)).finally(() => {
    for (const { resolve } of judged.values()) resolve(undefined); // those that were not judged
  }));

  // Each test would show the same error: the first one shows it.
  const ended = () => begin().catch((error) => {
    if (failed) throw new Error("the suite could not run: the first error says why");
    failed = true;
    throw error;
  });

  return {
    cases,
    checks,
    async case(id) {
      begin().catch(() => {}); // ended throws it
      return verdict((await judged.get(id)?.promise) ?? ((await ended()), []), ["fail"]);
    },
    async check(id) {
      const { results, selection } = await ended();
      return verdict(results.filter((r) => r.check === id), selection.fail_on_flaky ? ["fail", "flaky"] : ["fail"]);
    },
  };
}

function promise() {
  let resolve;
  const promise = new Promise((r) => (resolve = r));
  return { promise, resolve };
}

// run runs the suite, calls onCase with each line of --stream, and returns the report.
async function run(program, argv, onCase) {
  const dir = mkdtempSync(join(tmpdir(), "turnspec-"));
  try {
    const file = join(dir, "report.json");
    const child = spawn(program, [...argv, "--report", `json=${file}`, "--stream", "/dev/fd/3"], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
    const kill = () => child.kill();
    process.once("exit", kill);
    let output = "";
    for (const pipe of [child.stdout, child.stderr]) pipe.setEncoding("utf8").on("data", (text) => (output += text));
    createInterface({ input: child.stdio[3] }).on("line", (line) => onCase(JSON.parse(line)));
    const status = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
    process.off("exit", kill);
    if (status !== 0 && status !== 1) throw new Error(output);
    const report = JSON.parse(readFileSync(file, "utf8"));
    // Such as a known failure that is stale.
    if (status === 1 && !verdict(report.results, ["fail", "flaky"]).failures.length) throw new Error(output.slice(-4000));
    return report;
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function verdict(results, bad) {
  const failures = results.filter((r) => bad.includes(r.verdict) && r.severity === "MUST" && !r.known).map(describe);
  if (failures.length || results.some((r) => r.verdict === "pass")) return { failures };
  const other = results.find((r) => r.verdict !== "not applicable");
  return { failures, skipped: other?.reason ?? other?.verdict ?? "not applicable" };
}

const describe = (r) =>
  [`${r.check}: ${r.case} [${r.tier}]`, ...(r.problems ?? []).map((p) => `  ${p.fault ? `${p.fault.operator}: ` : ""}${p.text}${p.diff ? `\n${p.diff}` : ""}`),
    ...(r.rerun ? [`  rerun: ${r.rerun}`] : [])].join("\n");
