package replay

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

func renderText(t *testing.T, c *Chat, o RenderOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sampleChat() *Chat {
	code := 2
	return Reduce(numbered(
		inTurn(0, event.SessionReady{Runtime: "codex"}),
		event.UserMessage{MessageID: "m1", Text: "Clean up,\nplease.", Via: "turn", Attachments: []event.Attachment{{Kind: "image", Name: "a.png"}}},
		thinking("h", "First I look\nat it.", true),
		delta("a", "I will look.\n"), blockEnd("a", event.BlockComplete),
		event.ToolStart{ToolUseID: "t", Tool: "Bash", Command: "ls\n  -l"}, toolOK("t", "one\ntwo\n"),
		event.ToolStart{ToolUseID: "u", Tool: "Bash", Command: "rm -r build"},
		event.PermissionRequest{RequestID: "r", ToolUseID: "u", ToolName: "Bash", ToolInput: event.Raw(`{"command":"rm -r build"}`)},
		event.PermissionResolved{RequestID: "r", ToolName: "Bash", Decision: "deny", By: "user"},
		event.ToolResult{ToolUseID: "u", IsError: true, Status: "denied", Output: "\x1b[31mno"},
		event.ToolStart{ToolUseID: "v", Tool: "Task", SubagentSpawn: true, SubagentName: "counter"},
		fromAgent("v", delta("a", "I count.")), fromAgent("v", bashStart("t")), fromAgent("v", event.ToolResult{ToolUseID: "t", Status: "error", ExitCode: &code}),
		toolOK("v", "3"),
		event.Plan{Steps: []event.PlanStep{{Text: "look", Status: "completed"}, {Text: "clean", Status: "in_progress"}, {Text: "rest", Status: "pending"}}},
		event.Interrupt{InterruptID: "i", ComponentName: "Ask", Props: event.Raw(`{"q":"sure?"}`)},
		event.InterruptResolved{InterruptID: "i", Value: event.Raw(`"yes"`), By: "user"},
		event.Notice{Level: "warning", Code: "retry", Text: "again in 1s"},
		delta("b", "\nThen I leave it, and"),
		event.Done{Stopped: true},
		inTurn(2, delta("c", "x")), inTurn(2, event.Error{Code: "network", Message: "down"}),
		inTurn(0, event.SessionEnd{Reason: "closed"}),
	))
}

func TestRender(t *testing.T) {
	want := `> Clean up,
> please.

[attachment image: a.png]
[thinking: First I look at it.]

I will look.

[tool Bash: ls -l → ok]
[tool Bash: rm -r build → denied]
[permission Bash: {"command":"rm -r build"} → denied by user]
[tool Task: counter → ok]
[subagent counter → complete]

    I count.

    [tool Bash: echo one → failed (exit 2)]
[plan]
  [x] look
  [>] clean
  [ ] rest
[question Ask: {"q":"sure?"} → answered by user: "yes"]
[warning retry: again in 1s]

Then I leave it, and

[interrupted]
[stopped]

x

[interrupted]
[failed: network: down]
[session ended: closed]
`
	if got := renderText(t, sampleChat(), RenderOptions{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestRenderOptions(t *testing.T) {
	g := NewWithT(t)
	full := renderText(t, sampleChat(), RenderOptions{Thinking: true, Output: true})
	g.Expect(full).To(ContainSubstring("~ First I look\n~ at it.\n"))
	g.Expect(full).To(ContainSubstring("→ ok]\n  | one\n  | two\n"))
	g.Expect(full).To(ContainSubstring("  | ␛[31mno\n"), "a tool's output commands no terminal")
	g.Expect(full).NotTo(ContainSubstring("\x1b"))
	colored := renderText(t, sampleChat(), RenderOptions{Color: true})
	g.Expect(colored).To(ContainSubstring("\x1b[1m> Clean up,\x1b[0m\n"))
	plain := colored
	for _, c := range []string{"0", bold, dim, red, yellow, cyan} {
		plain = strings.ReplaceAll(plain, "\x1b["+c+"m", "")
	}
	g.Expect(plain).To(Equal(renderText(t, sampleChat(), RenderOptions{})), "colour changes no word")
}

func TestRenderColoursOfCalls(t *testing.T) {
	for status, color := range map[event.ToolStatus]string{
		event.ToolOK: cyan, event.ToolBackgrounded: cyan, event.ToolError: red, event.ToolDenied: red, event.ToolInterrupted: red,
	} {
		c := Reduce(numbered(bashStart("t"), event.ToolResult{ToolUseID: "t", Status: status}))
		NewWithT(t).Expect(renderText(t, c, RenderOptions{Color: true})).To(ContainSubstring("\x1b["+color+"m[tool Bash"), "a call that is "+string(status))
	}
}

func TestRenderStates(t *testing.T) {
	g := NewWithT(t)
	g.Expect(renderText(t, New().Chat(), RenderOptions{})).To(BeEmpty())
	g.Expect(renderText(t, Reduce(numbered(thinking("", "", false))), RenderOptions{})).To(Equal("[thinking …]\n"))
	g.Expect(renderText(t, Reduce(numbered(event.PermissionRequest{RequestID: "r", ToolName: "Bash"})), RenderOptions{})).
		To(Equal("[permission Bash → pending]\n[waiting for the user]\n"))
	g.Expect(renderText(t, Reduce(numbered(inTurn(0, event.Queue{MessageIDs: []string{"m1", "m2"}}))), RenderOptions{})).To(Equal("[waiting: m1, m2]\n"))
	long := renderText(t, Reduce(numbered(thinking("h", strings.Repeat("é ", 10_000), true))), RenderOptions{})
	g.Expect(len([]rune(long))).To(BeNumerically("<", 150))
	g.Expect(long).NotTo(ContainSubstring("\ufffd"))
	g.Expect(sampleChat().Render(failingWriter{}, RenderOptions{})).To(MatchError("full"))
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("full") }
