//go:build peers

package peers

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/turnspec/turnspec/conformance/runner"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/acp"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
	"github.com/turnspec/turnspec/fixtures"
)

var (
	update = flag.Bool("update", false, "write the outcome into "+peersFile+" or "+bridgesFile)
	only   = flag.String("peer", "", "run this peer alone")
	nth    = flag.Int("nth", 5, "perform every n-th case of each topic")
	topics = flag.String("topics", "text,thinking,tool,permission,stop,model", "topics of cases, by their names or globs over them; '*' is all")
)

// peer is an adapter that others maintain.
type peer struct {
	name, pack string // of its plug; of its npm package
	with       string // another package whose version matters, or ""
	runtime    string
	acp        string // the program of an ACP agent in the package
	dialect    string // of a bridge: what its server speaks
	heavy      bool   // of a bridge: npm leaves it out with --omit=dev
}

var peers = []peer{
	{name: "codex-acp", pack: "@agentclientprotocol/codex-acp", runtime: "codex", acp: "dist/index.js"},
	{name: "claude-agent-acp", pack: "@agentclientprotocol/claude-agent-acp", runtime: "claude", acp: "dist/index.js"},
	{name: "claude-agent-sdk", pack: "@anthropic-ai/claude-agent-sdk", runtime: "claude"},
	{name: "ai-sdk-provider-claude-code", pack: "ai-sdk-provider-claude-code", with: "ai", runtime: "claude"},
	{name: "ai-sdk-provider-codex-app-server", pack: "ai-sdk-provider-codex-app-server", with: "ai6", runtime: "codex"},
	{name: "ai-sdk-provider-codex-cli", pack: "ai-sdk-provider-codex-cli", with: "ai", runtime: "codex"},
	{name: "codex-sdk", pack: "@openai/codex-sdk", runtime: "codexexec"},
}

func (p peer) argv() []string {
	if p.acp != "" {
		return []string{"node", filepath.Join(folder, "node_modules", filepath.FromSlash(p.pack), filepath.FromSlash(p.acp))}
	}
	return []string{"node", filepath.Join(folder, p.name+".mjs")}
}

func (p peer) subject() conformance.Subject {
	if p.acp != "" {
		return &acp.Subject{Program: plug.Program{Title: p.name, Of: p.runtime, Command: p.argv()}}
	}
	return &jsonl.Subject{Program: plug.Program{Title: p.name, Of: p.runtime, Command: p.argv()}}
}

// part returns the cases of a peer: every n-th case of each topic, on the newest
// version of its runtime.
func (p peer) part() ([]string, error) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		return nil, err
	}
	var newest string
	for _, id := range ids {
		if runtime, version, _ := fixtures.SplitCaseID(id); runtime == p.runtime && (newest == "" || fixtures.CompareVersions(version, newest) > 0) {
			newest = version
		}
	}
	var out []string
	wanted := strings.Split(*topics, ",")
	few := p.runtime == "codexexec"
	if few {
		wanted = []string{"*"}
	}
	for _, topic := range wanted {
		n := 0
		for _, id := range ids {
			if !conformance.Match(p.runtime+"/"+newest+"/"+topic+"/*", id) {
				continue
			}
			if n%*nth == 0 || few {
				out = append(out, id)
			}
			n++
		}
	}
	return out, nil
}

// run runs the part of the corpus on a peer.
func (p peer) run(ctx context.Context) (*graded, error) {
	cases, err := p.part()
	if err != nil {
		return nil, err
	}
	cfg := conformance.Config{
		Corpus: fixtures.Embedded(), Subjects: []conformance.Subject{p.subject()}, Checks: plain(), Cases: cases,
		Places: 1, Seed: 1, Workers: 4 * goruntime.GOMAXPROCS(0),
	}
	file := filepath.Join("known", p.name+".txt")
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if cfg.KnownFailures, err = conformance.ParseKnownFailures(file, b); err != nil {
		return nil, err
	}
	began := time.Now()
	rep, err := runner.Run(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	_, version, _ := fixtures.SplitCaseID(cases[0])
	g := &graded{peer: p, on: version, took: time.Since(began), report: rep}
	return g, g.plugged()
}

// plain returns the checks that judge a plain run, without their faults. Maintainers can
// test their library under faults with `turnspec run`.
func plain() (out []*conformance.Check) {
	for _, c := range checks.All() {
		if c.Judge == nil {
			continue
		}
		alone := *c
		alone.Faults, alone.JudgeFault = nil, nil
		out = append(out, &alone)
	}
	return out
}

func TestMain(m *testing.M) {
	conformance.Main()
	os.Exit(m.Run())
}

func TestPeers(t *testing.T) {
	if err := install(os.Stdout); err != nil {
		t.Fatal(err)
	}
	t.Setenv("IS_SANDBOX", "1") // as root, claude-agent-acp offers bypassPermissions only with it
	var all []*graded
	for _, p := range peers {
		if *only != "" && *only != p.name {
			continue
		}
		g, err := p.run(t.Context())
		if err != nil {
			t.Error(err)
			continue
		}
		fmt.Printf("%s: %d cases in %v\n", p.name, g.report.Cases, g.took.Round(time.Second))
		g.fresh()
		all = append(all, g)
	}
	if err := publish(all, len(all) == len(peers), peersFile); err != nil {
		t.Error(err)
	}
}
