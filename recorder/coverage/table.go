package coverage

import (
	"fmt"
	"slices"
	"strings"
)

// PartNames returns the names of a report's parts, in order.
func PartNames() []string { return []string{Messages, Requests, Items, Fields, Values} }

// CheckPartName returns an error if no part has that name.
func CheckPartName(name string) error {
	if !slices.Contains(PartNames(), name) {
		return fmt.Errorf("no part %q: use one of %s", name, strings.Join(PartNames(), ", "))
	}
	return nil
}

// States returns the states of a scenario, in order.
func States() []string { return []string{string(Performed), string(Cannot), string(NotRecorded)} }

// Table returns a row of names and one row for each version.
func Table(reports []*Report) [][]string {
	head := append([]string{"runtime", "version", "performed", "cannot", "not recorded"}, PartNames()...)
	rows := [][]string{head}
	for _, rep := range reports {
		row := []string{rep.Runtime, rep.Version, fmt.Sprint(rep.Cases), fmt.Sprint(len(rep.Scenarios[Cannot])), fmt.Sprint(len(rep.Scenarios[NotRecorded]))}
		if rep.Parts == nil {
			row = append(row, slices.Repeat([]string{"-"}, len(PartNames()))...)
		}
		for _, p := range rep.Parts {
			if p.All == 0 { // the schema has none
				row = append(row, "-")
				continue
			}
			row = append(row, fmt.Sprintf("%d/%d", p.Seen, p.All))
		}
		rows = append(rows, row)
	}
	return rows
}

// Markdown returns the table in Markdown.
func Markdown(reports []*Report) string {
	var b strings.Builder
	for i, row := range Table(reports) {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}
