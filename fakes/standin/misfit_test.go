package standin_test

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// A stand-in refuses a line with the code that the agent was seen to use.
func TestMisfitGetsTheReplyOfTheRuntime(t *testing.T) {
	for _, x := range []struct{ version, line, reply, why string }{
		{"codex-acp-2.6.0", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"`, "protocolVersion is missing"},
		{"codex-acp-2.6.0", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"`, `protocolVersion is "1"`},
		{"codex-acp-2.6.0", `{"id":1,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request"`, "jsonrpc is missing"},
		{"claude-agent-acp-0.49.0", `{"jsonrpc":"2.0","id":1,"method":"weather"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"\"Method not found\": weather"`, "there is no such method"},
		{"claude-agent-acp-0.49.0", `{"jsonrpc":"2.0","id":1,"method":"session/cancel","params":{"sessionId":"x"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"\"Method not found\": session/cancel"`, "a notification has no id"},
		{"opencode-1.18.33", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":7}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params"`, "clientInfo is 7, not Implementation | null"},
	} {
		g := gomega.NewWithT(t)
		c := load(t, "acp/"+x.version+"/text/plain")
		replies, err := fixtures.Embedded().LoadReadReplies(c.Runtime, c.Version)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, ReadReplies: replies})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		e := newEchoClient(p)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		e.write(t, x.line)
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		e.read.Wait()
		g.Expect(e.out[1].String()).To(gomega.HavePrefix(x.reply))
		g.Expect(p.Violations()).To(gomega.HaveLen(1))
		g.Expect(p.Violations()[0]).To(gomega.And(gomega.ContainSubstring(x.why), gomega.ContainSubstring("turnspec census acp@"+x.version+" --scenario text/plain --fact '")))
		p.Close()
	}
}

// A request of a method that the version does not have gets the error that was recorded of it. It is
// a violation if the vendor publishes the methods that there are.
func TestUnknownMethodGetsTheReplyOfTheRuntime(t *testing.T) {
	for _, x := range []struct {
		id, line, reply        string
		violations, unrecorded int
	}{
		{"claude/newest/text/plain", `{"type":"control_request","request_id":"7","request":{"subtype":"weather"}}`, `"request_id":"7","error":"Unsupported control request subtype: weather","error_code":"unsupported_request"`, 0, 1},
		{"pi/newest/text/plain", `{"id":"7","type":"weather"}`, `"error":"Unknown command: weather"`, 1, 0},
		{"pi/newest/text/plain", `{"id":"7","type":"export_html"}`, `"error":"the recording does not hold this: read (export_html)"`, 0, 1},
	} {
		g := gomega.NewWithT(t)
		c := load(t, fixtures.Embedded().Resolve(x.id))
		replies, err := fixtures.Embedded().LoadReadReplies(c.Runtime, c.Version)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, ReadReplies: replies})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		e := newEchoClient(p)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		e.write(t, x.line)
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		e.read.Wait()
		g.Expect(e.out[1].String()).To(gomega.ContainSubstring(x.reply))
		g.Expect(p.Violations()).To(gomega.HaveLen(x.violations), "%v", p.Violations())
		g.Expect(p.Unrecorded()).To(gomega.HaveLen(x.unrecorded), "%v", p.Unrecorded())
		p.Close()
	}
}
