package redact

import (
	"fmt"
	"maps"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
)

// pass redacts one case.
type pass struct {
	r       *Redactor
	docs    []*doc
	units   []*unit
	secrets []word // longest first
	elided  int
}

// unit is a text that is searched as one: a string, or the deltas of a stream.
type unit struct {
	text   string
	key    string
	name   bool // a member's name
	ours   bool // the client or the scenario wrote it, so it has no vendor's prose
	result bool // the witness's copy of a result
	output bool // a command wrote it, so it has no vendor's prose
	pieces []piece
	names  []span   // in offsets of text
	clean  string   // text, with names replaced
	more   []string // the deltas of a group after the first, until they are joined
	len    int
}

// piece is the place of a part of a unit in a document.
type piece struct {
	doc *doc
	tok token
	off int // in the unit's text
}

func newPass(r *Redactor) *pass { return &pass{r: r} }

func (p *pass) addUnit(d *doc, t token, u unit) {
	u.text, u.key, u.name = t.text, t.key, t.name
	u.pieces = []piece{{d, t, 0}}
	p.units = append(p.units, &u)
}

// addDoc adds a document. known is what is known about each of its strings.
func (p *pass) addDoc(d *doc, known unit) error {
	p.docs = append(p.docs, d)
	d.json = isJSON(d.raw)
	if !d.json {
		p.addUnit(d, plainToken(d.raw), known)
		return nil
	}
	toks, err := tokens(d.raw)
	for _, t := range toks {
		u := known
		u.output = outputKeys[t.key] && !t.name
		p.addUnit(d, t, u)
	}
	return err
}

// outputKeys are members that hold the output of a command.
var outputKeys = map[string]bool{"aggregatedOutput": true, "aggregated_output": true, "stdout": true, "stderr": true}

func (p *pass) addWire(name string, lines []fixtures.WireLine) error {
	g := groups{p: p, rts: runtimes.All(), open: map[string]*unit{}}
	if rt := runtimes.Find(name); rt != nil {
		g.rts = []*wire.Runtime{rt}
	}
	for i := range lines {
		w := &lines[i]
		what := fmt.Sprintf("wire line %d", i+1)
		switch w.Dir {
		case fixtures.Spawn:
			for j := range w.Argv {
				d := &doc{name: what, raw: []byte(w.Argv[j]), set: func(b []byte) { w.Argv[j] = string(b) }}
				p.docs = append(p.docs, d)
				p.addUnit(d, plainToken(d.raw), unit{ours: true})
			}
		case fixtures.In, fixtures.Err:
			d := &doc{name: what, raw: w.Bytes, set: func(b []byte) { w.Bytes = b }}
			if err := p.addDoc(d, unit{ours: w.Dir == fixtures.In}); err != nil {
				return fmt.Errorf("redact: %s: %w", what, err)
			}
		case fixtures.Out:
			d := &doc{name: what, raw: w.Bytes, set: func(b []byte) { w.Bytes = b }}
			first := len(p.units)
			if err := p.addDoc(d, unit{}); err != nil {
				return fmt.Errorf("redact: %s: %w", what, err)
			}
			g.markPrinted(w, first)
			g.joinDeltas(w, first)
		}
	}
	g.setTexts()
	return nil
}

func (p *pass) addWitness(reqs []fixtures.Request) {
	for i := range reqs {
		q := &reqs[i]
		what := fmt.Sprintf("witness request %d", q.Req)
		addString := func(s string, known unit, set func(string)) {
			d := &doc{name: what, raw: []byte(s), set: func(b []byte) { set(string(b)) }}
			p.docs = append(p.docs, d)
			p.addUnit(d, plainToken(d.raw), known)
		}
		for _, id := range slices.Sorted(maps.Keys(q.Results)) {
			addString(q.Results[id], unit{result: true}, func(s string) { q.Results[id] = s })
		}
		for j := range q.Output {
			s := &q.Output[j]
			addString(s.Text, unit{ours: true}, func(v string) { s.Text = v })
			addString(s.Think, unit{ours: true}, func(v string) { s.Think = v })
			if len(s.Input) > 0 {
				// the model server made it from the scenario, so it is valid
				_ = p.addDoc(&doc{name: what, raw: s.Input, set: func(b []byte) { s.Input = b }}, unit{ours: true})
			}
		}
	}
}

// findSecrets searches each distinct text and numbers the secrets.
func (p *pass) findSecrets() {
	type textAndKey struct{ text, key string }
	seen := map[textAndKey]bool{}
	num := map[string]bool{}
	for _, s := range p.secrets {
		num[s.text] = true
	}
	for _, u := range p.units {
		k := textAndKey{u.text, ""}
		if secretKey.MatchString(u.key) {
			k.key = u.key
		}
		if seen[k] {
			continue
		}
		seen[k] = true
		for _, s := range secretsIn(u.text, u.key) {
			if !num[s] {
				num[s] = true
				p.secrets = append(p.secrets, word{s, secretName(len(p.secrets))})
			}
		}
	}
	slices.SortStableFunc(p.secrets, func(a, b word) int { return len(b.text) - len(a.text) })
}

// rewrite makes the edits of the documents.
func (p *pass) rewrite() error {
	for _, d := range p.docs {
		if err := d.rewrite(); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) replaceNames() {
	for _, u := range p.units {
		u.names = p.r.findNames(u.text, u.key, u.name, p.secrets)
		u.clean = replaceSpans(u.text, u.names)
		u.splice(u.names)
	}
}

// elideProse removes text that is not known.
func (p *pass) elideProse() {
	c := newCorpus()
	for _, s := range p.r.known {
		c.addText(replaceSpans(s, p.r.findNames(s, "", false, p.secrets)))
	}
	for _, u := range p.units {
		if u.ours || u.output {
			c.addText(u.clean)
		}
	}
	e := eliding{corpus: c, stops: p.r.stops}
	var results []string
	for _, u := range p.units {
		if u.result {
			results = append(results, u.clean)
		}
	}
	for _, u := range p.units {
		if !u.name {
			e.addPart(u.clean, results)
		}
	}
	e.sortParts()
	for _, u := range p.units {
		if !u.mayElide() {
			continue
		}
		least := proseWords
		if describing[u.key] {
			least = describingWords
		}
		spans := e.findProse(u.clean, least)
		for i := range spans {
			p.elided += spans[i].end - spans[i].start
			spans[i].start, spans[i].end = originalOffset(u.names, spans[i].start), originalOffset(u.names, spans[i].end)
		}
		u.splice(spans)
	}
}

func (u *unit) mayElide() bool {
	return !u.name && !u.ours && !u.output && !kept[u.key] && len(u.clean) > 10
}

// splice replaces spans of the unit's text in the documents that hold it. If a span
// covers several pieces, the first gets the placeholder.
func (u *unit) splice(spans []span) {
	for _, s := range spans {
		repl := s.text
		for i := range u.pieces {
			c := &u.pieces[i]
			start, end := max(s.start-c.off, 0), min(s.end-c.off, len(c.tok.text))
			if start >= end {
				continue
			}
			c.doc.edits = append(c.doc.edits, span{c.tok.offset(start), c.tok.offset(end), repl})
			repl = ""
		}
	}
}
