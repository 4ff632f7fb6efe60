// Package redact answers one question: what of a recording must not be
// published, and what stands in its place?
//
// Three things leave a recording before it reaches the disk: secrets, what
// names the machine and its people (homes, paths, host, user, ports), and prose
// that belongs to a vendor. Each becomes a placeholder:
//
//	<home> <work> <tmp> <NAME>    an absolute path (NAME: from Facts.Paths)
//	<work:slug>                   the path as a file name: what is no letter and no digit is "-"
//	<work:url>                    the path, URL-escaped
//	<host> <user> <uid> <port>
//	<secret:N>                    the Nth secret of the recording
//	<elided:N>                    N bytes of prose
//
// Nothing is decoded and encoded again: spans are cut out of the bytes as they
// came, so that whatever is odd in a wire stays odd. Deltas of one stream are
// looked at as one text; a placeholder that spans several stands in the first.
package redact

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// Facts says what the recording machine is called, and which words are ours.
// A user or host whose name is a word of the protocols (root, user, claude …) is
// hidden only as part of a path: record as somebody else.
type Facts struct {
	Home, Work, Tmp string // absolute; empty ones are ignored
	User, Host      string
	UID             int
	// Paths names further absolute paths: the runtime's install folder …
	Paths map[string]string
	// Scenario holds the words that are ours and so stay. It may be nil.
	Scenario *fixtures.Scenario
}

// Redactor rewrites cases. It holds no state between cases.
type Redactor struct {
	needles []needle
	words   []word
	uid     string
	ours    []string
	stops   *regexp.Regexp
}

var placeholderName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// New prepares a redactor. It refuses facts that would redact too much.
func New(f Facts) (*Redactor, error) {
	r := &Redactor{uid: strconv.Itoa(f.UID), ours: scenarioWords(f.Scenario)}
	type named struct{ path, name string }
	paths := []named{{f.Home, "home"}, {f.Work, "work"}, {f.Tmp, "tmp"}}
	var names []string
	for p, name := range f.Paths {
		if name == "elided" || name == "secret" || !placeholderName.MatchString(name) {
			return nil, fmt.Errorf("redact: paths: %q is no name for a placeholder", name)
		}
		paths, names = append(paths, named{p, name}), append(names, name)
	}
	slices.Sort(names)
	r.stops = placeholders(names)
	seen := map[string]bool{}
	for _, p := range paths {
		if p.path == "" {
			continue
		}
		clean := filepath.Clean(p.path)
		if !filepath.IsAbs(clean) || clean == "/" {
			return nil, fmt.Errorf("redact: %s: want an absolute path below the root, got %q", p.name, p.path)
		}
		if !seen[clean] {
			seen[clean] = true
			r.needles = append(r.needles, pathNeedles(clean, p.name)...)
		}
	}
	slices.SortStableFunc(r.needles, func(a, b needle) int { return len(b.text) - len(a.text) })
	for _, w := range []word{{f.Host, "<host>"}, {f.User, "<user>"}} {
		if w.text != "" && !reserved[strings.ToLower(w.text)] {
			r.words = append(r.words, w)
		}
	}
	_, err := detector() // so that a broken configuration shows here and not amid a recording
	return r, err
}

// Case rewrites wire and witness in place and adds to c.Elided. Doing it twice
// changes nothing.
func (r *Redactor) Case(c *fixtures.Case) error {
	p := newPass(r)
	if err := p.addWire(c.Wire); err != nil {
		return err
	}
	p.addWitness(c.Witness)
	p.findSecrets()
	p.findNames()
	p.findProse()
	for _, d := range p.docs {
		if err := d.write(); err != nil {
			return err
		}
	}
	c.Elided += p.elided
	return nil
}

// span is a part of a decoded text and what takes its place.
type span struct {
	start, end int
	text       string
}

// apply returns the text with its spans replaced. They are in order and apart.
func apply(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s.start])
		b.WriteString(s.text)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String()
}

// back maps an offset in the applied text to the text before. The offset must
// not lie inside a replacement.
func back(spans []span, off int) int {
	shift := 0
	for _, s := range spans {
		if s.start+shift >= off {
			break
		}
		shift += len(s.text) - (s.end - s.start)
	}
	return off - shift
}

// doc is a run of bytes that is rewritten: a wire line, an argument, a text of
// the witness.
type doc struct {
	name  string // for messages
	raw   []byte
	json  bool
	edits []span // in offsets of raw
	set   func([]byte)
}

func (d *doc) write() error {
	if len(d.edits) == 0 {
		return nil
	}
	slices.SortStableFunc(d.edits, func(a, b span) int { return a.start - b.start })
	out := []byte(apply(string(d.raw), d.edits))
	if d.json && !jsontext.Value(out).IsValid(asItCame...) {
		return fmt.Errorf("redact: %s: replacing spans broke the JSON", d.name)
	}
	d.set(out)
	return nil
}
