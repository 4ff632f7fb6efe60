/** The verdict on one check, over all cases. */
export interface Verdict {
  id: string;
  sentence: string;
  severity: "MUST" | "SHOULD";
  /** Each failure that is no known one, with its case and what differs. */
  failures: string[];
  /** Why there is neither a pass nor a failure. */
  skipped?: string;
}

export interface Options {
  runtime: string;
  /** The command that starts the adapter. */
  subject: string;
  /** The file of known failures. */
  known?: string;
  /** Further arguments of `turnspec run`, such as `["--case", "text/*"]`. */
  args?: string[];
  /** The program turnspec; default: the variable TURNSPEC, or `turnspec` in PATH. */
  program?: string;
}

/** Runs the suite. It throws if the suite could not run; `failed` is also true for a stale known failure. */
export function verdicts(options: Options): { failed: boolean; checks: Verdict[] };
