package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/redact"
)

// linted is the outcome of a lint.
type linted struct {
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Problems []problem `json:"problems"`
}

type problem struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Kind string `json:"kind"` // corpus, path, secret or prose
	Text string `json:"text"`
}

func lintCmd() *cobra.Command {
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lint [FILE…]",
		Short: "Check that fixtures are consistent and safe to publish",
		Long: `Lint checks the corpus, or the case files named.

A file must not contain a secret, a home, host, user or absolute path, or vendor
prose longer than a line. A case states its origin, its wire matches the checksum
in its head, its times never decrease, and its size is within the limit. In a whole
corpus, every scenario has a case on every version or states why not, every tool
call is on the wire or declared hidden, and no golden lacks its case.

Exit codes: 0 no problem, 1 problems found, 2 the files cannot be read.`,
		Example: `  turnspec lint
  turnspec lint --corpus fixtures --json
  turnspec lint fixtures/codex/0.120.0/text/plain.txtar`,
		RunE: func(cmd *cobra.Command, args []string) error {
			rep, err := lint(dir, args)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				err = json.MarshalWrite(out, rep, jsontext.WithIndent("  "))
				fmt.Fprintln(out)
			} else {
				rep.text(out)
			}
			if err == nil && len(rep.Problems) > 0 {
				return errFailed
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&dir, "corpus", "", "folder with scenarios and cases (default: the embedded corpus)")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (r *linted) text(out io.Writer) {
	for _, p := range r.Problems {
		switch {
		case p.Line > 0:
			fmt.Fprintf(out, "%s:%d: %s: %s\n", p.File, p.Line, p.Kind, p.Text)
		default:
			fmt.Fprintln(out, p.Text) // the text names the file
		}
	}
	fmt.Fprintf(out, "%d files, %.1f MB, %d problems\n", r.Files, float64(r.Bytes)/1e6, len(r.Problems))
}

// lint checks the files named, or a whole corpus.
func lint(dir string, files []string) (*linted, error) {
	corpus, err := openCorpus(dir)
	if err != nil {
		return nil, err
	}
	scenarios, err := corpus.Scenarios()
	if err != nil {
		return nil, err
	}
	rep := &linted{Problems: []problem{}}
	if len(files) > 0 {
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			rep.file(file, b, scenarios)
			rep.alone(file, b, scenarios)
		}
		return rep, nil
	}
	for _, err := range corpus.Lint() {
		rep.Problems = append(rep.Problems, problem{Kind: "corpus", Text: err.Error()})
	}
	err = fs.WalkDir(corpus.FS, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".txtar") && !strings.HasSuffix(path, ".golden") {
			return err
		}
		b, err := fs.ReadFile(corpus.FS, path)
		if err != nil {
			return err
		}
		if !strings.HasSuffix(path, ".txtar") || strings.HasPrefix(path, "scenarios/") {
			rep.Files, rep.Bytes = rep.Files+1, rep.Bytes+int64(len(b))
			return nil // written by people, or derived from a case that is checked
		}
		rep.file(filepath.ToSlash(filepath.Join(corpus.Root, path)), b, scenarios)
		return nil
	})
	return rep, err
}

// alone checks a file without the rest of the corpus.
func (r *linted) alone(file string, b []byte, scenarios []*fixtures.Scenario) {
	add := func(format string, a ...any) {
		r.Problems = append(r.Problems, problem{File: file, Kind: "corpus", Text: fmt.Sprintf(format, a...)})
	}
	c, err := fixtures.ParseCase(file, strings.TrimSuffix(filepath.ToSlash(file), ".txtar"), b)
	if err != nil {
		add("%v", err)
		return
	}
	if c.Recorded == "" {
		add("%s: the head has no `recorded:` line", file)
	}
	large := slices.ContainsFunc(scenarios, func(s *fixtures.Scenario) bool { return s.ID == c.Scenario && s.Large != "" })
	if len(b) > fixtures.MaxCase && !large {
		add("%s: %d bytes, more than %d", file, len(b), fixtures.MaxCase)
	}
}

// file checks one file. The words of its own scenario are not vendor prose.
func (r *linted) file(name string, b []byte, scenarios []*fixtures.Scenario) {
	r.Files, r.Bytes = r.Files+1, r.Bytes+int64(len(b))
	own := scenarios
	for _, s := range scenarios {
		if strings.HasSuffix(name, "/"+s.ID+".txtar") {
			own = []*fixtures.Scenario{s}
		}
	}
	for _, f := range redact.Lint(b, own...) {
		r.Problems = append(r.Problems, problem{name, f.Line, f.Kind, f.Text})
	}
}
