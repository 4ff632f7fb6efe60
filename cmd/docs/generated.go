package main

import (
	"bytes"
	"context"
	_ "embed"
	"io/fs"
	"strings"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/lab/defects"
	"github.com/turnspec/turnspec/conformance/lab/drift"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/conformance/report/table"
	"github.com/turnspec/turnspec/fixtures"
)

//go:embed generated.txtar
var generatedPages []byte

// generated returns the Markdown pages that are not files of the repository, by their names:
// they are written from Go, or from the stored results of measurements that take hours.
func (s *site) generated(ctx context.Context) (map[string][]byte, error) {
	functions := template.FuncMap{
		"facts":        factsTable,
		"bugs":         bugsTable,
		"knownChanges": func() (string, error) { return knownChangesTable(ctx) },
		"results": func(file string) (string, error) {
			b, err := fs.ReadFile(s.repository, file)
			if err != nil {
				return "", err
			}
			all, err := table.ReadJSON(b)
			if err != nil {
				return "", err
			}
			return inMarkdown(all...)
		},
	}
	out := map[string][]byte{}
	for _, f := range txtar.Parse(generatedPages).Files {
		page, err := template.New(f.Name).Funcs(functions).Parse(string(f.Data))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := page.Execute(&b, nil); err != nil {
			return nil, err
		}
		out[f.Name] = b.Bytes()
	}
	return out, nil
}

func inMarkdown(sections ...table.Section) (string, error) {
	var b strings.Builder
	w := table.New(&b)
	w.Sections(sections)
	return b.String(), w.Err()
}

// factsTable lists the facts with the checks that judge each.
func factsTable() (string, error) {
	s := table.Section{Head: []string{"the fact", "required", "the checks"}}
	for _, f := range facts.All(backend.Checks()) {
		required, judged := "", "not judged: "+f.Unjudged
		if f.Required {
			required = "yes"
		}
		switch {
		case len(f.Checks) > 0:
			judged = "`" + strings.Join(f.Checks, "` `") + "`"
		case f.Unjudged == "":
			judged = "not judged: no recording holds it"
		}
		s.Rows = append(s.Rows, []string{"`" + f.Name + "`", required, judged})
	}
	return inMarkdown(s)
}

// bugsTable lists the public bugs.
func bugsTable() (string, error) {
	s := table.Section{Head: []string{"the bug", "reported", "the broken adapter", "the check"}}
	for _, b := range defects.Bugs() {
		s.Rows = append(s.Rows, []string{b.What, b.Reported, "`" + b.Defect + "`", "`" + b.Check + "`"})
	}
	return inMarkdown(s)
}

// knownChangesTable lists the known changes between versions of runtimes, as drift finds them.
func knownChangesTable(ctx context.Context) (string, error) {
	references := map[string]conformance.Subject{}
	for _, a := range reference.All() {
		name := a.Capabilities().Runtime
		references[name] = backend.Adapter(name, a)
	}
	found, err := drift.FindKnownChanges(ctx, fixtures.Embedded(), references, false)
	if err != nil {
		return "", err
	}
	s := table.Section{Head: []string{"runtime", "from", "to", "known change", "finding"}}
	for _, k := range found {
		s.Rows = append(s.Rows, []string{k.Runtime, k.From, k.To, k.Change, k.Finding})
	}
	return inMarkdown(s)
}
