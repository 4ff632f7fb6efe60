//go:build peers

package peers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
	"github.com/turnspec/turnspec/conformance/plug/sse"
	"github.com/turnspec/turnspec/conformance/runner"
	"github.com/turnspec/turnspec/fixtures"
)

var light = flag.Bool("light", false, "only the bridges that npm installs with --omit=dev, on few cases")

// bridges are what others offer to put a runtime behind the page of a chat. Each has a server in the
// folder bridges, which calls the package as its documentation shows it.
var bridges = []peer{
	{name: "ai-sdk-provider-claude-code", pack: "ai-sdk-provider-claude-code", with: "ai", runtime: "claude", dialect: "usechat"},
	{name: "ai-sdk-provider-codex-cli", pack: "ai-sdk-provider-codex-cli", with: "ai", runtime: "codex", dialect: "usechat"},
	{name: "acp-ai-provider", pack: "@mcpc-tech/acp-ai-provider", with: "ai", runtime: "claude", dialect: "usechat", heavy: true},
	{name: "copilotkit-agent", pack: "@copilotkitnext/agent", with: "ai-sdk-provider-codex-cli1", runtime: "codex", dialect: "agui-agent", heavy: true},
}

// bridged are the cases that bridges are graded on. None of them asks, stops a turn or sends a second message: the
// request of a chat page has no place for the first two, and providers of the AI SDK resume the session for each
// message, which the recorded client does not. Those of quick are first.
var bridged = []string{
	"text/plain", "thinking/then-text", "tool/text-tool-text-three-rounds", "tool/fails",
	"thinking/interleaved-with-text", "tool/parallel", "file/write-and-edit", "model/error-ends-the-turn", "model/cut-in-mid-text-then-retried",
	"subagent/in-the-foreground", "process/close-in-mid-tool",
}

// quick is how many cases of bridged -light plays.
const quick = 3

// TestBridges grades the bridges. `make test-bridges` installs them. Each of their failures must be known.
func TestBridges(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", ".tmp", "bridges"))
	if err != nil {
		t.Fatal(err)
	}
	folder = dir
	t.Setenv("IS_SANDBOX", "1") // as root, claude-agent-acp offers bypassPermissions only with it
	results := make([]*graded, len(bridges))
	var crossings sync.WaitGroup
	for i, b := range bridges {
		if *light && b.heavy || *only != "" && *only != b.name {
			continue
		}
		crossings.Go(func() {
			g, err := b.cross(t)
			if err != nil {
				t.Error(err)
			}
			results[i] = g
		})
	}
	crossings.Wait()
	all := slices.DeleteFunc(results, func(g *graded) bool { return g == nil })
	if err := publish(all, len(all) == len(bridges), bridgesFile); err != nil {
		t.Error(err)
	}
}

// cross grades a bridge on the cases of bridged.
func (p peer) cross(t *testing.T) (*graded, error) {
	t.Helper()
	m, err := mapping.Builtin(p.dialect)
	if err != nil {
		return nil, err
	}
	version := newest(t, p.runtime)
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		return nil, err
	}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Checks: plain(), Places: 1, Seed: 1, Workers: 2,
		Subjects: []conformance.Subject{&sse.Subject{
			Program: plug.Program{Title: p.name, Of: p.runtime, Command: p.argv()}, URL: "http://127.0.0.1:0", Dialect: backend.Strict(m),
		}},
	}
	played := bridged
	if *light {
		played = bridged[:quick]
	}
	for _, name := range played {
		if id := p.runtime + "/" + version + "/" + name; slices.Contains(ids, id) {
			cfg.Cases = append(cfg.Cases, id)
		}
	}
	file := filepath.Join("bridges", p.name+".txt")
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if cfg.KnownFailures, err = conformance.ParseKnownFailures(file, b); err != nil {
		return nil, err
	}
	rep, err := runner.Run(t.Context(), cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	g := &graded{peer: p, on: version, report: rep}
	for _, r := range rep.Results {
		if r.Verdict.Bad() && r.KnownFailure == nil {
			var says bytes.Buffer
			for _, problem := range r.Problems {
				fmt.Fprintf(&says, "\n%s %s", problem.Text, problem.Diff)
			}
			t.Errorf("%s: %s %s: %s %s%s\nrerun: %s", p.name, r.Case, r.Check.ID, r.Verdict, r.Reason, says.String(), p.again(&seen{first: r.Case, check: r.Check.ID}))
		}
	}
	for _, k := range rep.KnownFailures {
		if k.Failed == 0 && !k.MayPass && k.Judged > 0 {
			t.Errorf("%s: %s does not fail any more: take it out of %s", p.name, k.Check, file)
		}
	}
	return g, nil
}

func newest(t *testing.T, runtime string) (out string) {
	t.Helper()
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if r, version, _ := fixtures.SplitCaseID(id); r == runtime && (out == "" || fixtures.CompareVersions(version, out) > 0) {
			out = version
		}
	}
	return out
}
