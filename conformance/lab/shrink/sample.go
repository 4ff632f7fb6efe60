package shrink

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
)

// sample is a case and its scenario. Its methods that remove something return a changed
// copy.
type sample struct {
	scenario []byte // the content of the file
	parsed   *fixtures.Scenario
	recorded *fixtures.Case
}

// load loads a case and its scenario.
func load(c fixtures.Corpus, id string) (*sample, error) {
	recorded, err := c.LoadCase(id)
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(c.FS, path.Join("scenarios", recorded.Scenario)+".txtar")
	if err != nil {
		return nil, err
	}
	x := &sample{scenario: text, recorded: recorded}
	return x.reload()
}

// reload formats the sample and parses it again, so that its lines have the numbers of the
// new files and its wire has the sum of the head.
func (x *sample) reload() (*sample, error) {
	b, err := x.recorded.Format()
	if err != nil {
		return nil, err
	}
	out := &sample{scenario: x.scenario}
	if out.recorded, err = fixtures.ParseCase(x.recorded.ID+".txtar", x.recorded.ID, b); err != nil {
		return nil, err
	}
	id := x.recorded.Scenario
	out.parsed, err = fixtures.ParseScenario(path.Join("scenarios", id)+".txtar", id, x.scenario)
	return out, err
}

func (x *sample) size() Size {
	b, err := x.recorded.Format()
	if err != nil {
		b = nil
	}
	return Size{Lines: len(x.recorded.Wire), Steps: len(x.parsed.Client), Bytes: len(b) + len(x.scenario)}
}

// over returns a corpus that holds the sample and the other files of below.
func (x *sample) over(below fixtures.Corpus) fixtures.Corpus {
	top, err := Overlay(below, x.scenario, x.recorded)
	if err != nil { // reload has formatted it before
		return below
	}
	return top
}

// withoutLines returns a copy without lines of the scenario's file, by number from 1.
func (x *sample) withoutLines(numbers ...int) *sample {
	lines := strings.SplitAfter(string(x.scenario), "\n")
	var kept []string
	for i, l := range lines {
		if !slices.Contains(numbers, i+1) {
			kept = append(kept, l)
		}
	}
	return &sample{scenario: []byte(strings.Join(kept, "")), recorded: x.recorded}
}

// withWire returns a copy with another wire.
func (x *sample) withWire(wire []fixtures.WireLine) *sample {
	c := *x.recorded
	c.Wire = wire
	return &sample{scenario: x.scenario, recorded: &c}
}

// withWitness returns a copy with another witness, whose requests it numbers.
func (x *sample) withWitness(requests []fixtures.Request) *sample {
	c := *x.recorded
	c.Witness = slices.Clone(requests)
	for i := range c.Witness {
		c.Witness[i].Req = i + 1
	}
	return &sample{scenario: x.scenario, recorded: &c}
}
