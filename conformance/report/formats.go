package report

import "io"

// Writer writes a document in one of its forms.
type Writer = func(io.Writer, *Document) error

var formats = []struct {
	name  string
	write Writer
}{
	{"json", JSON},
	{"junit", JUnit},
	{"markdown", Markdown},
	{"html", HTML},
}

// Formats are the names of the forms that a file may have.
func Formats() []string {
	var out []string
	for _, f := range formats {
		out = append(out, f.name)
	}
	return out
}

// Named is the writer of a form, or nil.
func Named(format string) Writer {
	for _, f := range formats {
		if f.name == format {
			return f.write
		}
	}
	return nil
}
