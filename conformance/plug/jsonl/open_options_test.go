package jsonl_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// openLine opens a session with a program that declares what can holds, and returns the line of
// the command open, or "" if none was written.
func openLine(t *testing.T, can string, o conformance.Open) (string, error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	script := `echo '{"hello":{"protocol":1,"can":[` + can + `]}}'
read open
echo '{"event":{"type":"session_ready","data":{"session_id":"s","runtime":"claude"}}}'
echo '{"reply":{"id":1}}'
read close
echo '{"event":{"type":"session_end","data":{"reason":"closed"}}}'
echo '{"reply":{"id":2}}'
`
	var mu sync.Mutex
	written := ""
	s := &jsonl.Subject{Program: plug.Program{Title: "x", Of: "claude", Command: []string{"sh", "-c", script}, Watch: func(in bool, line string) {
		mu.Lock()
		defer mu.Unlock()
		if in && strings.Contains(line, `"open"`) {
			written = line
		}
	}}}
	o.SessionID, o.Dir, o.Env = "s", t.TempDir(), os.Environ()
	x, err := s.Open(t.Context(), o)
	if err == nil {
		go func() {
			for range x.Events() {
			}
		}()
		if err := x.Close(context.Background()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	return written, err
}

// TestNoSettingSourcesAreNotTheDefault checks that an empty list of sources, which means none,
// reaches the program, and that a missing one, which means the runtime's default, does not.
func TestNoSettingSourcesAreNotTheDefault(t *testing.T) {
	for _, x := range []struct {
		sources []string
		want    string
	}{
		{nil, ""}, {[]string{}, `"setting_sources":[]`}, {[]string{"user"}, `"setting_sources":["user"]`},
	} {
		o := conformance.Open{}
		o.SettingSources = x.sources
		line, err := openLine(t, `"setting_sources"`, o)
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(line, "setting_sources"); has != (x.want != "") || !strings.Contains(line, x.want) {
			t.Errorf("%#v: %s", x.sources, line)
		}
		if _, err := openLine(t, "", o); errors.Is(err, adapters.ErrUnsupported) != (x.sources != nil) {
			t.Errorf("%#v, undeclared: %v", x.sources, err)
		}
	}
}

// TestOptionsNeedAbilities checks which abilities make a program get an option.
func TestOptionsNeedAbilities(t *testing.T) {
	for name, x := range map[string]struct {
		opening op.Opening
		can     string
		line    string // part of the line, or "" if the open is refused
	}{
		"input in pieces":           {op.Opening{StreamToolInput: true}, `"stream_tool_input"`, `"stream_tool_input":true`},
		"input in pieces, dropped":  {op.Opening{StreamToolInput: true}, ``, `"open"`},
		"a fork at a turn":          {op.Opening{Resume: "r", Fork: true, At: "t"}, `"fork"`, `"at":"t"`},
		"a fork without resume":     {op.Opening{Resume: "r", Fork: true}, `"resume"`, ``},
		"checkpoints":               {op.Opening{Checkpoints: true}, `"rewind"`, `"checkpoints":true`},
		"unarchive":                 {op.Opening{Resume: "r", Unarchive: true}, `"resume","archive"`, `"unarchive":true`},
		"unarchive without archive": {op.Opening{Resume: "r", Unarchive: true}, `"resume"`, ``},
		"other instructions":        {op.Opening{Instructions: "i", ReplaceInstructions: true}, `"instructions"`, `"replace_instructions":true`},
		"a mode and a model":        {op.Opening{Mode: "plan", Model: "m"}, ``, `"mode":"plan","model":"m"`},
	} {
		t.Run(name, func(t *testing.T) {
			line, err := openLine(t, x.can, conformance.Open{Opening: x.opening})
			if errors.Is(err, adapters.ErrUnsupported) != (x.line == "") || err != nil && x.line != "" || !strings.Contains(line, x.line) {
				t.Errorf("%s, %v", line, err)
			}
			if strings.Contains(line, "stream_tool_input") && x.can == "" {
				t.Errorf("the program gets an option that it does not declare: %s", line)
			}
		})
	}
}
