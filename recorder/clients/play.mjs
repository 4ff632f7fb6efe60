// What the drivers share: the plan that they were told, and how they tell what
// their client saw. A driver prints one JSON object a line: an act that it did
// ({"act":…}) or something that its client said, unchanged.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));

export const tell = (what) => process.stdout.write(JSON.stringify(what) + "\n");

// Something that happens and that an act waits for. Every look at a condition is
// taken when something has happened; only a file announces nothing.
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

// perform does the acts of the plan, one after the other. do has a function for
// each verb that the client can express.
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
