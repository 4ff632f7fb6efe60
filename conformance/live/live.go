// Package live answers one question: does a subject hold on the real runtime?
//
// It is the only package that joins conformance with the recorder, which knows
// how to find a runtime, keep it apart and point it at the scripted model. Only
// this tier can prove what is about reaching the model or the disk.
package live

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fakes/mcp"
	"github.com/turnspec/turnspec/fakes/model"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/registry"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// Config says what is run live.
type Config struct {
	Corpus    fixtures.Corpus // tells how runs went when they were recorded; zero: the embedded one
	Scenarios []*fixtures.Scenario
	Subjects  []conformance.Subject
	Checks    []*conformance.Check
	Version   string // of the runtimes; "": the newest
	Runtimes  string // folder of installed runtimes; "": the default
	Progress  func(done, total int, id string)
}

// Run lets each subject drive its runtime through each scenario that is not
// excluded there. The process should be isolated (package isolate) before.
func Run(ctx context.Context, cfg Config) (*conformance.Report, error) {
	type job struct {
		s   conformance.Subject
		rt  runtimes.Runtime
		scn *fixtures.Scenario
	}
	if cfg.Corpus.FS == nil {
		cfg.Corpus = fixtures.Embedded()
	}
	var jobs []job
	for _, s := range cfg.Subjects {
		rt, err := runtimes.Find(cfg.Runtimes, s.Runtime(), cfg.Version)
		if err != nil {
			return nil, err
		}
		for _, scn := range cfg.Scenarios {
			if scn.Excluded(rt.Name, rt.Version) == "" && scn.Expressible(rt.Name) == "" && !aside(scn) {
				jobs = append(jobs, job{s, rt, scn})
			}
		}
	}
	rep := &conformance.Report{Cases: len(jobs)}
	for i, j := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		run, err := one(ctx, cfg.Corpus, j.s, j.rt, j.scn)
		if err == nil {
			err = ctx.Err() // a run that was cancelled proves nothing
		}
		if err != nil {
			return nil, fmt.Errorf("%s on %s %s: %w", j.scn.ID, j.rt.Name, j.rt.Version, err)
		}
		for _, c := range cfg.Checks {
			if slices.Contains(c.Tiers, conformance.TierLive) {
				rep.Results = append(rep.Results, judge.Apply(c, &conformance.Trial{Run: run}, conformance.TierLive))
			}
		}
		rep.Results = append(rep.Results, completed(run))
		if cfg.Progress != nil {
			cfg.Progress(i+1, len(jobs), j.rt.Name+"/"+j.scn.ID)
		}
	}
	return rep, nil
}

// performed is the rule that a live run came to its end: without it the other
// checks would judge half a run.
var performed = &conformance.Check{
	ID: "live.performed", Severity: conformance.Must, Source: "a live run that stops halfway proves nothing", Tiers: []conformance.Tier{conformance.TierLive},
	Sentence: "The subject performs every act of the scenario on the real runtime, and the model is asked nothing else.",
}

// Checks are the checks of this tier alone.
func Checks() []*conformance.Check { return []*conformance.Check{performed} }

func completed(r *conformance.Run) conformance.Result {
	c := *performed
	c.Judge = func(t *conformance.Trial, f *conformance.Finding) {
		f.Asserted(len(t.Steps))
		for _, a := range t.Steps {
			switch {
			case a.Step.Refused && a.Err == nil:
				f.Failf("%s:%d: %s was to be refused, and was not", t.Scenario.File, a.Step.Line, a.Step.Verb)
			case a.Err != nil && !a.Step.Refused && !a.Step.Late: // there it is right to refuse
				f.Failf("%s:%d: %s: %v", t.Scenario.File, a.Step.Line, a.Step.Verb, a.Err)
			}
		}
		if t.Hang != "" {
			f.Failf("%s", t.Hang)
		}
	}
	res := judge.Apply(&c, &conformance.Trial{Run: r}, conformance.TierLive)
	res.Check = performed
	return res
}

func one(ctx context.Context, corpus fixtures.Corpus, s conformance.Subject, rt runtimes.Runtime, scn *fixtures.Scenario) (*conformance.Run, error) {
	rooms, err := isolate.NewRooms()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rooms.Remove() }()
	if err := perform.WriteFiles(rooms.Work, scn.Workspace); err != nil {
		return nil, err
	}
	if err := mcp.Install(rooms.Bin, scn.Servers); err != nil {
		return nil, err
	}
	srv, err := model.Start(scn, model.Options{Dir: rooms.Work})
	if err != nil {
		return nil, err
	}
	defer func() { _ = srv.Close() }()
	conn, err := registry.Connect(rt.Name, rt.Version, scn.Asking(), scn.Needs, srv.URL())
	if err != nil {
		return nil, err
	}
	unprompted := 0
	switch c, err := corpus.LoadCase(path.Join(rt.Name, rt.Version, scn.ID)); {
	case err == nil:
		unprompted = perform.UnpromptedTurns(c.Witness)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	return perform.Live(ctx, s, scn, perform.Runtime{
		Name: rt.Name, Version: rt.Version, Command: []string{rt.Binary}, Args: conn.Args,
		Env: append(rooms.Env(rt.Path...), conn.Env...), Dir: rooms.Work, Model: srv, Slug: conn.Model,
		Unprompted: unprompted,
	}), nil
}

// aside reports whether something in the scenario happens beside the session,
// such as a turn of another thread of its process: in play the recording holds
// it, and live nobody is there who could do it.
func aside(s *fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Client, func(a fixtures.Step) bool { return a.Verb == fixtures.VerbAside })
}
