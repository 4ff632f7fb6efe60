package mapping

import (
	"slices"
	"strings"
)

// The checks that report the rules of the dialects.
const (
	checkForm  = "dialect.form"
	checkOrder = "dialect.order"
	checkIDs   = "dialect.ids"
	checkOnce  = "dialect.once"
	checkOpen  = "dialect.open"
)

// Checks lists the checks of the topic dialect.
func Checks() []string { return []string{checkForm, checkOrder, checkIDs, checkOnce, checkOpen} }

// rules are the rules of all dialects, by the check that reports them.
var rules = map[string]string{
	checkForm:  "not-json unknown-type missing-member wrong-member tool-arguments result-form state text-differs thinking-differs final-differs",
	checkOrder: "start-missing run-missing part-overlaps tool-order step-order tool-denied thinking-open sequence",
	checkIDs: "part-not-open thinking-not-open tool-unknown tool-renamed approval-unknown action-unknown agent-unknown agent-not-open run-other " +
		"owner",
	checkOnce: "start-twice run-twice run-again message-id-again part-again thinking-again tool-again tool-ended tool-result-twice approval-again " +
		"action-again action-resolved agent-again after-error after-abort run-ended response-ended text-after-final final-again",
	checkOpen: "part-open text-open tool-open agent-open action-open run-open response-open unfinished",
}

// CheckOf returns the check that reports a rule, or "".
func CheckOf(rule string) string {
	for _, check := range Checks() {
		if slices.Contains(strings.Fields(rules[check]), rule) {
			return check
		}
	}
	return ""
}
