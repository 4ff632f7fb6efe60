package tap

import (
	"bytes"

	"github.com/turnspec/turnspec/adapters/lines"
)

// Lines is a writer that splits what it is given into lines. It never fails. What it passes
// to Add belongs to Add. Empty lines are left out, and so is the rest of a line that is longer
// than [lines.MaxLength].
type Lines struct {
	Add  func(line []byte) // without its end
	part []byte
}

// Write implements io.Writer.
func (l *Lines) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, ok := bytes.Cut(b, []byte("\n"))
		l.part = append(l.part, line[:min(len(line), lines.MaxLength-len(l.part))]...)
		if !ok {
			return n, nil
		}
		l.endLine()
		b = rest
	}
}

// Close ends the last line. It implements io.Closer.
func (l *Lines) Close() error {
	l.endLine()
	return nil
}

func (l *Lines) endLine() {
	if line := bytes.TrimSuffix(l.part, []byte("\r")); len(line) > 0 {
		l.Add(bytes.Clone(line))
	}
	l.part = l.part[:0]
}
