package agentfile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/agentfile"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, form, text string
		want             agentfile.Agent
	}{
		{"markdown", "claude", "---\nname: a\ndescription: \"Reads: all\"\n---\nRead.\n\n---\nMore.\n",
			agentfile.Agent{Name: "a", Description: "Reads: all", Instructions: "Read.\n\n---\nMore."}},
		{"tools in a line", "claude", "---\nname: a\ndescription: d\ntools: Read, Grep\nmodel: opus\neffort: high\n---\ni",
			agentfile.Agent{Name: "a", Description: "d", Instructions: "i", Tools: []string{"Read", "Grep"}, Model: "opus", Effort: "high"}},
		{"tools in a list", "claude", "---\nname: a\ndescription: d\ntools:\n  - Read\n---\ni",
			agentfile.Agent{Name: "a", Description: "d", Instructions: "i", Tools: []string{"Read"}}},
		{"what only the runtime knows", "claude", "---\nname: a\ndescription: d\ncolor: red\n---\ni",
			agentfile.Agent{Name: "a", Description: "d", Instructions: "i"}},
		{"lines of another system", "claude", "\ufeff---\r\nname: a\r\ndescription: d\r\n---\r\none\r\ntwo\r\n",
			agentfile.Agent{Name: "a", Description: "d", Instructions: "one\ntwo"}},
		{"toml", "codex", "name = 'a'\ndescription = 'd'\ndeveloper_instructions = \"\"\"\none\ntwo\n\"\"\"\nmodel = 'm'\nmodel_reasoning_effort = 'high'\nsandbox_mode = 'read-only'\nnickname_candidates = ['x', 'y']\n[mcp_servers.hotel]\ncommand = 'hotel'\n",
			agentfile.Agent{Name: "a", Description: "d", Instructions: "one\ntwo", Model: "m", Effort: "high", Sandbox: "read-only", Nicknames: []string{"x", "y"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := agentfile.Parse(agentfile.Form(c.form), "f", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			c.want.File = "f"
			if g, w := flat(got), flat(c.want); g != w {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func flat(a agentfile.Agent) string {
	return strings.Join([]string{a.File, a.Name, a.Description, a.Instructions, a.Model, a.Effort, strings.Join(a.Tools, "+"), a.Sandbox, strings.Join(a.Nicknames, "+")}, "|")
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		name, form, text string
		want             []string
	}{
		{"nothing", "claude", "", []string{"f:1: want a line of ---"}},
		{"no end", "claude", "---\nname: a\n", []string{"f:1: the keys are not closed"}},
		{"no keys", "claude", "---\n---\ni", []string{"f:1: the key name is missing", "f:1: the key description is missing"}},
		{"no words", "claude", "---\nname: a\ndescription: d\n---\n \n", []string{"f:4: no instructions follow the keys"}},
		{"no yaml", "claude", "---\nname: a\n\tdescription: d\n---\ni", []string{"f:3: "}},
		{"a list of keys", "claude", "---\n- name\n---\ni", []string{"f:2: want keys"}},
		{"empty", "claude", "---\nname: ''\ndescription: d\n---\ni", []string{"f:2: name is empty"}},
		{"a number", "claude", "---\nname: a\ndescription: 7\n---\ni", []string{"f:3: description: want a text"}},
		{"twice", "claude", "---\nname: a\ndescription: d\nname: b\n---\ni", []string{"f:4: duplicate key name; first on line 2"}},
		{"tools that are none", "claude", "---\nname: a\ndescription: d\ntools: [Read, 7]\n---\ni", []string{"f:4: tools: want the names of tools"}},
		{"a tool without a name", "claude", "---\nname: a\ndescription: d\ntools: Read,,Grep\n---\ni", []string{"f:4: tools: a name is empty"}},
		{"all at once", "claude", "---\nname: []\nmodel: ''\n---\n", []string{"f:2: name: want a text", "f:3: model is empty", "f:1: the key description is missing", "f:4: no instructions"}},
		{"nothing", "codex", "", []string{"f:1: the key description is missing", "f:1: the key developer_instructions is missing", "f:1: the key name is missing"}},
		{"no toml", "codex", "name = 'a'\ndescription\n", []string{"f:2: "}},
		{"twice", "codex", "name = 'a'\ndescription = 'd'\nname = 'b'\n", []string{"f:3: "}},
		{"empty", "codex", "name = 'a'\ndescription = ' '\ndeveloper_instructions = 'i'", []string{"f:2: description is empty"}},
		{"a number", "codex", "name = 'a'\ndescription = 'd'\ndeveloper_instructions = 7\n[mcp_servers.x]\nname = ''", []string{"f:3: developer_instructions: want a text"}},
		{"a sandbox that is none", "codex", "name = 'a'\ndescription = 'd'\ndeveloper_instructions = 'i'\nsandbox_mode = 'none'", []string{`f:4: sandbox_mode: want one of read-only, workspace-write, danger-full-access, got "none"`}},
		{"a nickname that is empty", "codex", "name = 'a'\ndescription = 'd'\ndeveloper_instructions = 'i'\nnickname_candidates = [\n'x',\n'']", []string{"f:4: nickname_candidates: want names"}},
		{"nicknames that are none", "codex", "name = 'a'\ndescription = 'd'\ndeveloper_instructions = 'i'\nnickname_candidates = 'x'", []string{"f:4: nickname_candidates: want a list of names"}},
		{"neither", "emacs", "", []string{`no form "emacs"`}},
	} {
		t.Run(c.form+"/"+c.name, func(t *testing.T) {
			_, err := agentfile.Parse(agentfile.Form(c.form), "f", []byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(c.want) {
				t.Fatalf("got %q, want %d errors", lines, len(c.want))
			}
			for i, l := range lines {
				if !strings.HasPrefix(l, c.want[i]) {
					t.Errorf("got %q, want %q", l, c.want[i])
				}
			}
			if at := (*agentfile.Error)(nil); c.form != "emacs" && (!errors.As(err, &at) || at.File != "f") {
				t.Errorf("%v is no *Error of the file", err)
			}
		})
	}
}

// FuzzParse: for any text, Parse returns either an agent with all required fields or
// an error with a position.
func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: d\ntools: [Read]\n---\ni")
	f.Add("name = 'a'\ndescription = 'd'\ndeveloper_instructions = 'i'")
	f.Add("---\n&a [*a]\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range agentfile.Forms() {
			a, err := agentfile.Parse(form, "f", []byte(text))
			switch at := (*agentfile.Error)(nil); {
			case err != nil && (!errors.As(err, &at) || at.Line < 0 || at.Line > strings.Count(text, "\n")+1):
				t.Errorf("%s: %v is not of the file", form, err)
			case err == nil && (a.Name == "" || a.Description == "" || a.Instructions == ""):
				t.Errorf("%s: %+v lacks something", form, a)
			}
		}
	})
}
