// Package redact removes from a recording what must not be published: secrets, names of
// the machine and its users (homes, paths, host, user, ports), and the prose of a vendor.
// It is not part of the stable interface. It runs before anything is written to the disk.
// Each removed text becomes a placeholder:
//
//	<home> <work> <tmp> <NAME>    an absolute path (NAME: from Facts.Paths)
//	<work:slug>                   the path as a file name: "-" for each byte that is no letter or digit
//	<work:url>                    the path, URL-escaped
//	<host> <user> <uid> <port>
//	<secret:N>                    the Nth secret of the recording
//	<elided:N>                    N bytes of prose
//
// No line is encoded again. Spans are cut out of the bytes, so that anything
// unusual in a line is kept. The deltas of one stream are searched as one text; a
// placeholder that spans several of them is written into the first. A text of the wire that
// the model received in a result, alone, among other words or quoted, has the same
// placeholders in the witness.
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
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Facts are the names of the machine that made the recording, and the words that
// may be published. A user or host name that is a word of the protocols (root,
// user, agent …) is replaced only as part of a path: record as another user.
type Facts struct {
	Home, Work, Tmp string // absolute; empty ones are ignored
	User, Host      string
	UID             int
	// Paths names more absolute paths, such as the folder of the runtime.
	Paths map[string]string
	// Scenario holds the words that are not a vendor's. It may be nil.
	Scenario *fixtures.Scenario
}

// Redactor rewrites cases. It keeps no state between cases.
type Redactor struct {
	needles []needle
	words   []word
	uid     string
	known   []string
	stops   *regexp.Regexp
}

var placeholderName = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// New returns a redactor. It rejects facts that would redact too much.
func New(f Facts) (*Redactor, error) {
	r := &Redactor{uid: strconv.Itoa(f.UID), known: scenarioTexts(f.Scenario)}
	type namedPath struct{ path, name string }
	paths := []namedPath{{f.Home, "home"}, {f.Work, "work"}, {f.Tmp, "tmp"}}
	var names []string
	for p, name := range f.Paths {
		if name == "elided" || name == "secret" || !placeholderName.MatchString(name) {
			return nil, fmt.Errorf("redact: paths: %q cannot name a placeholder: use a-z, 0-9 and -", name)
		}
		paths, names = append(paths, namedPath{p, name}), append(names, name)
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
	_, err := secretDetector() // so that a broken configuration fails here and not during a recording
	return r, err
}

// Case rewrites wire and witness in place and adds to c.Elided. A second call
// changes nothing.
func (r *Redactor) Case(c *fixtures.Case) error {
	p := newPass(r)
	if err := p.addWire(c.Runtime, c.Wire); err != nil {
		return err
	}
	p.addWitness(c.Witness)
	p.findSecrets()
	p.replaceNames()
	p.elideProse()
	if err := p.rewrite(); err != nil {
		return err
	}
	c.Elided += p.elided
	return nil
}

// span is a part of a decoded text and its replacement.
type span struct {
	start, end int
	text       string
}

// replaceSpans returns the text with its spans replaced. They are sorted and do not
// overlap.
func replaceSpans(text string, spans []span) string {
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

// originalOffset maps an offset in the replaced text to the original text. The
// offset must not be inside a replacement.
func originalOffset(spans []span, off int) int {
	shift := 0
	for _, s := range spans {
		if s.start+shift >= off {
			break
		}
		shift += len(s.text) - (s.end - s.start)
	}
	return off - shift
}

// doc is a text that is rewritten: a line of the wire, an argument, a text of the
// witness.
type doc struct {
	name  string // for messages
	raw   []byte
	json  bool
	edits []span // in offsets of raw
	set   func([]byte)
}

func (d *doc) rewrite() error {
	if len(d.edits) == 0 {
		return nil
	}
	slices.SortStableFunc(d.edits, func(a, b span) int { return a.start - b.start })
	out := []byte(replaceSpans(string(d.raw), d.edits))
	if d.json && !jsontext.Value(out).IsValid(wire.AsWritten) {
		return fmt.Errorf("redact: %s: replacing spans broke the JSON", d.name)
	}
	d.set(out)
	return nil
}
