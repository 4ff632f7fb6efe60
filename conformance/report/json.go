package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/conformance"
)

// Schema is the JSON Schema of the JSON form.
//
//go:embed report.schema.json
var Schema []byte

// JSON writes the document for programs and for `turnspec merge`. Each verdict and
// each play has a line of its own, for tools that read lines.
func JSON(w io.Writer, d *Document) error {
	b, err := json.Marshal(d, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(b))
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	out.WriteByte('{')
	for sep := "\n"; dec.PeekKind() == '"'; sep = ",\n" {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s: ", sep, name)
		if err := writeMember(&out, dec); err != nil {
			return err
		}
	}
	out.WriteString("\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// writeMember writes a value. Each element of an array has a line of its own.
func writeMember(out *bytes.Buffer, dec *jsontext.Decoder) error {
	if dec.PeekKind() != '[' {
		v, err := dec.ReadValue()
		out.Write(v)
		return err
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	out.WriteByte('[')
	sep := "\n    "
	for ; dec.PeekKind() != ']'; sep = ",\n    " {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		out.WriteString(sep)
		out.Write(v)
	}
	if sep[0] == ',' {
		out.WriteString("\n  ")
	}
	out.WriteByte(']')
	_, err := dec.ReadToken()
	return err
}

// Read reads what JSON wrote. Errors name file.
func Read(file string, b []byte) (*Document, error) {
	var head struct {
		Format *int `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	switch {
	case head.Format == nil:
		return nil, fmt.Errorf("%s: not a report: `turnspec run --json` and `--report json=FILE` write one", file)
	case *head.Format != Format:
		return nil, fmt.Errorf("%s: format %d, but this program reads format %d: use the turnspec that wrote it", file, *head.Format, Format)
	}
	var d Document
	if err := json.Unmarshal(b, &d, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &d, nil
}

// CaseLine writes the verdicts on a case, of results, as a line of JSON: an object with case
// and results, which are as in the JSON form, without those that are not applicable. About
// is that of the run.
func CaseLine(w io.Writer, results []conformance.Result, about About) error {
	if len(results) == 0 {
		return nil
	}
	about.Declare = nil // it judges each failure again
	d := New(&conformance.Report{Results: results, Cases: 1}, about)
	line := struct {
		Case    string  `json:"case"`
		Results []Entry `json:"results"`
	}{Case: results[0].Case, Results: []Entry{}}
	for _, e := range d.Results {
		if e.Verdict != string(conformance.NotApplicable) {
			line.Results = append(line.Results, e)
		}
	}
	b, err := json.Marshal(line, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}
