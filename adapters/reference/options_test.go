package reference_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/adapters/reference"
)

// An adapter writes an option into the command line, or refuses it by its name. Codex gets
// instructions in a request after the start, and codex exec starts with the first message:
// goldens show what they get.
func TestOptionsAreHonouredOrRefused(t *testing.T) {
	for name, x := range map[string]struct {
		option  adapters.Options
		passed  map[string]string // runtimes, and an argument that they get
		refused []string          // runtimes
		error   string
	}{
		"config": {
			option: adapters.Options{Config: map[string]string{"some_key": "1"}},
			passed: map[string]string{"codex": "some_key=1"}, refused: []string{"claude", "pi", "opencode", "opencoderun", "chat"}, error: "config: ",
		},
		"instructions": {
			option: adapters.Options{Opening: op.Opening{Instructions: "Be brief."}},
			passed: map[string]string{"claude": "--append-system-prompt", "pi": "--append-system-prompt"}, refused: []string{"opencoderun", "acp"}, error: "instructions: ",
		},
		"replacing instructions": {
			option: adapters.Options{Opening: op.Opening{Instructions: "Be brief.", ReplaceInstructions: true}},
			passed: map[string]string{"claude": "--system-prompt", "pi": "--system-prompt"}, refused: []string{"opencode", "opencoderun", "acp"}, error: "instructions: ",
		},
		"effort": {
			option: adapters.Options{Opening: op.Opening{Effort: "high"}},
			passed: map[string]string{"claude": "--effort\nhigh", "codex": `model_reasoning_effort="high"`, "pi": "--thinking\nhigh"},
		},
		"requests": {
			option: adapters.Options{Opening: op.Opening{MaxRequests: 3}},
			passed: map[string]string{"claude": "--max-turns\n3"}, refused: []string{"codex", "codexexec", "pi", "opencode", "opencoderun", "acp"}, error: "max requests: ",
		},
		"cost": {
			option: adapters.Options{Opening: op.Opening{MaxCost: 0.25}},
			passed: map[string]string{"claude": "--max-budget-usd\n0.25"}, refused: []string{"codex", "codexexec", "pi", "opencode", "opencoderun", "acp", "chat"}, error: "max cost: ",
		},
		"folders": {
			option:  adapters.Options{Opening: op.Opening{ExtraDirs: []string{"/srv/a", "/srv/b"}}},
			passed:  map[string]string{"claude": "--add-dir\n/srv/a\n--add-dir\n/srv/b", "codex": `writable_roots=["/srv/a","/srv/b"]`},
			refused: []string{"codexexec", "pi", "opencode", "opencoderun", "chat"}, error: "extra dirs: ",
		},
		"sources": {
			option: adapters.Options{Opening: op.Opening{SettingSources: []string{"user", "project"}}},
			passed: map[string]string{"claude": "--setting-sources=user,project"}, refused: []string{"codex", "codexexec", "pi", "opencode", "opencoderun", "acp", "chat"}, error: "setting sources: ",
		},
		"input in pieces": {
			option:  adapters.Options{Opening: op.Opening{StreamToolInput: true}},
			refused: []string{"codex", "codexexec", "opencode", "opencoderun", "acp"}, error: "stream tool input: ",
		},
		"server over http": {
			option: adapters.Options{MCP: []adapters.MCPServer{{Name: "lamp", URL: "http://127.0.0.1:9/mcp", Headers: map[string]string{"X-Key": "amber"}}}},
			passed: map[string]string{
				"claude": `{"lamp":{"type":"http","url":"http://127.0.0.1:9/mcp","headers":{"X-Key":"amber"}}}`,
				"codex":  `mcp_servers.lamp={url="http://127.0.0.1:9/mcp",http_headers={"X-Key"="amber"}`,
			},
			refused: []string{"pi"}, error: "mcp: ",
		},
		"server over sse": {
			option:  adapters.Options{MCP: []adapters.MCPServer{{Name: "lamp", URL: "http://127.0.0.1:9/sse", SSE: true}}},
			passed:  map[string]string{"claude": `{"lamp":{"type":"sse","url":"http://127.0.0.1:9/sse"}}`},
			refused: []string{"codex", "codexexec", "pi"}, error: "mcp: ",
		},
		"checkpoints": {
			option:  adapters.Options{Opening: op.Opening{Checkpoints: true}},
			refused: []string{"codex", "codexexec", "pi", "opencode", "opencoderun", "acp", "chat"}, error: "checkpoints: ",
		},
		"judge": {
			option:  adapters.Options{Judge: func(context.Context, adapters.Call) adapters.Verdict { return adapters.Verdict{} }},
			refused: []string{"codexexec", "opencoderun"}, error: "judge: ",
		},
		"no sources": {
			option: adapters.Options{Opening: op.Opening{SettingSources: []string{}}},
			passed: map[string]string{"claude": "--setting-sources=\n"}, refused: []string{"codex", "codexexec", "pi", "opencode", "opencoderun", "acp", "chat"}, error: "setting sources: ",
		},
	} {
		for _, runtime := range reference.Names() {
			t.Run(name+"/"+runtime, func(t *testing.T) {
				g := NewWithT(t)
				var argv []string
				o := x.option
				o.Launch = proc.LauncherFunc(func(_ context.Context, c proc.Command) (proc.Process, error) {
					argv = c.Argv
					return nil, errors.New("not today")
				})
				s, err := reference.Of(runtime).Open(t.Context(), o)
				if slices.Contains(x.refused, runtime) {
					g.Expect(err).To(MatchError(adapters.ErrUnsupported))
					g.Expect(err).To(MatchError(ContainSubstring(x.error)))
					g.Expect(argv).To(BeNil())
					return
				}
				if err == nil {
					g.Expect(s.Close(t.Context())).To(Succeed())
				}
				g.Expect(argv).NotTo(BeEmpty())
				g.Expect(strings.Join(argv, "\n") + "\n").To(ContainSubstring(x.passed[runtime]))
			})
		}
	}
}

// TestDeclaredAbilitiesExist checks that each ability that a reference adapter declares is an
// operation, or one that an option needs: a misspelled one would refuse the option.
func TestDeclaredAbilitiesExist(t *testing.T) {
	known := map[string]bool{}
	for _, o := range op.All() {
		known[o.Name] = true
	}
	for _, o := range op.Options(reflect.TypeFor[adapters.Options]()) {
		known[o.Can] = true
	}
	for _, name := range reference.Names() {
		for _, ability := range reference.Of(name).Capabilities().Can {
			if !known[ability] {
				t.Errorf("%s declares %q, which nothing needs", name, ability)
			}
		}
	}
}
