package jsonl

import (
	"testing"

	"github.com/onsi/gomega"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// TestNoReply checks that the error names the call that hangs, and the one before it.
func TestNoReply(t *testing.T) {
	g := gomega.NewWithT(t)
	newSession := func() *session {
		return &session{Session: plug.NewSession(&plug.Program{}, conformance.Open{}), calls: map[int]*call{}}
	}
	x := newSession()
	g.Expect(x.noReply(&openCommand{ID: 1})).To(gomega.MatchError(gomega.And(
		gomega.ContainSubstring("no reply to call 1 (open) within 20s\n"), gomega.ContainSubstring(`write {"reply":{"id":1}} when`))))

	x = newSession()
	x.calls[2] = &call{line: &command{ID: 2, Call: op.Call{Do: "send", MessageID: "m0"}}, result: make(chan error, 1)}
	g.Expect(x.handleReply(&reply{ID: 2, Error: &replyError{Code: "refused"}})).To(gomega.BeNil())
	g.Expect(x.noReply(&command{ID: 3, Call: op.Call{Do: "send", MessageID: "m1"}})).To(gomega.MatchError(gomega.And(
		gomega.ContainSubstring("no reply to call 3 (send m1) within 20s; the last reply: call 2 (send m0) got the error refused\n"),
		gomega.ContainSubstring(`the line {"id":3,"do":"send", …} of this protocol`))))
}

// TestTooLong checks that the error of a line that is too long states the limit, and
// gives no advice about the members of a line.
func TestTooLong(t *testing.T) {
	g := gomega.NewWithT(t)
	e := (&session{lines: 10}).badLine([]byte(`{"event":`), linereader.ErrTooLong)
	g.Expect(e).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("line 10 of stdout is longer than 16777216 bytes"), gomega.Not(gomega.ContainSubstring("one member")))))
}
