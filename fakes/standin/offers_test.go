package standin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/fixtures"
)

// TestUnofferedIsAViolation plays requests that the runtime makes of a client which has offered a tool,
// a server of tools or to answer questions, with a client that has offered nothing.
func TestUnofferedIsAViolation(t *testing.T) {
	for _, x := range []struct{ id, offer, without, why string }{
		{"codex/newest/component/unregistered-surface", `"dynamicTools":[`, `"dynamicTools":[],"x":[`, "item/tool/call needs the tool show_component"},
		{"claude/newest/component/unregistered-surface", `"sdkMcpServers":["client"]`, `"sdkMcpServers":[]`, "mcp_message needs the server client"},
		{"claude/newest/permission/allow", "--permission-prompt-tool", "--verbose", "can_use_tool needs --permission-prompt-tool"},
	} {
		for _, offers := range []bool{true, false} {
			c, p, e := playOf(t, fixtures.Embedded().Resolve(x.id))
			change := func(text string) string {
				if offers {
					return text
				}
				return strings.Replace(text, x.offer, x.without, 1)
			}
			argv := slices.Clone(c.Wire[0].Argv)
			for i := range argv {
				argv[i] = change(argv[i])
			}
			if err := e.spawn(argv); err != nil {
				t.Fatal(err)
			}
			for _, w := range acts(c) {
				e.steps()
				e.write(t, change(string(w.Bytes)))
			}
			e.steps()
			found := slices.ContainsFunc(p.Violations(), func(v string) bool { return strings.Contains(v, x.why) })
			if found == offers {
				t.Errorf("%s, offered %t: violations %q", x.id, offers, p.Violations())
			}
		}
	}
}
