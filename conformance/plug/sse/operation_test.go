package sse_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
)

// operationCases are cases whose client runs an operation, by the operation.
var operationCases = map[*op.Op]string{
	op.SetMode:  "claude/newest/mode/changed-between-turns",
	op.Withdraw: "claude/newest/queue/withdrawn",
	op.StopAll:  "claude/newest/queue/all-taken-back-by-a-stop",
	op.Compact:  "claude/newest/compaction/by-hand",
	op.Rewind:   "claude/newest/history/rewind-files",
	op.StopTask: "claude/newest/background/stopped-by-the-user",
	op.Revert:   "codex/newest/history/revert-the-last-turn",
	op.SetModel: "codex/newest/mode/model-changed-between-turns",
	op.Archive:  "codex/newest/session/archive-and-take-back",
	op.Rename:   "codex/newest/session/named",
	op.Steer:    "codex/newest/turn/steer",
	op.List:     "codex/newest/list/models",
}

// messageCases are cases whose messages have attachments or a priority, or whose MCP server asks the user.
var messageCases = []string{
	"claude/newest/image/document-sent-with-a-message", "claude/newest/queue/later-during-a-tool", "codex/newest/mcp/asks-and-is-accepted",
}

// TestOperationsReachTheSidecar performs the cases on the server of this module.
func TestOperationsReachTheSidecar(t *testing.T) {
	t.Parallel()
	cases := slices.Clone(messageCases)
	for _, o := range op.All() {
		NewWithT(t).Expect(operationCases).To(HaveKey(o), "no case asks for %s", o.Name)
		cases = append(cases, operationCases[o])
	}
	for _, runtime := range []string{"claude", "codex"} {
		own := slices.DeleteFunc(slices.Clone(cases), func(id string) bool { return !strings.HasPrefix(id, runtime) })
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			rep := report(t, of(t, "served "+runtime, runtime), noFaults, own...)
			failed, passed := verdicts(rep)
			g.Expect(failed).To(BeEmpty())
			g.Expect(inexpressible(rep)).To(BeEmpty())
			g.Expect(passed).To(HaveKeyWithValue("session.call-results", len(own)))
		})
	}
}

// TestOperationsThatAreNotDeclared performs two of the cases on a small server that declares no operation, and
// on one that declares one and refuses it.
func TestOperationsThatAreNotDeclared(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	rep := report(t, of(t, "whole", "claude"), noFaults, operationCases[op.Withdraw], operationCases[op.Rewind])
	failed, _ := verdicts(rep)
	g.Expect(failed).To(BeEmpty())
	g.Expect(inexpressible(rep)).To(ConsistOf(ContainSubstring(`does not list "withdraw" in can`), ContainSubstring(`does not list "rewind" in can`)))

	failed, _ = judged(t, of(t, "refuses what it declares", "claude"), noFaults, operationCases[op.Compact])
	g.Expect(failed).To(HaveKeyWithValue("session.capabilities", ContainElement(ContainSubstring("declares that it can do this"))))
}

// TestIgnoredOperation performs a case on a server that answers an operation and does nothing.
func TestIgnoredOperation(t *testing.T) {
	t.Parallel()
	failed, _ := judged(t, of(t, "ignores operations", "claude"), onceOnly, "claude/newest/session/named")
	NewWithT(t).Expect(failed).To(HaveKey("text.once"), "the runtime waits for the name, and says no more")
}

// answersToOperations are servers that run no operation, with the status of their answers.
var answersToOperations = map[string]int{"refuses what it declares": http.StatusNotImplemented, "ignores operations": http.StatusAccepted}

// answerOperations answers the route do in place of the server.
func answerOperations(status int) func(http.Handler) http.Handler {
	return func(served http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/do") {
				w.WriteHeader(status)
				return
			}
			served.ServeHTTP(w, r)
		})
	}
}

// inexpressible returns the reasons for which cases could not be performed.
func inexpressible(rep *conformance.Report) (reasons []string) {
	for _, r := range rep.Results {
		if r.Verdict == conformance.NotExpressible && !slices.Contains(reasons, r.Reason) {
			reasons = append(reasons, r.Reason)
		}
	}
	return reasons
}
