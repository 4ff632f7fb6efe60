package runner_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// A resumed session may first answer what it has about a dead command. The conversation ends
// after the answer to its message, and each turn has one result.
func TestConversationWaitsForItsAnswer(t *testing.T) {
	const (
		initLine = `{"type":"system","subtype":"init","model":"m","permissionMode":"default"}`
		said     = `{"type":"assistant","message":{"id":%q,"content":[{"type":"text","text":%q}]},"parent_tool_use_id":null}`
		result   = `{"type":"result","subtype":"success","is_error":false,"result":%q,"num_turns":1,"terminal_reason":"completed","uuid":%q%s}`
	)
	for _, lifecycles := range []bool{true, false} {
		t.Run(fmt.Sprintf("lifecycles %v", lifecycles), func(t *testing.T) {
			g := gomega.NewWithT(t)
			var c conversation
			synctest.Test(t, func(*testing.T) {
				p := fakeproc.New()
				go func() {
					p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"claude_code_version":"2.1.329"}}}`, memberOf(p, "initialize", "request_id")))
					u := memberOf(p, `"type":"user"`, "uuid")
					lifecycle := func(state string) {
						if lifecycles {
							p.Print(fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, u, state))
						}
					}
					lifecycle("queued")
					p.Print(`{"type":"system","subtype":"task_notification","task_id":"b1","status":"stopped","summary":"no record"}`, initLine,
						fmt.Sprintf(said, "n", "It stopped."), fmt.Sprintf(result, "It stopped.", "r1", `,"origin":{"kind":"task-notification"}`))
					lifecycle("started")
					p.Print(initLine, fmt.Sprintf(said, "a", "The answer."), fmt.Sprintf(result, "The answer.", "r2", ""))
					lifecycle("completed")
					_, _ = io.Copy(io.Discard, p.In)
					p.Exit(proc.Exit{})
				}()
				c = play(runner.Config{Adapter: claude.New(), ConversationID: "c1", Options: adapters.Options{Opening: op.Opening{SessionID: "s1", Dir: "/w"}, Launch: p}},
					on(map[string][]string{"ready": {send("m1", "hello"), "EOF"}}))
			})
			g.Expect(c.err).NotTo(gomega.HaveOccurred())
			g.Expect(c.text()).To(gomega.Equal("It stopped.The answer."))
			g.Expect(strings.Count(c.types(), " result")).To(gomega.Equal(2))
			g.Expect(c.first("shutdown").Reason).To(gomega.Equal("the conversation is complete"))
		})
	}
}

// memberOf returns a member, which is a string, of the next line of the client that contains a text.
func memberOf(p *fakeproc.Process, text, name string) string {
	for {
		line, err := p.In.ReadString('\n')
		if err != nil {
			return ""
		}
		if strings.Contains(line, text) {
			_, rest, _ := strings.Cut(line, fmt.Sprintf("%q:\"", name))
			value, _, _ := strings.Cut(rest, `"`)
			return value
		}
	}
}
