package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// corpusFlag adds --corpus, a folder to read instead of the embedded corpus.
func corpusFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "corpus", "", "folder or zip archive with cases; scenarios that it lacks are the embedded ones (default: the embedded corpus)")
	_ = cmd.MarkFlagDirname("corpus")
}

// openCorpus opens the corpus in dir; "" is the embedded one.
func openCorpus(dir string) (fixtures.Corpus, error) {
	if dir == "" {
		return fixtures.Embedded(), nil
	}
	if strings.HasSuffix(dir, ".zip") {
		return zippedCorpus(dir)
	}
	c := fixtures.OverEmbedded(os.DirFS(dir), filepath.ToSlash(filepath.Clean(dir)))
	if info, err := os.Stat(filepath.Join(dir, "scenarios")); err == nil && info.IsDir() {
		return c, nil
	}
	if ids, err := c.CaseIDs(); err != nil || len(ids) == 0 {
		return fixtures.Corpus{}, fmt.Errorf("%s is not a corpus: it has no folder scenarios, and no case RUNTIME/VERSION/TOPIC/NAME.txtar", dir)
	}
	return c, nil
}

// corpusOnDisk returns the folder to write recordings and goldens to, and its corpus.
func corpusOnDisk(dir string) (string, fixtures.Corpus, error) {
	dir, err := corpusFolder(dir)
	if err != nil {
		return "", fixtures.Corpus{}, err
	}
	c, err := openCorpus(dir)
	return dir, c, err
}

// corpusFolder returns dir, or the folder fixtures in the working directory or above it.
func corpusFolder(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if dir = upward(wd); dir == "" {
		return "", errors.New("no folder fixtures/scenarios here or above: run this in a clone, or name the folder with --corpus")
	}
	if rel, err := filepath.Rel(wd, dir); err == nil {
		dir = rel
	}
	return dir, nil
}

func upward(dir string) string {
	for {
		found := filepath.Join(dir, "fixtures")
		if info, err := os.Stat(filepath.Join(found, "scenarios")); err == nil && info.IsDir() {
			return found
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// matching returns the ids of the cases that match a glob.
func matching(c fixtures.Corpus, glob string) ([]string, error) {
	glob = c.Resolve(glob)
	ids, err := c.CaseIDs()
	if err != nil {
		return nil, err
	}
	if slices.Contains(ids, glob) {
		return []string{glob}, nil
	}
	var out []string
	for _, id := range ids {
		if conformance.Match(glob, id) {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		return nil, noCase(glob, ids)
	}
	return out, nil
}

// noCase returns the error of a glob that matches none of the ids. It suggests cases of
// the glob's runtime, or scenarios if the glob names no runtime.
func noCase(glob string, ids []string) error {
	runtime, _, _ := fixtures.SplitCaseID(glob)
	near := nearCases(glob, casesOf(runtime, ids))
	if near == "" {
		near = nearScenarios(glob, ids)
	}
	return fmt.Errorf("no case %q%s; `turnspec list cases` prints all", glob, near)
}

// nearCases returns what near does of the newest cases, or "" if there are none.
func nearCases(glob string, ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return near(glob, fixtures.Newest(ids))
}

// nearScenarios returns what near does of the scenarios of cases.
func nearScenarios(glob string, ids []string) string {
	var scenarios []string
	for _, id := range ids {
		_, _, scenario := fixtures.SplitCaseID(id)
		scenarios = append(scenarios, scenario)
	}
	slices.Sort(scenarios)
	return near(strings.TrimSuffix(glob, "/*"), slices.Compact(scenarios))
}

// casesOf returns the ids of a runtime.
func casesOf(runtime string, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, runtime+"/") })
}

// matchingOf returns the cases of a runtime, "" for any, that a glob matches.
func matchingOf(c fixtures.Corpus, runtime, glob string) ([]string, error) {
	out, err := matching(c, glob)
	if err == nil || runtime == "" {
		return out, err
	}
	ids, idsErr := c.CaseIDs()
	of := casesOf(runtime, ids)
	if idsErr != nil || len(of) == 0 || strings.HasPrefix(glob, runtime+"/") {
		return nil, err
	}
	return nil, fmt.Errorf("no case of %s %q%s; `turnspec list cases` prints all", runtime, glob, nearScenarios(glob, of))
}

// versionsOf returns the versions of a runtime with a case.
func versionsOf(c fixtures.Corpus, runtime string) ([]string, error) {
	ids, err := c.CaseIDs()
	var out []string
	for _, id := range casesOf(runtime, ids) {
		if _, version, _ := fixtures.SplitCaseID(id); !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	return out, err
}

// oneCase loads the case that a glob matches, in its newest version.
func oneCase(c fixtures.Corpus, glob string) (*fixtures.Case, error) {
	ids, err := matching(c, glob)
	if err != nil {
		return nil, err
	}
	if ids = fixtures.Newest(ids); len(ids) > 1 {
		return nil, fmt.Errorf("%q matches %d cases; name one of them: %s", glob, len(ids), strings.Join(ids, ", "))
	}
	return c.LoadCase(ids[0])
}

// near returns "; near: …" with ids that are similar to a name, or "".
func near(name string, ids []string) string {
	if len(ids) == 0 {
		return ": there is none at all"
	}
	ids = slices.Clone(ids)
	dist := make(map[string]int, len(ids))
	for _, id := range ids {
		dist[id] = distance(name, id)
		// A name may be the end of an id: permission/alow.
		for i, r := range id {
			if r == '/' || r == '.' {
				dist[id] = min(dist[id], distance(name, id[i+1:]))
			}
		}
	}
	sort.SliceStable(ids, func(i, j int) bool {
		a, b := ids[i], ids[j]
		if dist[a] != dist[b] {
			return dist[a] < dist[b]
		}
		return common(name, a) > common(name, b)
	})
	return "; near: " + strings.Join(ids[:min(3, len(ids))], ", ")
}

// common returns the length of the common prefix of two names.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance returns the edit distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost++
			}
			diag = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
