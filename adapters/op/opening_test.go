package op_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/op"
)

// TestOptionsAreComplete checks that each field of Opening is an option with a name and a
// description, and that the names in tags are those of options.
func TestOptionsAreComplete(t *testing.T) {
	of := reflect.TypeFor[op.Opening]()
	options := op.Options(of)
	if len(options) != of.NumField() {
		t.Errorf("%d fields, and %d options", of.NumField(), len(options))
	}
	names, abilities := map[string]bool{"": true}, map[string]bool{"": true}
	for _, o := range options {
		names[o.Name], abilities[o.Can] = true, true
	}
	for _, o := range options {
		if o.Name == "" || o.Doc == "" {
			t.Errorf("%q: the tags json and doc are needed", o.Name)
		}
		if !names[o.Unless] || !abilities[o.With] {
			t.Errorf("%s: unless %q, with %q: there is no such option", o.Name, o.Unless, o.With)
		}
		if o.Can != "" && o.Can != o.Name && o.Name != "replace_instructions" && o.With == "" && op.Named(o.Can) == nil {
			t.Errorf("%s: can %q is neither its name nor an operation", o.Name, o.Can)
		}
	}
}

// TestWants checks which abilities the options need.
func TestWants(t *testing.T) {
	for want, o := range map[string]op.Opening{
		"":                                     {SessionID: "s", Dir: "/w", Model: "m", Mode: "ask", Command: []string{"x"}, Args: []string{"y"}, ExtraDirs: []string{}},
		"resume: resume":                       {Resume: "r"},
		"fork: fork":                           {Resume: "r", Fork: true}, // a fork names its session by resume, too
		"fork: fork, at: fork_at":              {Resume: "r", Fork: true, At: "t"},
		"resume: resume, unarchive: archive":   {Resume: "r", Unarchive: true},
		"checkpoints: rewind":                  {Checkpoints: true},
		"instructions: instructions":           {Instructions: "i"},
		"replacing instructions: instructions": {Instructions: "i", ReplaceInstructions: true},
		"setting sources: setting_sources":     {SettingSources: []string{}}, // none is not the default
		"max requests: max_requests, max cost: max_cost": {MaxRequests: 1, MaxCost: 0.5},
		"stream tool input: stream_tool_input":           {StreamToolInput: true},
	} {
		var got []string
		for _, w := range op.Wants(o) {
			got = append(got, w.Key+": "+w.Can)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%+v: %v, want %s", o, got, want)
		}
	}
}

// TestDropSoft checks that only a soft option is dropped, and only without its ability.
func TestDropSoft(t *testing.T) {
	o := op.Opening{StreamToolInput: true, Effort: "high"}
	op.DropSoft(&o, op.Set{"stream_tool_input"})
	if !o.StreamToolInput {
		t.Error("an option that is declared was dropped")
	}
	op.DropSoft(&o, nil)
	if o.StreamToolInput || o.Effort == "" {
		t.Errorf("without abilities: %+v", o)
	}
}

// TestParse checks the forms of options in the head of a scenario.
func TestParse(t *testing.T) {
	for _, x := range []struct{ key, text, err string }{
		{"effort", "high", ""},
		{"max requests", "2", ""},
		{"max requests", "0", "max requests: want a number above 0"},
		{"max requests", "few", "max requests: want a number above 0"},
		{"max cost", "0.5", ""},
		{"max cost", "NaN", "max cost: want a number above 0, such as 0.5"},
		{"extra dirs", "a, b", ""},
		{"extra dirs", "../a", `extra dirs: "../a" leaves the workspace`},
		{"setting sources", "user, local", ""},
		{"setting sources", "none", `setting sources: there is no "none", only user, project, local`},
		{"stream tool input", "yes", ""},
		{"stream tool input", "no", "stream tool input: want yes"},
	} {
		var o op.Opening
		ok, err := op.Parse(&o, x.key, x.text)
		switch {
		case !ok:
			t.Errorf("%s: there is no such key", x.key)
		case err != nil && err.Error() != x.err, err == nil && x.err != "":
			t.Errorf("%s: %s: %v, want %q", x.key, x.text, err, x.err)
		case err == nil && reflect.ValueOf(o).IsZero():
			t.Errorf("%s: %s: nothing is set", x.key, x.text)
		}
	}
	// A step or another key sets these.
	for _, key := range []string{"resume", "fork", "at", "unarchive", "checkpoints", "mode", "model", "dir", "session id", "replace instructions"} {
		if ok, _ := op.Parse(&op.Opening{}, key, "x"); ok {
			t.Errorf("the head of a scenario may have %s", key)
		}
	}
}

// toyOption is all that a new option needs in this module.
const toyOption = "\tBrevity string `json:\"brevity,omitempty\" can:\"brevity\" doc:\"How short a reply must be.\"`\n"

// TestToyOption compiles the module with one more field of Opening and runs the tests in
// testdata/option, which use it: in the head of a scenario, over JSON lines, and with adapters
// that declare it or do not.
func TestToyOption(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the packages that depend on this one again")
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command")
	}
	file, err := filepath.Abs("opening.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, tail, ok := strings.Cut(string(source), "type Opening struct {\n")
	if !ok {
		t.Fatal("opening.go has no struct Opening")
	}
	dir := t.TempDir()
	with := filepath.Join(dir, "opening.go")
	if err := os.WriteFile(with, []byte(head+"type Opening struct {\n"+toyOption+tail), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{file: with}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), tool, "test", "-vet=off", "-overlay="+list, "./testdata/option").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
