// What the drivers share: reading the plan and printing the output of the client. A
// driver prints one JSON object a line: a step that it ran ({"act":…}) or an output
// of its client, unchanged.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));

export const tell = (what) => process.stdout.write(JSON.stringify(what) + "\n");

// An event that a step waits for. A condition is checked after each event; only files
// are polled.
export class Seen {
  #wake = [];
  changed() {
    const wake = this.#wake;
    this.#wake = [];
    for (const f of wake) f();
  }
  async until(what, cond) {
    const limit = setTimeout(() => {
      tell({ stuck: what });
      process.exit(3);
    }, 20_000);
    while (!cond()) await new Promise((go) => this.#wake.push(go));
    clearTimeout(limit);
  }
  async file(name) {
    const look = setInterval(() => this.changed(), 5);
    await this.until("file " + name, () => existsSync(join(plan.work, name)));
    clearInterval(look);
  }
}

// perform runs the steps of the plan. do has a function for each verb that the client
// supports.
export async function perform(does) {
  for (const act of plan.acts) {
    tell({ act });
    if (act.do === "write") {
      writeFileSync(join(plan.work, act.name), act.text);
      continue;
    }
    if (!does[act.do]) throw new Error("this client cannot " + act.do);
    await does[act.do](act);
  }
}
