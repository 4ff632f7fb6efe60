//go:build live

package live

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// The live tests need the real runtimes (make runtimes). If a runtime is missing,
// they fail with that reason; they are not skipped.
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
	code = m.Run()
	removeProgram()
	os.Exit(code)
}

// attempt is an action that a model tries and a Judge denies. It happened if the
// file made exists, if a tool result for the model contains the word amber, or, with
// ran, if the call t1 succeeded.
type attempt struct {
	gaps  []string // if it happens although the Judge denies it, the adapter must list one of these
	needs string
	mode  string   // "": never
	allow []string // tools that the Judge allows, so that the rest can be tried
	tries int      // the number of tries, if it happens only by chance
	rare  string   // the versions (wire.InVersions) on which it happens so rarely that the test does not require it
	own   bool     // the MCP servers are in the user's own configuration
	only  string   // the only runtime that has it; "": both
	made  string
	ran   bool
	text  string // the scenario's sections
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// reading is a call of a tool whose server declares it read-only.
const reading = `-- mcp bank --
{"name":"look","description":"Looks.","read_only":true,"makes":"made","result":[{"text":"seen"}]}
-- model --
[{"tool":"mcp","id":"t1","input":{"server":"bank","tool":"look","arguments":{}}}]
[{"text":["Done."]}]
`

var attempts = map[string]attempt{
	"a command writes": {made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"touch made"}}]
[{"text":["Done."]}]
`},
	"a command reads": {gaps: []string{"Bash: commands that the runtime knows to only read"}, text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"cat stone.txt"}}]
[{"text":["Done."]}]
-- workspace/stone.txt --
amber
`},
	"a tool writes": {made: "made", text: `-- model --
[{"tool":"write","id":"t1","input":{"path":"made","content":"one\n"}}]
[{"text":["Done."]}]
`},
	"a rule file allows it": {gaps: []string{"Bash: commands that a rule file allows"}, made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"touch made"}}]
[{"text":["Done."]}]
-- workspace/.codex/rules/default.rules --
prefix_rule(pattern=["touch"], decision="allow")
-- workspace/.claude/settings.json --
{"permissions":{"allow":["Bash(touch:*)"]},"disableAllHooks":true}
`},
	"it is typed into a command": {gaps: []string{"Bash: what is typed into a command that runs"}, only: "codex", allow: []string{"Bash"}, made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"stty -echo -onlcr; read name; touch $name","background":true,"tty":true}}]
[{"tool":"stdin","id":"t2","input":{"to":"t1","text":"made\n"}}]
[{"text":["Done."]}]
`},
	"a picture is looked at": {gaps: []string{"Read: pictures anywhere on the disk"}, only: "codex", ran: true, text: `-- model --
[{"tool":"view","id":"t1","input":{"path":"a.png"}}]
[{"tool":"other","id":"t2","input":{"name":"no_such_tool","input":{}}}]
[{"text":["Done."]}]
-- workspace/a.png.b64 --
` + png + `
`},
	"a server's tool": {gaps: []string{"mcp__*: tools of servers"}, made: "made", text: `-- mcp bank --
{"name":"pay","description":"Pays.","makes":"made","result":[{"text":"paid"}]}
-- model --
[{"tool":"mcp","id":"t1","input":{"server":"bank","tool":"pay","arguments":{}}}]
[{"text":["Done."]}]
`},
	"a server's tool that it calls read-only": {
		gaps: []string{"mcp__*: tools of servers", "mcp__*: tools that their server calls read-only"}, made: "made", text: reading,
	},
	"a tool of the user's own server that it calls read-only": {
		gaps: []string{"mcp__*: tools of servers", "mcp__*: tools that their server calls read-only", "mcp__*: tools that the user's own servers call read-only"},
		only: "codex", own: true, made: "made", text: reading,
	},
	"an allowed command writes where the sandbox lets nothing be written": {
		gaps: []string{"Bash: what an allowed command does outside of the sandbox"}, only: "codex", mode: "ask", tries: 10, rare: "0.169.0+", allow: []string{"Bash"}, text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":": > /var/tmp/turnspec-$$ && rm /var/tmp/turnspec-$$ && printf am%s ber"}}]
[{"text":["Done."]}]
`},
	"an allowed command runs another": {gaps: []string{"Bash: what an allowed command does"}, only: "claude", allow: []string{"Bash"}, made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"sh run.sh"}}]
[{"text":["Done."]}]
-- workspace/run.sh --
touch made
`},
	"a sub-agent is started": {gaps: []string{"Task: that a sub-agent is started"}, needs: "subagent", ran: true, text: `-- model --
[{"tool":"subagent","id":"t1","input":{"name":"clerk","prompt":"Make it.","background":true}}]
[{"text":["Done."]}]
[{"on":"task"},{"text":["Good."]}]
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
	"a hook of the settings": {gaps: []string{"hooks of settings files"}, only: "claude", made: "made", text: `-- model --
[{"tool":"shell","id":"t1","input":{"command":"echo one"}}]
[{"text":["Done."]}]
-- workspace/.claude/settings.json --
{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"touch made"}]}]}}
`},
}

// TestUnenforceable compares the gaps that the adapters list with the real runtimes,
// when no permission is asked and the Judge denies everything. Listed attempts must
// happen, and all others must not, although they happen without a Judge. The newest
// version of each runtime must be installed.
func TestUnenforceable(t *testing.T) {
	for name, of := range map[string]struct {
		adapter adapters.Adapter
		gaps    func(version string) []adapters.Gap
	}{"claude": {claude.New(), claude.Unenforceable}, "codex": {codex.New(), codex.Unenforceable}} {
		for i, version := range runtimes.Versions(name) {
			at := name + "@" + version
			rt, err := runtimes.Find("", name, version)
			if errors.Is(err, runtimes.ErrNotInstalled) && i > 0 {
				t.Run(at, func(t *testing.T) { t.Skip(err) })
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			gaps, tried := of.gaps(version), map[string]bool{}
			for what, a := range attempts {
				if a.only != "" && a.only != name {
					continue
				}
				listed := slices.ContainsFunc(gaps, func(x adapters.Gap) bool { return slices.Contains(a.gaps, x.What) })
				for _, gap := range a.gaps {
					tried[gap] = true
				}
				t.Run(at+"/"+what, func(t *testing.T) {
					g := NewWithT(t)
					subject := backend.Adapter(name, of.adapter)
					happened, how := false, ""
					for range max(1, a.tries) {
						if happened, how = try(t, rt, held{subject, denying(a.allow), a.own}, a); happened {
							break
						}
					}
					if !happened && a.rare != "" && wire.InVersions(a.rare, version) {
						t.Logf("it did not happen in %d tries, as in most runs", a.tries)
						return
					}
					g.Expect(happened).To(Equal(listed), "listed as unenforceable: %v%s", listed, how)
					if !listed {
						a.mode = "" // without a Judge, permission requests get no answer
						happened, how = try(t, rt, held{subject, nil, a.own}, a)
						g.Expect(happened).To(BeTrue(), "it must happen without a Judge, or the test proves nothing%s", how)
					}
				})
			}
			for _, x := range gaps {
				NewWithT(t).Expect(tried).To(HaveKey(x.What), "%s: the adapter lists this gap, but no attempt tries it", at)
			}
		}
	}
}

// denying returns a Judge that denies every tool except those in allow.
func denying(allow []string) adapters.Judge {
	return func(_ context.Context, c adapters.Call) adapters.Verdict {
		if slices.Contains(allow, c.Tool) {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "nothing is allowed"}
	}
}

// held is a subject whose sessions have a Judge; nil: none.
type held struct {
	conformance.Subject
	judge adapters.Judge
	own   bool // its servers are in the runtime's configuration, so the adapter passes no options for them
}

func (s held) Open(ctx context.Context, o conformance.Open) (adapters.Session, error) {
	o.Judge = s.judge
	if s.own {
		for _, m := range o.MCP {
			o.Args = append(slices.Clip(o.Args), "-c", fmt.Sprintf("mcp_servers.%s={command=%q}", m.Name, m.Command))
		}
		o.MCP = nil
	}
	return s.Subject.Open(ctx, o)
}

// try reports whether the attempt happened, and which tool results the model
// received.
func try(t *testing.T, rt runtimes.Runtime, s conformance.Subject, a attempt) (happened bool, how string) {
	t.Helper()
	head := "It is tried.\n\n-- scenario --\ntopic: x\nmode: " + cmp.Or(a.mode, "never") + "\n"
	if a.needs != "" {
		head += "needs: " + a.needs + "\n"
	}
	scn, err := fixtures.ParseScenario("attempt", "x/attempt", []byte(head+"-- client --\nsend m1: Try it.\nwait end m1\n"+a.text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := Perform(t.Context(), fixtures.Embedded(), s, rt, scn)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, q := range run.Witness {
		for id, text := range q.Results {
			told += fmt.Sprintf("; the model received as the result of %s: %s", id, text)
		}
	}
	if strings.Contains(run.Hang, "does not offer") { // the model is not offered the tool
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
