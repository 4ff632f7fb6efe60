package mapping

import (
	"slices"
	"strings"
)

// The checks that report the rules of the dialects.
const (
	checkForm   = "dialect.form"
	checkOrder  = "dialect.order"
	checkIDs    = "dialect.ids"
	checkOnce   = "dialect.once"
	checkOpen   = "dialect.open"
	checkAdvice = "dialect.advice"
)

// Checks lists the checks of the topic dialect.
func Checks() []string {
	return []string{checkForm, checkOrder, checkIDs, checkOnce, checkOpen, checkAdvice}
}

// rules are the rules of all dialects, by the check that reports them.
var rules = map[string]string{
	checkForm:  "not-json unknown-type unknown-member unknown-value missing-member wrong-member interrupt-missing usage activity-content tool-arguments result-form text-differs thinking-differs final-differs",
	checkOrder: "start-missing run-missing chunk-incomplete chunk-ambiguous agent-late part-overlaps tool-order step-order tool-denied thinking-open sequence",
	checkIDs: "part-not-open thinking-not-open tool-unknown tool-renamed approval-unknown action-unknown agent-unknown agent-not-open run-other " +
		"owner tool-pending tool-frontend part-differs",
	checkOnce: "start-twice interrupt-again run-twice run-again message-id-again part-again thinking-again tool-again tool-ended tool-result-twice approval-again " +
		"action-again action-resolved agent-again after-error after-abort run-ended response-ended text-after-final final-again",
	checkOpen:   "part-open text-open tool-open agent-open action-open run-open response-open unfinished",
	checkAdvice: "version empty-id cancelled-result agent-ended entity-unknown activity-unknown state",
}

// Check returns the check that reports the problem, or "".
func (p Problem) Check() string {
	if p.Advice {
		return checkAdvice
	}
	return CheckOf(p.Rule)
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
