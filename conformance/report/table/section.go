package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Section is a part of a page that a measurement writes. It is stored as JSON, because the
// measurement takes too long to be made again for the page.
type Section struct {
	Title string     `json:"title,omitempty"` // Markdown, as "## The suite"
	Text  string     `json:"text,omitempty"`  // Markdown
	Fold  string     `json:"fold,omitempty"`  // what a reader clicks to see the table
	Head  []string   `json:"head,omitempty"`  // see Writer.Markdown
	Rows  [][]string `json:"rows,omitempty"`  // cells in Markdown
}

// Sections writes sections as Markdown.
func (w *Writer) Sections(all []Section) {
	for i, s := range all {
		if i > 0 {
			w.Printf("\n")
		}
		parts := 0
		for _, text := range []string{s.Title, s.Text} {
			if text == "" {
				continue
			}
			if parts++; parts > 1 {
				w.Printf("\n")
			}
			w.Printf("%s\n", text)
		}
		if len(s.Head) == 0 {
			continue
		}
		if parts > 0 {
			w.Printf("\n")
		}
		if s.Fold != "" {
			w.Printf("<details><summary>%s</summary>\n\n", s.Fold)
		}
		w.Markdown(s.Head, s.Rows)
		if s.Fold != "" {
			w.Printf("\n</details>\n")
		}
	}
}

// WriteJSON writes sections as JSON, each row of a table on a line.
func WriteJSON(w io.Writer, all []Section) error {
	var b strings.Builder
	b.WriteString("[")
	for i, s := range all {
		rows := s.Rows
		s.Rows = nil
		head, err := json.Marshal(s, json.Deterministic(true))
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n")
		if len(rows) == 0 {
			b.Write(head)
			continue
		}
		b.Write(bytes.TrimSuffix(head, []byte("}")))
		b.WriteString(`,"rows":[`)
		for k, row := range rows {
			line, err := json.Marshal(row)
			if err != nil {
				return err
			}
			if k > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "\n%s", line)
		}
		b.WriteString("]}")
	}
	b.WriteString("\n]\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// ReadJSON reads what WriteJSON wrote, once or several times.
func ReadJSON(b []byte) ([]Section, error) {
	var out []Section
	d := jsontext.NewDecoder(bytes.NewReader(b))
	for {
		var some []Section
		err := json.UnmarshalDecode(d, &some, json.RejectUnknownMembers(true))
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
}
