package standin_test

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// A reply in the form of another request decides nothing, whatever it holds.
func TestReplyOfAnotherFormIsAViolation(t *testing.T) {
	for id, x := range map[string]struct{ was, reply, want string }{
		codexAllow:                         {`"decision":"accept"`, `{"id":0,"result":{"action":"accept"}}`, "the reply to item/commandExecution/requestApproval has no decision"},
		"codex/newest/mcp/allowed":         {`"action":"accept"`, `{"id":0,"result":{"decision":"accept"}}`, "the reply to mcpServer/elicitation/request has no action"},
		"codex/newest/client/tool-fails":   {`"success":false`, `{"id":0,"result":{"contentItems":[]}}`, "the reply to item/tool/call has no success"},
		"codex/newest/client/tool-is-slow": {`"contentItems"`, `{"id":0,"error":{"message":"no"}}`, "not of this wire"},
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		e.instead = func(w *fixtures.WireLine) []string {
			if s := string(w.Bytes); !strings.Contains(s, x.was) {
				return []string{s}
			}
			return []string{x.reply}
		}
		_ = e.perform(c) // what is not understood leaves the runtime waiting
		g.Expect(p.Violations()).To(gomega.ContainElement(gomega.ContainSubstring(x.want)), id)
	}
}
