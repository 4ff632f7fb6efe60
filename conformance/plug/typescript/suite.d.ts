/** The verdict on one check, over all cases. */
export interface Verdict {
  id: string;
  sentence: string;
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

/**
 * Runs the suite and returns a verdict for each check. It throws if the suite could not run, or if a known failure is stale. The
 * variable TURNSPEC_ARGS adds arguments: `TURNSPEC_ARGS='--case text/*' npx vitest run`.
 */
export function verdicts(options: Options): Verdict[];
