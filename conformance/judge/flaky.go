package judge

import "github.com/turnspec/turnspec/conformance"

// SecondTry returns failed, with the verdict flaky if the same check gave another
// verdict in a second try. Its problems and runs stay those of the first.
func SecondTry(failed, again conformance.Result) conformance.Result {
	if again.Verdict.Bad() {
		return failed
	}
	failed.Verdict, failed.Reason = conformance.Flaky, "it failed in the first of two tries; the second: "+string(again.Verdict)
	if again.Reason != "" {
		failed.Reason += ": " + again.Reason
	}
	return failed
}
