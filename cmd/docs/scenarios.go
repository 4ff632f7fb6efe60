package main

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fakes/fault"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// scenarioData is what the page of a scenario shows.
type scenarioData struct {
	*fixtures.Scenario
	Steps    string
	Model    string // the replies of the model, as the file has them
	Runtimes []performance
	Faults   []operator
	Source   string
}

// performance says what a version of a runtime does with a scenario.
type performance struct {
	Runtime, Version string
	Case             string // its case, or "" with the reason
	Reason           string
	Address          string // of the case
}

// addScenarios adds a page for each scenario, and their list.
func (s *site) addScenarios() error {
	corpus := fixtures.Embedded()
	all, err := corpus.Scenarios()
	if err != nil {
		return err
	}
	ids, err := corpus.CaseIDs()
	if err != nil {
		return err
	}
	versions := map[string][]string{} // by runtime
	for _, runtime := range runtimes.Names() {
		if versions[runtime], err = corpus.Versions(runtime); err != nil {
			return err
		}
	}
	var topics []topic
	for _, x := range all {
		d := scenarioData{Scenario: x, Steps: steps(x), Source: source + "fixtures/scenarios/" + x.ID + ".txtar"}
		d.Model = modelPart(s, x.ID)
		d.Runtimes = performances(x, versions, ids)
		for _, name := range x.Faults {
			op, err := fault.Named(name)
			if err != nil {
				return fmt.Errorf("%s: %w", x.ID, err)
			}
			d.Faults = append(d.Faults, operator{name, op.Doc})
		}
		if err := s.addTemplate(scenarioPage(x.ID), x.ID, "scenario.html", d); err != nil {
			return err
		}
		name, rest, _ := strings.Cut(x.ID, "/")
		if len(topics) == 0 || topics[len(topics)-1].Name != name {
			topics = append(topics, topic{Name: name})
		}
		t := &topics[len(topics)-1]
		t.Pages = append(t.Pages, page{x.ID, name + "/" + rest + ".html", x.Intent})
	}
	return s.addTemplate("scenarios/index.html", "Scenarios", "scenarios.html", topics)
}

// steps returns the steps of a scenario as its file has them.
func steps(x *fixtures.Scenario) string {
	var b strings.Builder
	for _, a := range x.Client {
		fmt.Fprintln(&b, a.Source)
	}
	return b.String()
}

// modelPart returns the file of a scenario from its first script of the model on.
func modelPart(s *site, id string) string {
	b, err := fs.ReadFile(s.repository, "fixtures/scenarios/"+id+".txtar")
	if err != nil {
		return "" // a scenario has a file
	}
	_, rest, ok := strings.Cut(string(b), "\n-- model")
	if !ok {
		return ""
	}
	return "-- model" + rest
}

// performances returns what each version of each runtime does with the scenario.
func performances(x *fixtures.Scenario, versions map[string][]string, ids []string) (out []performance) {
	for _, runtime := range runtimes.Names() {
		for _, version := range slices.Backward(versions[runtime]) {
			p := performance{Runtime: runtime, Version: version, Reason: x.Excluded(runtime, version)}
			if id := runtime + "/" + version + "/" + x.ID; slices.Contains(ids, id) {
				p.Case, p.Reason, p.Address = id, "", source+"fixtures/"+id+".txtar"
			}
			out = append(out, p)
		}
	}
	return out
}
