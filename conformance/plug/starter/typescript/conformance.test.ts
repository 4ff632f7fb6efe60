// Shows each check of turnspec as a test: npx vitest run conformance
import { fileURLToPath } from "node:url";
import { verdicts } from "@turnspec/plug/suite";
import { expect, test } from "vitest";

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const all = verdicts({
  runtime: "{{runtime}}",
  subject: `node '${file("plug.ts")}'`,
  known: file("known-failures.txt"),
});

for (const { id, sentence, failures, skipped } of all) {
  test.skipIf(skipped)(`${id}: ${sentence}`, () => expect(failures).toEqual([]));
}
