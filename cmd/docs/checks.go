package main

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	levels "github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/fakes/fault"
)

// checkData is what the page of a check shows.
type checkData struct {
	*conformance.Check
	Level   string
	Why     string // what a failure means for the suite
	Faults  []operator
	Bugs    []defects.Bug
	Defects []defects.Defect
	Peers   []peerFailure
	Example example
	Run     string
}

type operator struct{ Name, Doc string }

// peerFailure is a known failure of an adapter that others maintain.
type peerFailure struct{ Peer, Case, Reason string }

// addChecks adds a page for each check, and their list.
func (s *site) addChecks(ctx context.Context, examples exampleSource) error {
	peers, err := s.peerFailures()
	if err != nil {
		return err
	}
	shown, err := examples(ctx, s.checks)
	if err != nil {
		return err
	}
	for _, c := range s.checks {
		d := checkData{Check: c, Level: levels.LevelOf(c), Peers: peers[c.ID], Example: shown[c.ID], Defects: proving(c), Run: "turnspec run --check " + c.ID}
		if slices.Equal(c.Tiers, []conformance.Tier{conformance.TierLive}) {
			d.Run = "turnspec run --tier live --check " + c.ID
		}
		d.Why = "A failure fails the suite."
		if c.Severity != conformance.Must {
			d.Why = "A failure is reported and does not fail the suite."
		}
		for _, name := range c.Faults {
			op, err := fault.Named(name)
			if err != nil {
				return fmt.Errorf("%s: %w", c.ID, err)
			}
			d.Faults = append(d.Faults, operator{name, op.Doc})
		}
		for _, b := range defects.Bugs() {
			if b.Check == c.ID {
				d.Bugs = append(d.Bugs, b)
			}
		}
		if err := s.addTemplate(checkPage(c.ID), c.ID, "check.html", d); err != nil {
			return err
		}
	}
	return s.addTemplate("checks/index.html", "Checks", "checks.html", byTopic(s.checks))
}

// topic is a list of pages with a heading.
type topic struct {
	Name  string
	Pages []page
}

type page struct{ ID, File, Sentence string }

// byTopic groups checks by the first part of their ids, in the order of the suite.
func byTopic(all []*conformance.Check) (out []topic) {
	for _, c := range all {
		name, _, _ := strings.Cut(c.ID, ".")
		i := slices.IndexFunc(out, func(t topic) bool { return t.Name == name })
		if i < 0 {
			i = len(out)
			out = append(out, topic{Name: name})
		}
		out[i].Pages = append(out[i].Pages, page{c.ID, c.ID + ".html", c.Sentence})
	}
	return out
}

// peerFailures returns the known failures of adapters that others maintain, by check.
func (s *site) peerFailures() (map[string][]peerFailure, error) {
	files, err := fs.Glob(s.repository, "conformance/lab/peers/known/*.txt")
	if err != nil {
		return nil, err
	}
	out := map[string][]peerFailure{}
	for _, name := range files {
		b, err := fs.ReadFile(s.repository, name)
		if err != nil {
			return nil, err
		}
		known, err := conformance.ParseKnownFailures(name, b)
		if err != nil {
			return nil, err
		}
		for _, k := range known {
			out[k.Check] = append(out[k.Check], peerFailure{strings.TrimSuffix(path.Base(name), ".txt"), k.Case, k.Reason})
		}
	}
	return out, nil
}
