package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend/golden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// isCaseFile reports whether an argument names the file of a case, not its id.
func isCaseFile(arg string) bool {
	if !strings.HasSuffix(arg, ".txtar") {
		return false
	}
	info, err := os.Stat(arg)
	return err == nil && !info.IsDir()
}

// fileCorpus is a corpus of one case, whose file may be anywhere.
type fileCorpus struct {
	fixtures.Corpus
	dir       string // temporary
	id        string
	noWitness bool
	golden    bool // a golden lies beside the file
}

// lawChecks are the checks and topics that hold for any recording: they compare
// events with each other and with the wire, not with what the model said.
var lawChecks = []string{"order", "replay", "wire", "process", "turn.one-terminal", "turn.nothing-after-terminal"}

func (f *fileCorpus) remove() { _ = os.RemoveAll(f.dir) }

// chooseFile replaces the case file in f.cases by a corpus of this case. remove
// removes the corpus.
func (f *runFlags) chooseFile(cmd *cobra.Command) (remove func(), err error) {
	base, err := openCorpus(f.corpus)
	if err != nil {
		return nil, err
	}
	file := f.cases[0]
	one, err := openCaseFile(base, file)
	if err != nil {
		return nil, err
	}
	f.caseFile = file
	f.corpus, f.cases, f.noGolden = one.dir, []string{one.id}, !one.golden
	if f.noGolden && slices.ContainsFunc(f.checks, func(name string) bool { return among(name, golden.Checks(base)) }) {
		one.remove()
		return nil, fmt.Errorf("%s has no golden beside it: `turnspec update %s` writes it", file, file)
	}
	if one.noWitness && len(f.checks) == 0 {
		f.checks = lawChecks
		if !f.external() {
			f.tier = []string{string(conformance.TierWitness)}
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "the recording has no witness: only checks that need none are run; --check chooses others")
	}
	return one.remove, nil
}

// openCaseFile makes a corpus of a case file. Its scenario comes from the folder
// scenarios of the corpus that the file lies in, or from the base corpus, or from the
// lines of its client.
func openCaseFile(base fixtures.Corpus, file string) (*fileCorpus, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := fixtures.ParseCase(file, strings.TrimSuffix(filepath.ToSlash(file), ".txtar"), b)
	if err != nil {
		return nil, err
	}
	if b, err = withExit(c, b); err != nil {
		return nil, err
	}
	f := &fileCorpus{id: path.Join(c.Runtime, c.Version, c.Scenario), noWitness: c.NoWitness}
	if strings.Count(f.id, "/") != 3 || !fs.ValidPath(f.id) {
		return nil, fmt.Errorf("%s: scenario %q: want TOPIC/NAME", file, c.Scenario)
	}
	scenario, err := readScenario(base, file, c)
	if err != nil {
		return nil, err
	}
	if f.dir, err = os.MkdirTemp("", "turnspec-case-"); err != nil {
		return nil, err
	}
	f.Corpus = fixtures.Corpus{FS: os.DirFS(f.dir), Root: filepath.ToSlash(f.dir)}
	files := map[string][]byte{f.id + ".txtar": b, "scenarios/" + c.Scenario + ".txtar": scenario}
	if b, err := os.ReadFile(goldenFile(file)); err == nil {
		files[f.id+".golden"], f.golden = b, true
	}
	replies := path.Join(c.Runtime, c.Version, "lifecycle.txtar")
	if b, err := fs.ReadFile(base.FS, replies); err == nil {
		files[replies] = b
	}
	for name, data := range files {
		name = filepath.Join(f.dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, data, 0o644)); err != nil {
			f.remove()
			return nil, err
		}
	}
	if _, err := f.LoadScenario(c.Scenario); err != nil {
		f.remove()
		return nil, fmt.Errorf("%s: the steps of its client: %w", file, err)
	}
	return f, nil
}

// readScenario returns the text of the scenario of a case file.
func readScenario(base fixtures.Corpus, file string, c *fixtures.Case) ([]byte, error) {
	if c.NoWitness {
		return scenarioOf(c), nil
	}
	name := filepath.Join("scenarios", filepath.FromSlash(c.Scenario)+".txtar")
	root := file
	for range strings.SplitSeq(path.Join(c.Runtime, c.Version, c.Scenario), "/") {
		root = filepath.Dir(root)
	}
	if b, err := os.ReadFile(filepath.Join(root, name)); err == nil {
		return b, nil
	}
	b, err := fs.ReadFile(base.FS, filepath.ToSlash(name))
	if errors.Is(err, fs.ErrNotExist) {
		return scenarioOf(c), nil
	}
	return b, err
}

// goldenFile returns the name of the golden of a case file.
func goldenFile(file string) string { return strings.TrimSuffix(file, ".txtar") + ".golden" }

// withExit returns the file of a case, with the exit of its process if another tool
// has not recorded it: when its stdin is closed. Without it, a stand-in would wait
// forever.
func withExit(c *fixtures.Case, b []byte) ([]byte, error) {
	if !c.NoWitness || len(c.Wire) == 0 || slices.ContainsFunc(c.Wire, func(l fixtures.WireLine) bool { return l.Dir == fixtures.Exit }) {
		return b, nil
	}
	whole, last := *c, c.Wire[len(c.Wire)-1]
	whole.Wire = slices.Clip(c.Wire)
	if !slices.ContainsFunc(c.Wire, func(l fixtures.WireLine) bool { return l.Dir == fixtures.EOF }) {
		whole.Wire = append(whole.Wire, fixtures.WireLine{T: last.T, Process: last.Process, Dir: fixtures.EOF})
	}
	whole.Wire = append(whole.Wire, fixtures.WireLine{T: last.T, Process: last.Process, Dir: fixtures.Exit})
	return whole.Format()
}

// scenarioOf returns a scenario with the steps that the client of a recording took.
// What the model said is unknown.
func scenarioOf(c *fixtures.Case) []byte {
	topic, _, _ := strings.Cut(c.Scenario, "/")
	var steps []string
	message, waits := 0, false
	wait := func() {
		if waits {
			steps = append(steps, fmt.Sprintf("wait end m%d", message))
		}
		waits = false
	}
	for i, l := range c.Lines() {
		if c.Wire[i].Dir == fixtures.Out {
			if l.Kind == wire.TurnEnd {
				wait()
			}
			continue
		}
		if l.Step == nil {
			continue
		}
		switch l.Kind {
		case wire.Send:
			message++
			waits = true
			steps = append(steps, fmt.Sprintf("send m%d: %s", message, oneLineText(l.Step.Text)))
		case wire.Stop:
			steps = append(steps, "stop")
		case wire.Answer:
			if l.Step.Answer.Word == wire.Allow || l.Step.Answer.Word == wire.Deny {
				steps = append(steps, "answer "+l.Step.Answer.Word)
			}
		}
	}
	wait()
	if message == 0 { // the lines of the client were not recorded
		steps = []string{"send m1: unknown"}
	}
	return []byte("Recorded elsewhere: " + c.Recorded + ".\n\n-- scenario --\ntopic: " + topic +
		"\n-- client --\n" + strings.Join(steps, "\n") + "\n-- model --\n[{\"text\":[\"unknown\"]}]\n")
}

// oneLineText returns a text as a step has it.
func oneLineText(text string) string {
	if text = strings.ReplaceAll(strings.TrimSpace(text), "\n", `\n`); text == "" {
		return "unknown"
	}
	return text
}
