package requests

import (
	"slices"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures/refusal"
)

// reason is why the stand-in does not agree with a runtime in some changes.
type reason struct {
	runtime string // "": any
	fact    string // a glob
	change  refusal.Edit
	verdict Verdict
	check   string // that alone fails; "": any
	why     string
}

// Any change, in a reason.
const anyChange refusal.Edit = ""

var reasons = []reason{}

// Reason returns why the stand-in does not agree in a row; "": it agrees, or no reason is known.
func Reason(runtime string, r *Row) string {
	for _, x := range reasons {
		if (x.runtime == "" || x.runtime == runtime) && x.verdict == r.Verdict && (x.change == anyChange || x.change == r.Change) &&
			conformance.Match(x.fact, r.Fact) && (x.check == "" || slices.Equal(r.Seen, []string{x.check})) {
			return x.why
		}
	}
	return ""
}

// Unexplained returns in how many rows the stand-in does not agree, and no reason is known.
func Unexplained(rows []Row) int {
	n := 0
	for _, r := range rows {
		if r.Verdict != Agrees && r.Reason == "" {
			n++
		}
	}
	return n
}
