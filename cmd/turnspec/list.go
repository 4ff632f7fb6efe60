package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	wires "github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

func listCmd() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list abilities|cases|checks|facts|scenarios",
		Short: "List cases, checks, scenarios, abilities of runtimes, or the facts that checks judge",
		Example: `  turnspec list checks
  turnspec list facts
  turnspec list abilities
  turnspec list cases --json
  turnspec list scenarios`,
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"abilities", "cases", "checks", "facts", "scenarios"},
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := openCorpus(dir)
			if err != nil {
				return err
			}
			var rows any
			var table [][]string
			switch args[0] {
			case "checks":
				rows, table = listChecks()
			case "facts":
				rows, table = listFacts()
			case "abilities":
				rows, table, err = listAbilities(c)
			case "cases":
				rows, table, err = listCases(c)
			case "scenarios":
				rows, table, err = listScenarios(c)
			default:
				err = fmt.Errorf("cannot list %q; want abilities, cases, checks, facts or scenarios", args[0])
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), rows)
			}
			return printTable(cmd.OutOrStdout(), table)
		},
	}
	corpusFlag(cmd, &dir)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printJSON(w io.Writer, v any) error {
	if err := json.MarshalWrite(w, v, json.Deterministic(true), jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

func printTable(w io.Writer, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				fmt.Fprint(tw, "\t")
			}
			fmt.Fprint(tw, cell)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

type checkRow struct {
	ID       string             `json:"id"`
	Severity string             `json:"severity"`
	Level    string             `json:"level"`
	Sentence string             `json:"sentence"`
	Mend     string             `json:"mend,omitempty"`
	Source   string             `json:"source"`
	Tiers    []conformance.Tier `json:"tiers"`
	Harm     []string           `json:"harm,omitempty"`
	Proven   []string           `json:"proven_by,omitempty"`
	Judges   []string           `json:"judges,omitempty"`
}

func listChecks() (rows []checkRow, table [][]string) {
	for _, c := range everyCheck() {
		row := rowOf(c)
		rows = append(rows, row)
		table = append(table, []string{row.ID, row.Severity, row.Sentence})
	}
	return rows, table
}

// listFacts lists the types of events and the fields of their JSON form, with the
// checks that judge them.
func listFacts() (rows []facts.Fact, table [][]string) {
	rows = facts.All(backend.Checks())
	for _, f := range rows {
		judged := strings.Join(f.Checks, " ")
		switch {
		case judged != "":
		case f.Unjudged != "":
			judged = "- not judged: " + f.Unjudged
		default:
			judged = "- not judged: no recording holds it"
		}
		table = append(table, []string{f.Name, judged})
	}
	return rows, table
}

type caseRow struct {
	ID       string `json:"id"`
	Runtime  string `json:"runtime"`
	Version  string `json:"version"`
	Scenario string `json:"scenario"`
	Recorded string `json:"recorded"`
	Lines    int    `json:"lines"`
	Requests int    `json:"requests"`
}

func listCases(c fixtures.Corpus) (rows []caseRow, table [][]string, err error) {
	all, err := c.Cases()
	rows = []caseRow{}
	for _, k := range all {
		rows = append(rows, caseRow{k.ID, k.Runtime, k.Version, k.Scenario, k.Recorded, len(k.Wire), len(k.Witness)})
		table = append(table, []string{k.ID, fmt.Sprintf("%d lines", len(k.Wire)), fmt.Sprintf("%d requests", len(k.Witness))})
	}
	return rows, table, err
}

type scenarioRow struct {
	ID     string   `json:"id"`
	Needs  []string `json:"needs,omitempty"`
	Intent string   `json:"intent"`
}

func listScenarios(c fixtures.Corpus) (rows []scenarioRow, table [][]string, err error) {
	all, err := c.Scenarios()
	rows = []scenarioRow{}
	for _, s := range all {
		intent := oneLine(s.Intent)
		rows = append(rows, scenarioRow{s.ID, s.Abilities(), intent})
		table = append(table, []string{s.ID, intent})
	}
	return rows, table, err
}

type abilityRow struct {
	Ability   string    `json:"ability"`
	Scenarios int       `json:"scenarios"`
	Lacks     []lackRow `json:"lacks,omitempty"`
}

type lackRow struct {
	Runtime string `json:"runtime"`
	Version string `json:"version,omitempty"` // none: every version
	Reason  string `json:"reason"`
}

// listAbilities lists what scenarios need of a runtime, with the runtimes that do not have
// it and the reasons.
func listAbilities(c fixtures.Corpus) (rows []abilityRow, table [][]string, err error) {
	scenarios, err := c.Scenarios()
	if err != nil {
		return nil, nil, err
	}
	count := map[string]int{}
	for _, s := range scenarios {
		for _, ability := range s.Abilities() {
			count[ability]++
		}
	}
	rows = []abilityRow{}
	for _, ability := range slices.Sorted(maps.Keys(count)) {
		row := abilityRow{Ability: ability, Scenarios: count[ability]}
		table = append(table, []string{ability, fmt.Sprintf("%d scenarios", row.Scenarios)})
		for _, rt := range wires.All() {
			for _, l := range rt.Lacks {
				if slices.Contains(l.Abilities, ability) {
					row.Lacks = append(row.Lacks, lackRow{rt.Name, l.Version, l.Reason})
					table = append(table, []string{"", "", strings.TrimSpace("not on "+rt.Name+" "+l.Version) + ": " + l.Reason})
				}
			}
		}
		rows = append(rows, row)
	}
	return rows, table, nil
}
