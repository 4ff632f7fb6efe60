package dialect_test

import (
	"bytes"
	"cmp"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/dialect/dialects"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
)

// eachGolden returns the goldens of all cases.
func (v vocabulary) eachGolden() *streamgolden.Folder {
	return &streamgolden.Folder{
		Dir:  filepath.Join("testdata", strings.ReplaceAll(v.name, " ", "-"), "each"),
		Show: func(id string) string { return "turnspec emit " + cmp.Or(v.emit, v.name) + " " + id },
	}
}

// TestOneMessageChanged changes a message of one case. Only this case must differ from the goldens.
func TestOneMessageChanged(t *testing.T) {
	id := fixtures.Embedded().Resolve("claude/newest/permission/allow")
	for _, v := range vocabularies {
		lines, _ := v.translate(streamgolden.Events(t, fixtures.Embedded(), id), nil)
		f := v.eachGolden()
		f.Add(id, lines)
		if got, err := f.Compare(true); err != nil || len(got) > 0 {
			t.Errorf("%s: %v, %q", v.name, err, got)
		}
		f.Add(id, lines[1:])
		got, err := f.Compare(true)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], id+": ") || !strings.Contains(got[0], "messages (was") {
			t.Errorf("%s: a message is missing: %v, %q", v.name, err, got)
		}
		lines[1] = bytes.Replace(lines[1], []byte("1"), []byte("2"), 1)
		f.Add(id, lines)
		got, err = f.Compare(true)
		if err != nil || len(got) != 1 || !strings.HasPrefix(got[0], id+": ") || !strings.Contains(got[0], "other contents") {
			t.Errorf("%s: a message is another one: %v, %q", v.name, err, got)
		}
	}
}

// TestEmitWritesTheSame compares the translators of the tests with those of turnspec emit.
func TestEmitWritesTheSame(t *testing.T) {
	id := fixtures.Embedded().Resolve("claude/newest/permission/allow")
	for _, v := range vocabularies {
		d, ok := dialects.Of(cmp.Or(v.emit, v.name))
		if !ok {
			t.Fatalf("no dialect of %s", v.name)
		}
		translate := d.New()
		var lines [][]byte
		for _, e := range streamgolden.Events(t, fixtures.Embedded(), id) {
			for _, m := range translate(e) {
				lines = append(lines, m.Line)
			}
		}
		f := v.eachGolden()
		f.Add(id, lines)
		if got, err := f.Compare(true); err != nil || len(got) > 0 {
			t.Errorf("%v, %q", err, got)
		}
	}
}
