/** The verdict on one case, over all checks, or on one check, over all cases. */
export interface Verdict {
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

/** A run of the suite. It begins when the first verdict is asked for. A verdict rejects if the suite cannot run. */
export interface Run {
  /** In the order in which they begin. */
  cases: string[];
  checks: { id: string; sentence: string }[];
  /** Waits until a case is judged without faults. */
  case(id: string): Promise<Verdict>;
  /** Waits until the run has ended. It rejects if a known failure is stale. */
  check(id: string): Promise<Verdict>;
}

/**
 * Lists the cases and checks of a run. The variable TURNSPEC_ARGS adds arguments: `TURNSPEC_ARGS='--case text/*' npx vitest run`.
 */
export function start(options: Options): Run;
