package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// chosenRuntimes returns the versions to record on, and a message for each pinned
// version that is not installed. It fails if the newest version of a runtime, or a
// version that is named, is missing.
func chosenRuntimes(newest bool, names []string) (pins []runtimes.Pin, missing []string, err error) {
	if len(names) == 0 {
		names = runtimes.Kinds()
	}
	must, err := runtimes.Choose(false, names...)
	if err != nil {
		return nil, nil, err
	}
	all, err := runtimes.Choose(!newest, names...)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range all {
		_, err := runtimes.Find("", p.Name, p.Version)
		switch {
		case err == nil:
			pins = append(pins, p)
		case slices.Contains(must, p):
			return nil, nil, err
		default:
			missing = append(missing, fmt.Sprintf("%s is not installed and left out: turnspec runtimes install %s@%s", p, p.Name, p.Version))
		}
	}
	return pins, missing, nil
}

// chosenScenarios loads the scenarios that the arguments name: files or ids.
func chosenScenarios(corpus fixtures.Corpus, args []string) ([]*fixtures.Scenario, error) {
	if len(args) == 0 {
		return corpus.Scenarios()
	}
	var out []*fixtures.Scenario
	for _, a := range args {
		s, err := loadScenario(corpus, a)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// everyNth returns the first scenario of each topic and every nth after it: always
// the same part of the corpus, with every topic in it.
func everyNth(all []*fixtures.Scenario, n int) []*fixtures.Scenario {
	seen := map[string]int{}
	return slices.DeleteFunc(slices.Clone(all), func(s *fixtures.Scenario) bool {
		seen[s.Topic]++
		return (seen[s.Topic]-1)%n != 0
	})
}

func loadScenario(corpus fixtures.Corpus, arg string) (*fixtures.Scenario, error) {
	if !isScenarioFile(arg) {
		s, err := corpus.LoadScenario(arg)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("no scenario %q%s; `turnspec list scenarios` prints all", arg, near(arg, scenarioIDs()))
		}
		return s, err
	}
	b, err := os.ReadFile(arg)
	if err != nil {
		return nil, err
	}
	return fixtures.ParseScenario(arg, scenarioFileID(arg, b), b)
}

func isScenarioFile(arg string) bool { return strings.HasSuffix(arg, ".txtar") }

var topicLine = regexp.MustCompile(`(?m)^topic: *(\S+) *$`)

// scenarioFileID returns the id of a scenario file: its topic, which need not be
// the name of its folder, and its name.
func scenarioFileID(file string, b []byte) string {
	topic := "unknown"
	if m := topicLine.FindSubmatch(b); m != nil {
		topic = string(m[1])
	}
	return topic + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
}

// recordCorpus returns the corpus on disk and its folder. Without one, scenarios
// come from the embedded corpus, if the arguments say where the cases go.
func recordCorpus(dir, out string, args []string) (string, fixtures.Corpus, error) {
	disk, corpus, err := corpusOnDisk(dir)
	files := len(args) > 0 && !slices.ContainsFunc(args, func(a string) bool { return !isScenarioFile(a) })
	if err != nil && dir == "" && (files || out != "") {
		return "", fixtures.Embedded(), nil
	}
	return disk, corpus, err
}
