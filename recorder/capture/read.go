package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	linereader "github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/recorder/registry"
)

// The formats that Read accepts, with the form of a line.
const (
	Plain      = "plain"      // a line of the runtime's stdout
	Timed      = "timed"      // {"t_ms":12,"dir":"in|out|err","line":…}
	Tape       = "tape"       // {"dir":"read","frame":{…}} and {"dir":"write","data":"…"}, of claude-agent-cassette
	Tap        = "tap"        // {"t":"0.012s","p":1,"out":{…}}, of package tap
	Transcript = "transcript" // {"type":"expect_outbound|emit_inbound","frame":{…}}, of T3 Code's testkit
)

// Recording is a recording of another tool.
type Recording struct {
	Format           string
	Runtime, Version string // if the format has them
	Wire             []fixtures.WireLine
}

// anyLine holds the members of a line of any format.
type anyLine struct {
	Type  string         `json:"type"`
	Dir   string         `json:"dir"`
	TMS   *float64       `json:"t_ms"`
	Line  jsontext.Value `json:"line"`
	Frame jsontext.Value `json:"frame"`
	Data  *string        `json:"data"` // of a tape: the line that the client wrote
	After float64        `json:"afterMs"`
	T     string         `json:"t"` // of a line of a case
	P     int            `json:"p"`

	Provider string `json:"provider"`
	Version  string `json:"version"`
}

// formatOf returns the format of a line.
func formatOf(f *anyLine) string {
	switch {
	case f.Frame != nil && (f.Dir == "read" || f.Dir == "write"), f.Data != nil && f.Dir == "write":
		return Tape
	case f.Dir != "" && f.Line != nil:
		return Timed
	case f.T != "" && f.P > 0:
		return Tap
	case f.Type == "transcript_start" || f.Type == "runtime_exit" || f.Frame != nil && (f.Type == "expect_outbound" || f.Type == "emit_inbound"):
		return Transcript
	}
	return Plain
}

// runtimeOf returns the runtime that another tool names so, or "".
func runtimeOf(alias string) string {
	for _, r := range registry.All() {
		if slices.Contains(r.Aliases, alias) {
			return r.Wire.Name
		}
	}
	return ""
}

// LineError is an error about a line of the input.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// Read reads a recording. Its first line selects the format. Lines are not encoded
// again. A line that is no JSON object is an error, except in a format that says
// where it comes from.
func Read(in io.Reader) (*Recording, error) {
	rec := &Recording{}
	lines := linereader.NewReader(in, 0)
	var at time.Duration
	for n := 1; ; n++ {
		b, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &LineError{n, err}
		}
		b = bytes.TrimSpace(b)
		if len(b) == 0 {
			continue
		}
		var f anyLine
		switch v := jsontext.Value(b); {
		case v.Kind() != '{' || !v.IsValid(wire.AsWritten):
			return nil, &LineError{n, fmt.Errorf("it is no JSON object: %.60q; remove it if another program wrote it", b)}
		case wire.Decode(b, &f) != nil:
			f = anyLine{} // a plain line may have members of other types
		}
		format := formatOf(&f)
		if rec.Format == "" {
			rec.Format = format
		}
		if rec.Format == Plain {
			format = Plain
		}
		if format != rec.Format {
			return nil, &LineError{n, fmt.Errorf("it is not in the format %s of the first line", rec.Format)}
		}
		dir, line := fixtures.Out, b
		switch format {
		case Tap:
			l, err := fixtures.ParseWireLine(string(b))
			if err != nil {
				return nil, &LineError{n, err}
			}
			at = max(at, l.T)
			l.T = at
			rec.Wire = append(rec.Wire, l)
			continue
		case Timed:
			if f.TMS != nil {
				at = max(at, time.Duration(*f.TMS*float64(time.Millisecond)))
			}
			switch f.Dir {
			case "in", "out", "err":
				dir = fixtures.Dir(f.Dir)
			default:
				continue // notes of the other tool
			}
			line = f.Line
			var text string
			if f.Line.Kind() == '"' && wire.Decode(f.Line, &text) == nil {
				line = []byte(text)
			}
		case Tape:
			if line = f.Frame; f.Dir == "write" {
				dir = fixtures.In
			}
			if f.Data != nil { // one write may hold several lines
				for part := range strings.Lines(*f.Data) {
					if part = strings.TrimSpace(part); part != "" {
						rec.Wire = append(rec.Wire, fixtures.WireLine{T: at, Process: 1, Dir: dir, Bytes: []byte(part)})
					}
				}
				continue
			}
		case Transcript:
			at += time.Duration(f.After * float64(time.Millisecond))
			switch f.Type {
			case "transcript_start":
				rec.Runtime, rec.Version = runtimeOf(f.Provider), f.Version
				continue
			case "expect_outbound":
				dir = fixtures.In
			case "runtime_exit":
				continue
			}
			line = f.Frame
		}
		rec.Wire = append(rec.Wire, fixtures.WireLine{T: at, Process: 1, Dir: dir, Bytes: bytes.Clone(line)})
	}
	if rec.Format == Tap {
		rec.Wire = withoutClientsEnd(rec.Wire)
	}
	if !slices.ContainsFunc(rec.Wire, func(l fixtures.WireLine) bool { return l.Bytes != nil }) {
		return nil, errors.New("it holds no line of a runtime or its client")
	}
	return rec, nil
}

// withoutClientsEnd leaves out that a program was ended by a signal while its stdin was open.
// A tap does not see who sent it, and most often that is the client that closes its session.
// With it, a stand-in would end by itself.
func withoutClientsEnd(lines []fixtures.WireLine) []fixtures.WireLine {
	if len(lines) == 0 {
		return lines
	}
	last := &lines[len(lines)-1]
	isSignal := slices.Contains([]string{string(proc.SIGTERM), string(proc.SIGINT), string(proc.SIGHUP)}, last.Signal) ||
		slices.Contains([]int{128 + 15, 128 + 2, 128 + 1}, last.Code)
	if last.Dir != fixtures.Exit || !isSignal || slices.ContainsFunc(lines, func(l fixtures.WireLine) bool { return l.Dir == fixtures.EOF }) {
		return lines
	}
	return lines[:len(lines)-1]
}
