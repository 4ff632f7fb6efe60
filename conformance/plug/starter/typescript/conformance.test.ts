// Shows each case and each check of turnspec as a test: npx vitest run conformance
import { fileURLToPath } from "node:url";
import { start, type Verdict } from "@turnspec/plug/suite";
import { describe, expect, test, type TestContext } from "vitest";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const run = start({
  runtime: "{{runtime}}",
  subject: `node '${file("plug.ts")}'`,
  known: file("known-failures.txt"),
});

const noLimit = 0; // of time: turnspec has limits

function demand(context: TestContext, { failures, skipped }: Verdict) {
  if (skipped) context.skip(skipped);
  expect(failures).toEqual([]);
}

// Each ends as soon as the case was tried without faults.
describe("cases", () => {
  for (const id of run.cases) {
    test(id, async (context) => demand(context, await run.case(id)), noLimit);
  }
});

// Each is about all cases, with faults too, so it ends with the run.
describe("checks", () => {
  for (const { id, sentence } of run.checks) {
    test(`${id}: ${sentence}`, async (context) => demand(context, await run.check(id)), noLimit);
  }
});
