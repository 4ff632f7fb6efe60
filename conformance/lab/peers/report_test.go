//go:build peers

package peers

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report/table"
)

// graded is the result of a peer.
type graded struct {
	peer   peer
	on     string // the version of the runtime
	took   time.Duration
	report *conformance.Report
}

// plugged returns an error if the peer did not work at all: then its report is
// meaningless.
func (g *graded) plugged() error {
	n := g.count()
	if n[conformance.HarnessError] > 0 || n[conformance.Pass] < 2*g.report.Cases {
		return fmt.Errorf("%s passed %d checks of %d cases, with %d errors of the harness: is it installed whole? `turnspec smoke %s` shows one turn",
			g.peer.name, n[conformance.Pass], g.report.Cases, n[conformance.HarnessError], g.peer.flags())
	}
	return nil
}

func (g *graded) count() map[conformance.Verdict]int {
	out := map[conformance.Verdict]int{}
	for _, r := range g.report.Results {
		out[r.Verdict]++
	}
	return out
}

// seen is a failed check, with its reason if it is a known failure.
type seen struct {
	check, reason string
	first         string // the first case that fails
	cases         int
	told          string // the problem of a new failure
}

func (g *graded) failures() []*seen {
	var out []*seen
	for _, r := range g.report.Results {
		if !r.Verdict.Bad() {
			continue
		}
		s := seen{check: r.Check.ID, first: r.Case}
		if r.KnownFailure != nil {
			s.reason = r.KnownFailure.Reason
		} else if len(r.Problems) > 0 {
			s.told, _, _ = strings.Cut(r.Problems[0].Text, "\n")
		}
		i := slices.IndexFunc(out, func(x *seen) bool { return x.check == s.check && x.reason == s.reason })
		if i < 0 {
			out = append(out, &s)
			i = len(out) - 1
		}
		out[i].cases++
	}
	slices.SortStableFunc(out, func(a, b *seen) int { return b.cases - a.cases })
	return out
}

// good returns the topics of checks that the peer passes without a failure, those with
// the most passes first.
func (g *graded) good() string {
	passed, failed := map[string]int{}, map[string]bool{}
	for _, r := range g.report.Results {
		topic, _, _ := strings.Cut(r.Check.ID, ".")
		switch {
		case r.Verdict == conformance.Pass:
			passed[topic]++
		case r.Verdict.Bad():
			failed[topic] = true
		}
	}
	topics := slices.DeleteFunc(slices.Sorted(maps.Keys(passed)), func(t string) bool { return failed[t] })
	slices.SortStableFunc(topics, func(a, b string) int { return passed[b] - passed[a] })
	for i, t := range topics {
		topics[i] = fmt.Sprintf("%s %d", t, passed[t])
	}
	return strings.Join(topics, ", ")
}

// fresh prints each new failure.
func (g *graded) fresh() {
	for _, r := range g.report.Results {
		if r.Verdict.Bad() && r.KnownFailure == nil && len(r.Problems) > 0 {
			told, _, _ := strings.Cut(r.Problems[0].Text, "\n")
			fmt.Printf("  new: %s %s: %s\n", r.Check.ID, r.Case, told)
		}
	}
}

// flags returns the turnspec flags that run the peer, from the root of this module.
func (p peer) flags() string {
	if p.dialect != "" {
		return fmt.Sprintf("--runtime %s --subject http://127.0.0.1:0 --dialect %s -- node .tmp/bridges/%s.mjs", p.runtime, p.dialect, p.name)
	}
	if p.acp != "" {
		return fmt.Sprintf("--runtime %s --subject acp -- node .tmp/peers/node_modules/%s/%s", p.runtime, p.pack, p.acp)
	}
	return fmt.Sprintf("--runtime %s --subject 'node .tmp/peers/%s.mjs'", p.runtime, p.name)
}

// heading returns the heading of the failures of a peer.
func (p peer) heading() string {
	switch p.dialect {
	case "":
		return "## " + p.pack
	case "usechat":
		return "### " + p.pack + " behind useChat"
	}
	return "### " + p.pack + " behind HttpAgent"
}

// again returns the command that runs one case of one check.
func (p peer) again(s *seen) string {
	return fmt.Sprintf("turnspec run --tier process --case %s --check %s %s", s.first, s.check, p.flags())
}

// sections returns the report.
func sections(all []*graded) ([]table.Section, error) {
	var rows [][]string
	for _, g := range all {
		version, err := installed(g.peer.pack)
		if err != nil {
			return nil, err
		}
		if g.peer.with != "" {
			with, err := installed(g.peer.with)
			if err != nil {
				return nil, err
			}
			version += " with " + strings.TrimSuffix(g.peer.with, "1") + " " + with
		}
		n, most, fresh := g.count(), "", 0
		fails := g.failures()
		for _, s := range fails {
			if s.reason == "" {
				fresh += s.cases
			}
		}
		for _, k := range g.report.KnownFailures { // the known file lists the most important failure first
			if most == "" && k.Failed > 0 {
				most = "`" + k.Check + "`: " + k.Reason
			}
		}
		row := []string{g.peer.pack, version, g.peer.runtime + " " + g.on}
		for _, count := range []int{g.report.Cases, n[conformance.Pass], n[conformance.Sent], n[conformance.Fail], fresh, n[conformance.NotExpressible], n[conformance.Unrecorded]} {
			row = append(row, strconv.Itoa(count))
		}
		rows = append(rows, append(row, g.good(), table.Cell(most)))
	}
	out := []table.Section{{Rows: rows, Head: []string{
		"peer", "version", "on", table.Align + "cases", table.Align + "pass", table.Align + "sent", table.Align + "fail", table.Align + "new",
		table.Align + "not expressible", table.Align + "unrecorded", "topics of checks without a failure, and their passes", "most important failure",
	}}}
	for _, g := range all {
		fails := g.failures()
		if len(fails) == 0 {
			continue
		}
		rows = nil
		for _, s := range fails {
			what := s.reason
			if what == "" {
				what = "New, not checked yet: " + s.told
			}
			rows = append(rows, []string{"`" + s.check + "`", strconv.Itoa(s.cases), table.Cell(what), "`" + g.peer.again(s) + "`"})
		}
		out = append(out, table.Section{Title: g.peer.heading(), Head: []string{"check", table.Align + "cases", "observation", "reproduce"}, Rows: rows})
	}
	return out, nil
}

// The files of which `make docs` makes the page of the peers.
const (
	peersFile   = "results.json"
	bridgesFile = "bridges.json"
)

// publish prints the report, stores it in the folder of the peers, and writes it into file if
// -update is set. whole reports whether all peers ran.
func publish(all []*graded, whole bool, file string) error {
	report, err := sections(all)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	w := table.New(&text)
	w.Sections(report)
	fmt.Print("\n", text.String())
	if err := errors.Join(w.Err(), os.WriteFile(filepath.Join(folder, "report.md"), text.Bytes(), 0o644)); err != nil || !*update {
		return err
	}
	if !whole {
		return errors.New("-update needs all peers: some did not run")
	}
	var data bytes.Buffer
	if err := table.WriteJSON(&data, report); err != nil {
		return err
	}
	return os.WriteFile(file, data.Bytes(), 0o644)
}
