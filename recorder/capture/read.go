package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
)

// The formats that Read knows, by what one line of them is.
const (
	Plain      = "plain"      // a line of the runtime's stdout
	Timed      = "timed"      // {"t_ms":12,"dir":"in|out|err","line":…}
	Tape       = "tape"       // {"dir":"read|write","frame":{…}}, of claude-agent-cassette
	Transcript = "transcript" // {"type":"expect_outbound|emit_inbound","frame":{…}}, of T3 Code's testkit
)

// Recording is what was read.
type Recording struct {
	Format           string
	Runtime, Version string // where the format tells them
	Wire             []fixtures.WireLine
}

// foreign is the union of the lines of all formats.
type foreign struct {
	Type  string         `json:"type"`
	Dir   string         `json:"dir"`
	TMS   *float64       `json:"t_ms"`
	Line  jsontext.Value `json:"line"`
	Frame jsontext.Value `json:"frame"`
	After float64        `json:"afterMs"`

	Provider string `json:"provider"`
	Version  string `json:"version"`
}

var asItCame = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// formatOf says of what format a line is.
func formatOf(f *foreign) string {
	switch {
	case f.Frame != nil && (f.Dir == "read" || f.Dir == "write"):
		return Tape
	case f.Dir != "" && f.Line != nil:
		return Timed
	case f.Type == "transcript_start" || f.Type == "runtime_exit" || f.Frame != nil && (f.Type == "expect_outbound" || f.Type == "emit_inbound"):
		return Transcript
	}
	return Plain
}

// Read reads a recording; its first line says of which format it is. Lines are
// never re-encoded.
func Read(in io.Reader) (*Recording, error) {
	rec := &Recording{}
	lines := proc.NewLines(in, 0)
	var at time.Duration
	for n := 1; ; n++ {
		b, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		b = bytes.TrimSpace(b)
		if len(b) == 0 {
			continue
		}
		var f foreign
		if json.Unmarshal(b, &f, asItCame) != nil {
			f = foreign{} // a plain line may be anything
		}
		format := formatOf(&f)
		if rec.Format == "" {
			rec.Format = format
		}
		if rec.Format == Plain {
			format = Plain
		}
		if format != rec.Format {
			return nil, fmt.Errorf("line %d: it is no line of the format %s, of which the first line was", n, rec.Format)
		}
		dir, line := fixtures.Out, b
		switch format {
		case Timed:
			if f.TMS != nil {
				at = max(at, time.Duration(*f.TMS*float64(time.Millisecond)))
			}
			switch f.Dir {
			case "in", "out", "err":
				dir = fixtures.Dir(f.Dir)
			default:
				continue // notes of the recorder
			}
			line = f.Line
			var text string
			if f.Line.Kind() == '"' && json.Unmarshal(f.Line, &text, asItCame) == nil {
				line = []byte(text)
			}
		case Tape:
			if line = f.Frame; f.Dir == "write" {
				dir = fixtures.In
			}
		case Transcript:
			at += time.Duration(f.After * float64(time.Millisecond))
			switch f.Type {
			case "transcript_start":
				rec.Runtime, rec.Version = map[string]string{"codex": "codex", "claudeAgent": "claude"}[f.Provider], f.Version
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
	if len(rec.Wire) == 0 {
		return nil, errors.New("it holds no line of a wire")
	}
	return rec, nil
}
