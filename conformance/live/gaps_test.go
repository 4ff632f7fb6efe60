//go:build live

package live

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// The live tests need the real runtimes (make runtimes). They are not skipped
// where a runtime is missing: they fail and say so.
func TestMain(m *testing.M) {
	if ok, code := mcp.Main(os.Args); ok {
		os.Exit(code)
	}
	again, code, err := isolate.Enter(os.Args[1:])
	switch {
	case err != nil:
		println(err.Error())
		os.Exit(1)
	case again:
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// attempt is something that a model tries and a Judge denies. It happened when
// the file made is there, when the model was told the word amber, or when the call
// t1 went well (ran).
type attempt struct {
	gap   string // what the adapter lists where it happens all the same
	needs string
	allow []string // tools that the Judge allows here, so that the rest can be tried
	only  string   // the runtime that has it
	made  string
	ran   bool
	text  string // the scenario's sections
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

var attempts = map[string]attempt{
	"a command writes": {made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"touch made"}}]
[{"text":["Done."]}]
`},
	"a command reads": {gap: "Bash: commands that the runtime knows to only read", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"cat stone.txt"}}]
[{"text":["Done."]}]
-- workspace/stone.txt --
amber
`},
	"a tool writes": {made: "made", text: `-- model --
[{"tool":"write","id":"t1","input":{"path":"made","content":"one\n"}}]
[{"text":["Done."]}]
`},
	"a rule file allows it": {gap: "Bash: commands that a rule file allows", made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"touch made"}}]
[{"text":["Done."]}]
-- workspace/.codex/rules/default.rules --
prefix_rule(pattern=["touch"], decision="allow")
-- workspace/.claude/settings.json --
{"permissions":{"allow":["Bash(touch:*)"]},"disableAllHooks":true}
`},
	"it is typed into a command": {gap: "Bash: what is typed into a command that runs", only: "codex", allow: []string{"Bash"}, made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"stty -echo -onlcr; read name; touch $name","background":true,"tty":true}}]
[{"tool":"stdin","id":"t2","input":{"to":"t1","text":"made\n"}}]
[{"text":["Done."]}]
`},
	"a picture is looked at": {gap: "Read: pictures anywhere on the disk", only: "codex", ran: true, text: `-- model --
[{"tool":"view","id":"t1","input":{"path":"a.png"}}]
[{"tool":"other","id":"t2","input":{"name":"no_such_tool","input":{}}}]
[{"text":["Done."]}]
-- workspace/a.png.b64 --
` + png + `
`},
	"a server's tool": {gap: "mcp__*: tools of servers", made: "made", text: `-- mcp bank --
{"name":"pay","description":"Pays.","makes":"made","result":[{"text":"paid"}]}
-- model --
[{"tool":"mcp","id":"t1","input":{"server":"bank","tool":"pay","arguments":{}}}]
[{"text":["Done."]}]
`},
	"a sub-agent is started": {gap: "Task: that a sub-agent is started", needs: "subagent", ran: true, text: `-- model --
[{"tool":"subagent","id":"t1","input":{"name":"clerk","prompt":"Make it.","background":true}}]
[{"text":["Done."]}]
-- model clerk --
[{"tool":"shell","id":"s1","input":{"command":"touch made"}}]
[{"text":["Made."]}]
`},
	"a skill brings a command": {only: "claude", allow: []string{"Skill"}, made: "made", text: `-- model --
[{"tool":"other","id":"t1","input":{"name":"Skill","input":{"skill":"foo"}}}]
[{"text":["Done."]}]
[{"on":"again"},{"text":["Done."]}]
-- workspace/.claude/skills/foo/SKILL.md --
---
name: foo
description: does foo
allowed-tools: Bash(touch:*)
---
Result: !` + "`touch made`" + `
`},
	"a hook of the settings": {gap: "hooks of settings files", only: "claude", made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"echo one"}}]
[{"text":["Done."]}]
-- workspace/.claude/settings.json --
{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"touch made"}]}]}}
`},
}

// TestUnenforceable holds what the adapters list to what happens on the real
// runtimes, where nothing is asked and the Judge denies everything: what is listed
// happens, and nothing else does.
func TestUnenforceable(t *testing.T) {
	for _, at := range []string{"codex@0.169.0", "codex@0.120.0", "codex@0.98.0", "claude@2.1.329", "claude@2.1.197"} {
		name, version, _ := strings.Cut(at, "@")
		rt, err := runtimes.Find("", name, version)
		if err != nil {
			t.Fatal(err)
		}
		adapter, gaps := codex.New(), codex.Unenforceable(version)
		if name == "claude" {
			adapter, gaps = claude.New(), claude.Unenforceable(version)
		}
		for what, a := range attempts {
			if a.only != "" && a.only != name {
				continue
			}
			t.Run(at+"/"+what, func(t *testing.T) {
				g := NewWithT(t)
				listed := slices.ContainsFunc(gaps, func(x adapters.Gap) bool { return x.What == a.gap })
				happened, how := try(t, rt, adapter, a)
				g.Expect(happened).To(Equal(listed), "listed as unenforceable: %v; %s", listed, how)
			})
		}
	}
}

// denying is a subject whose Judge denies all but some tools.
type denying struct {
	conformance.Subject
	allow []string
}

func (s denying) Open(ctx context.Context, o conformance.Open) (conformance.Session, error) {
	o.Judge = func(_ context.Context, c adapters.Call) adapters.Verdict {
		if slices.Contains(s.allow, c.Tool) {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "nothing is allowed"}
	}
	return s.Subject.Open(ctx, o)
}

// try reports whether it happened, and what the model was told.
func try(t *testing.T, rt runtimes.Runtime, adapter adapters.Adapter, a attempt) (happened bool, how string) {
	t.Helper()
	head := "It is tried.\n\n-- scenario --\ntopic: x\nmode: never\n"
	if a.needs != "" {
		head += "needs: " + a.needs + "\n"
	}
	scn, err := fixtures.ParseScenario("attempt", "x/attempt", []byte(head+"-- client --\nsend m1: Try it.\nwait end m1\n"+a.text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := one(t.Context(), fixtures.Embedded(), denying{conformance.Adapter(rt.Name, adapter), a.allow}, rt, scn)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, q := range run.Witness {
		for id, text := range q.Results {
			told += fmt.Sprintf("; the model was told of %s: %s", id, text)
		}
	}
	if strings.Contains(run.Hang, "does not offer") { // it was taken away
		return false, run.Hang
	}
	if run.Hang != "" {
		t.Fatal(run.Hang)
	}
	_, made := run.Workspace[a.made]
	for _, e := range run.Events {
		if d, ok := e.Data.(event.ToolResult); ok && a.ran && strings.HasSuffix(d.ToolUseID, "t1") {
			made = made || d.Status == event.ToolOK || d.Status == event.ToolBackgrounded
		}
	}
	return made || strings.Contains(told, "amber"), told
}
