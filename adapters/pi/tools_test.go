package pi

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/event"
)

// call returns the lines of a call of a tool about a file.
func call(id, tool, path string, failed bool) []string {
	return []string{
		fmt.Sprintf(`{"type":"tool_execution_start","toolCallId":%q,"toolName":%q,"args":{"path":%q,"content":"new\n"}}`, id, tool, path),
		fmt.Sprintf(`{"type":"tool_execution_end","toolCallId":%q,"toolName":%q,"result":{"content":[{"type":"text","text":"done"}]},"isError":%t}`, id, tool, failed),
	}
}

// The runtime does not state whether a written file was there before. The session may.
func TestWriteOfAFileThatTheSessionHasSeenIsAnUpdate(t *testing.T) {
	g := NewWithT(t)
	var got []event.FileChange
	n := New().Transcribe("s1", func(e event.Event) {
		if d, ok := e.Data.(event.ToolResult); ok {
			got = append(got, d.Changes...)
		}
	})
	lines := []string{start}
	lines = append(lines, call("1", "write", "/w/a", false)...)
	lines = append(lines, call("2", "write", "/w/a", false)...)
	lines = append(lines, call("3", "read", "/w/b", false)...)
	lines = append(lines, call("4", "write", "/w/b", false)...)
	lines = append(lines, call("5", "read", "/w/c", true)...)
	lines = append(lines, call("6", "write", "/w/c", false)...)
	for _, l := range lines {
		n.Line(time.Time{}, []byte(l))
	}
	g.Expect(got).To(Equal([]event.FileChange{
		{Path: "/w/a", Kind: event.ChangeAdd, Diff: "new\n"}, {Path: "/w/a", Kind: event.ChangeUpdate, Diff: "+new\n"},
		{Path: "/w/b", Kind: event.ChangeUpdate, Diff: "+new\n"}, {Path: "/w/c", Kind: event.ChangeAdd, Diff: "new\n"},
	}))
}
