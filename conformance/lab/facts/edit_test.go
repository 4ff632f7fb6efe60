package facts

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// editing returns an editor of one fact.
func editing(fact string, edit Edit) *Editor {
	return &Editor{Each: func(f string, _ any) Edit {
		if f == fact {
			return edit
		}
		return Edit{}
	}}
}

func TestArguments(t *testing.T) {
	given := []string{"--config", "model"}
	argv := strings.Fields("x exec --config model --json -c effort=high -c servers.a={} --cd /work -")
	for _, c := range []struct {
		fact string
		edit Edit
		want string
	}{
		{"argv --json", Edit{Do: Drop}, "x exec --config model -c effort=high -c servers.a={} --cd /work -"},
		{"argv -c effort", Edit{Do: Drop}, "x exec --config model --json -c servers.a={} --cd /work -"},
		{"argv -c servers", Edit{Do: Replace, With: "y"}, "x exec --config model --json -c effort=high -c y --cd /work -"},
		{"argv --config", Edit{Do: Drop}, strings.Join(argv, " ")}, // the harness gave it
		{"argv --json", Edit{Do: Replace, With: "y"}, strings.Join(argv, " ")},
	} {
		if got := strings.Join(editing(c.fact, c.edit).argv(given, argv), " "); got != c.want {
			t.Errorf("%s %v: %s, want %s", c.fact, c.edit, got, c.want)
		}
	}
	probe := []string{"x", "--version"}
	if got := editing("argv --version", Edit{Do: Drop}).argv(nil, probe); !slices.Equal(got, probe) {
		t.Errorf("a question for the version became %q", got)
	}
}

func TestVariables(t *testing.T) {
	given := []string{"HOME=/home"}
	env := []string{"HOME=/home", "A=1", "B=2"}
	got := editing("env A", Edit{Do: Drop}).env(given, env)
	if want := []string{"HOME=/home", "B=2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = editing("env HOME", Edit{Do: Drop}).env(given, env)
	if !slices.Equal(got, env) {
		t.Errorf("a variable of the harness was changed: %q", got)
	}
}

type sink struct{ bytes.Buffer }

func (*sink) Close() error { return nil }

func TestLines(t *testing.T) {
	line := `{"id":1,"method":"turn/start","params":{"input":[{"text":"a"},{"text":"b"}],"limit":null}}`
	for _, c := range []struct {
		fact string
		edit Edit
		want string
	}{
		{"turn/start", Edit{}, line + "\n"},
		{"turn/start", Edit{Do: Drop}, ""},
		{"turn/start", Edit{Do: Repeat}, line + "\n" + line + "\n"},
		{"turn/start params.limit", Edit{Do: Drop}, `{"id":1,"method":"turn/start","params":{"input":[{"text":"a"},{"text":"b"}]}}` + "\n"},
		{"turn/start params.input[].text", Edit{Do: Drop}, `{"id":1,"method":"turn/start","params":{"input":[{},{}],"limit":null}}` + "\n"},
		{"turn/start params.input[]", Edit{Do: Drop}, `{"id":1,"method":"turn/start","params":{"input":[],"limit":null}}` + "\n"},
		{"turn/start params.input", Edit{Do: Replace, With: nil}, `{"id":1,"method":"turn/start","params":{"input":null,"limit":null}}` + "\n"},
	} {
		var out sink
		w := &editedLines{WriteCloser: &out, rt: runtimes.Find("codex"), e: editing(c.fact, c.edit)}
		for _, part := range []string{line[:20], line[20:], "\n"} {
			if _, err := io.WriteString(w, part); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || out.String() != c.want {
			t.Errorf("%s %v: %v %q, want %q", c.fact, c.edit, err, out.String(), c.want)
		}
	}
}

// TestRequestsOverHTTP changes requests whose path holds ids.
func TestRequestsOverHTTP(t *testing.T) {
	line := `{"body":{"reply":"once"},"id":4,"method":"POST","path":"/permission/per_1/reply"}`
	for _, c := range []struct {
		fact string
		edit Edit
		want string
	}{
		{"POST/permission/{request}/reply", Edit{Do: Repeat}, line + "\n" + line + "\n"},
		{"POST/permission/{request}/reply body.reply", Edit{Do: Drop}, `{"body":{},"id":4,"method":"POST","path":"/permission/per_1/reply"}` + "\n"},
		{"POST/permission/{request}/reply path.request", Edit{Do: Replace, With: "per_2/x"}, strings.Replace(line, "per_1", "per_2%2Fx", 1) + "\n"},
		{"POST/permission/{request}/reply path.request", Edit{Do: Drop}, strings.Replace(line, "per_1", "", 1) + "\n"},
	} {
		var out sink
		w := &editedLines{WriteCloser: &out, rt: runtimes.Find("opencode"), e: editing(c.fact, c.edit)}
		if _, err := io.WriteString(w, line+"\n"); err != nil || out.String() != c.want {
			t.Errorf("%s %v: %v %q, want %q", c.fact, c.edit, err, out.String(), c.want)
		}
	}
}

// A process that takes one message gets it as it was written, although it has no line end.
func TestMessageWithoutLineEnd(t *testing.T) {
	var out sink
	w := &editedLines{WriteCloser: &out, rt: runtimes.Find("codexexec"), e: editing("", Edit{})}
	_, err := io.WriteString(w, "Two\nlines")
	if err == nil {
		err = w.Close()
	}
	if err != nil || out.String() != "Two\nlines" {
		t.Errorf("%v %q", err, out.String())
	}
}
