package report

import "io"

// Writer writes a document in one form.
type Writer = func(io.Writer, *Document) error

var formats = []struct {
	name  string
	write Writer
}{
	{"json", JSON},
	{"junit", JUnit},
	{"markdown", Markdown},
	{"html", HTML},
	{"sarif", SARIF},
}

// Formats returns the names of the forms of a file.
func Formats() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

// Named returns the writer of a form, or nil.
func Named(format string) Writer {
	for _, f := range formats {
		if f.name == format {
			return f.write
		}
	}
	return nil
}
