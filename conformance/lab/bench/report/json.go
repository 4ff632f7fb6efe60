package report

import (
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Schema is the JSON Schema of what JSON writes.
//
//go:embed schema.json
var Schema []byte

// JSON writes a report in the form of Schema.
func JSON(w io.Writer, r Report) error {
	if err := json.MarshalWrite(w, r, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Read reads what JSON wrote.
func Read(file string) (Report, error) {
	r := Report{Document: &bench.Document{}}
	b, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s is no report of `turnspec bench --json`: %w", file, err)
	}
	if r.Format != 1 {
		return r, fmt.Errorf("%s: a report of format %d; this program reads format 1", file, r.Format)
	}
	return r, nil
}
