package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance"
)

// maxSlowest bounds the cases that a text lists.
const maxSlowest = 10

// leastSlow is how long a case takes at least to be listed in a text.
const leastSlow = 5 * time.Second

// CaseTime is how long a case took in real time.
type CaseTime struct {
	Case      string `json:"case"`
	Subject   string `json:"subject"`
	Took      int64  `json:"took_ns"`            // all runs without a fault
	Faults    int64  `json:"faults_ns,omitzero"` // all runs with a fault
	FaultRuns int    `json:"runs_with_a_fault,omitzero"`
	Waits     []Wait `json:"waits,omitempty"` // of the last run without a fault
}

func (c CaseTime) total() time.Duration { return time.Duration(c.Took + c.Faults) }

// Wait is a wait for something that did not happen.
type Wait struct {
	For  string `json:"for"`
	Took int64  `json:"took_ns"`
}

// caseTimes adds up the times of each case.
func caseTimes(all []conformance.Timing) []CaseTime {
	index := map[[2]string]int{}
	var out []CaseTime
	for _, t := range all {
		k := [2]string{t.Case, t.Subject}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, CaseTime{Case: t.Case, Subject: t.Subject})
		}
		if t.Fault != "" {
			out[i].Faults += int64(t.Took)
			out[i].FaultRuns++
			continue
		}
		out[i].Took += int64(t.Took)
		out[i].Waits = nil // a case may be done again
		for _, w := range t.Waits {
			out[i].Waits = append(out[i].Waits, Wait{w.For, int64(w.Took)})
		}
	}
	return out
}

// slowest returns the cases that took longest.
func (d *Document) slowest() []CaseTime {
	all := slices.Clone(d.Times)
	slices.SortStableFunc(all, func(a, b CaseTime) int {
		return cmp.Or(cmp.Compare(b.total(), a.total()), cmp.Compare(a.Case, b.Case))
	})
	return all[:min(len(all), maxSlowest)]
}

// slowLines returns a line for each slow case, with what the suite waited for.
func (d *Document) slowLines() []string {
	var out []string
	for _, c := range d.slowest() {
		if c.total() < leastSlow {
			break
		}
		out = append(out, c.Case+": "+c.describe())
	}
	return out
}

// describe says how long a case took, and what the suite waited for.
func (c CaseTime) describe() string {
	line := seconds(c.Took)
	if c.FaultRuns > 0 {
		line += fmt.Sprintf(" and %s in %d runs with a fault", seconds(c.Faults), c.FaultRuns)
	}
	waits := make([]string, len(c.Waits))
	for i, w := range c.Waits {
		waits[i] = w.For + " (" + seconds(w.Took) + ")"
	}
	if len(waits) > 0 {
		line += "; the suite waited in vain for " + strings.Join(waits, ", ")
	}
	return line
}

// timeFinder returns a function that finds the time of a case; its zero value if it is
// not known.
func (d *Document) timeFinder() func(subject, name string) CaseTime {
	all := make(map[[2]string]CaseTime, len(d.Times))
	for _, c := range d.Times {
		all[[2]string{c.Subject, c.Case}] = c
	}
	return func(subject, name string) CaseTime { return all[[2]string{subject, name}] }
}

func seconds(ns int64) string { return fmt.Sprintf("%.1f s", time.Duration(ns).Seconds()) }

// writeSlowest writes the slowest cases.
func writeSlowest(b *strings.Builder, d *Document, st Style) {
	for i, line := range d.slowLines() {
		if i == 0 {
			b.WriteString("\n" + st.Dim("the slowest cases:") + "\n")
		}
		fmt.Fprintf(b, "  %s\n", line)
	}
}
