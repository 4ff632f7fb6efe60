package requests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/refusal"
	"github.com/turnspec/turnspec/fixtures/wire"
	"github.com/turnspec/turnspec/fixtures/wire/runtimes"
	"github.com/turnspec/turnspec/recorder/compare"
)

// seen is what a real runtime did. The lines of the client are those before the change.
type seen struct {
	took   time.Duration
	cut    bool // it went no further within its limit, or has exited
	exited bool // no process ran when it was cut

	mu      sync.Mutex
	wire    *fixtures.Case
	process int
	running int
	cutAt   int // how many lines there were when it was cut
	moved   time.Time
	root    string // of the folders of the run, whose name is chosen by chance
}

// exitedTime is how long no process runs in a run that goes no further because none is left.
const exitedTime = 3 * time.Second

// waitExited returns when the runtime has exited and no other process was started, or with ctx.
func (s *seen) waitExited(ctx context.Context) {
	tick := time.NewTicker(exitedTime / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			s.mu.Lock()
			s.cutAt = len(s.wire.Wire)
			s.mu.Unlock()
			return
		case now := <-tick.C:
			s.mu.Lock()
			s.exited = s.process > 0 && s.running == 0 && now.Sub(s.moved) > exitedTime
			exited := s.exited
			s.mu.Unlock()
			if exited {
				return
			}
		}
	}
}

// around keeps what passes between a subject and the launcher that it gets.
func (s *seen) around(of conformance.Subject) conformance.Subject {
	return facts.Between(of, func(_ *conformance.Open, next proc.Launcher) proc.Launcher {
		return proc.LauncherFunc(func(ctx context.Context, c proc.Command) (proc.Process, error) {
			p, err := next.Launch(ctx, c)
			if err != nil {
				return nil, err
			}
			s.mu.Lock()
			s.process++
			s.running++
			n := s.process
			s.root = filepath.Dir(c.Dir)
			s.mu.Unlock()
			return &tapped{
				Process: p, s: s, n: n,
				stdout: io.TeeReader(p.Stdout(), &tapLines{s: s, n: n, dir: fixtures.Out}),
				stderr: io.TeeReader(p.Stderr(), &tapLines{s: s, n: n, dir: fixtures.Err}),
				stdin:  &tappedStdin{p.Stdin(), &tapLines{s: s, n: n, dir: fixtures.In}},
			}, nil
		})
	})
}

type tapped struct {
	proc.Process
	s              *seen
	n              int
	stdout, stderr io.Reader
	stdin          io.WriteCloser
	exited         sync.Once
}

func (p *tapped) Stdin() io.WriteCloser { return p.stdin }
func (p *tapped) Stdout() io.Reader     { return p.stdout }
func (p *tapped) Stderr() io.Reader     { return p.stderr }

func (p *tapped) Wait() proc.Exit {
	e := p.Process.Wait()
	p.exited.Do(func() {
		p.s.mu.Lock()
		p.s.running--
		p.s.mu.Unlock()
		p.s.add(fixtures.WireLine{Process: p.n, Dir: fixtures.Exit, Code: e.Code, Signal: string(e.Signal)})
	})
	return e
}

type tappedStdin struct {
	io.WriteCloser
	lines *tapLines
}

func (w *tappedStdin) Write(b []byte) (int, error) {
	_, _ = w.lines.Write(b)
	return w.WriteCloser.Write(b)
}

// tapLines keeps whole lines.
type tapLines struct {
	s    *seen
	n    int
	dir  fixtures.Dir
	rest []byte
}

func (w *tapLines) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		w.s.add(fixtures.WireLine{Process: w.n, Dir: w.dir, Bytes: bytes.Clone(line)})
		w.rest = bytes.Clone(rest)
	}
}

func (s *seen) add(l fixtures.WireLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved = time.Now()
	s.wire.Wire = append(s.wire.Wire, l)
}

// finish completes what was seen with what the model received.
func (s *seen) finish(witness []fixtures.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wire = &fixtures.Case{
		ID: s.wire.ID, Scenario: s.wire.Scenario, Runtime: s.wire.Runtime, Version: s.wire.Version,
		Wire: slices.Clone(s.wire.Wire), Witness: witness,
	}
	for i := range s.wire.Wire {
		l := &s.wire.Wire[i]
		l.Line = i + 1
		l.Bytes = bytes.ReplaceAll(l.Bytes, []byte(s.root), []byte("/room"))
	}
}

// differing returns the keys of the streams that differ, and of each the lines of b. What the
// client wrote and its turns are no effect.
func differing(a, b *fixtures.Case) map[string][]compare.Line {
	out := map[string][]compare.Line{}
	have := map[string][]compare.Line{}
	for _, s := range compare.Normalize(a) {
		have[s.Key] = s.Lines
	}
	same := func(x, y compare.Line) bool { return x.Text == y.Text }
	for _, s := range compare.Normalize(b) {
		if !slices.EqualFunc(have[s.Key], s.Lines, same) {
			out[s.Key] = s.Lines
		}
		delete(have, s.Key)
	}
	for key := range have {
		out[key] = nil
	}
	return out
}

// outcome states what the runtime did other than in the run without a change, but for the streams
// that differ by chance. value is the text of the fact there.
func (s *seen) outcome(plain *fixtures.Case, noise map[string]bool, value string, c *refusal.Outcome) {
	diff := differing(plain, s.wire)
	for key := range noise {
		delete(diff, key)
	}
	rt := runtimes.Find(s.wire.Runtime)
	switch refused, exit := newRefusal(rt, plain, s.wire), newExit(plain, s.wire); {
	case len(diff) == 0 && !s.cut:
		c.Effect = refusal.EffectNone
	case refused != nil:
		c.Effect, c.Error = refusal.EffectRefuses, jsontext.Value(compare.MaskText(string(refused.reply.Error)))
		c.Accepts = listed(string(c.Error), value)
		c.Error = clipTexts(c.Error)
		c.Of = s.laterRequest(rt, c.Fact, refused)
	case exit != nil && len(s.lastWords(plain, exit.Process)) > 0: // one without a word is the end of another turn
		words := s.lastWords(plain, exit.Process)
		c.Effect, c.Code, c.Message, c.Accepts = refusal.EffectExits, exit.Code, clip(words[0]), listed(strings.Join(words, "\n"), value)
	case s.cut && !s.exited && s.isUnanswered():
		c.Effect = refusal.EffectSilent
	default:
		c.Effect = refusal.EffectDiffers
	}
}

// unread returns the facts of lines after which their process writes nothing more: it may have ended
// before it read them, so that no change of them shows what it makes of it.
func unread(c *fixtures.Case) map[string]bool {
	rt, last := runtimes.Find(c.Runtime), map[int]int{} // the last line that a process wrote
	for i, w := range c.Wire {
		if w.Dir == fixtures.Out {
			last[w.Process] = i
		}
	}
	out := map[string]bool{}
	for i, w := range c.Wire {
		if w.Dir != fixtures.In {
			continue
		}
		for _, fact := range facts.OfLine(rt, w.Bytes) {
			was, ok := out[fact]
			out[fact] = (was || !ok) && i > last[w.Process]
		}
	}
	return out
}

// isUnanswered reports whether the runtime wrote nothing after the client's last line. A client
// that waits for more than the runtime writes is cut, too.
func (s *seen) isUnanswered() bool {
	for i := min(s.cutAt, len(s.wire.Wire)) - 1; i >= 0; i-- {
		switch s.wire.Wire[i].Dir {
		case fixtures.In:
			return true
		case fixtures.Out:
			return false
		case fixtures.Spawn, fixtures.Err, fixtures.EOF, fixtures.Signal, fixtures.Exit, fixtures.Release:
		}
	}
	return true
}

// refused is an error reply of a process.
type refused struct {
	process int
	reply   wire.Line
}

// newRefusal returns the first error reply that the run without the change does not have.
func newRefusal(rt *wire.Runtime, plain, changed *fixtures.Case) *refused {
	had := map[string]bool{}
	for _, l := range plain.Lines() {
		if l.Kind == wire.Reply && l.Failed {
			had[string(l.RepliesTo)] = true
		}
	}
	for i, w := range changed.Wire {
		if w.Dir != fixtures.Out {
			continue
		}
		if l := changed.Wire[i].Read(rt); l.Kind == wire.Reply && l.Failed && !had[string(l.RepliesTo)] {
			return &refused{w.Process, l}
		}
	}
	return nil
}

// laterRequest returns the name of the request that was refused; "" if it is the line of the fact.
func (s *seen) laterRequest(rt *wire.Runtime, fact string, r *refused) string {
	changed, _, _ := strings.Cut(fact, " ")
	for _, w := range s.wire.Wire {
		if w.Dir != fixtures.In || w.Process != r.process {
			continue
		}
		if l := w.Read(rt); l.ID != nil && bytes.Equal(l.ID, r.reply.RepliesTo) && refusal.LineName(&l) != changed {
			return refusal.LineName(&l)
		}
	}
	return ""
}

// newExit returns the exit of a process that ends by itself with another code than without the
// change.
func newExit(plain, changed *fixtures.Case) *fixtures.WireLine {
	codes := map[int]int{}
	for _, w := range plain.Wire {
		if w.Dir == fixtures.Exit {
			codes[w.Process] = w.Code
		}
	}
	for i, w := range changed.Wire {
		if w.Dir == fixtures.Exit && w.Signal == "" && w.Code > 0 && w.Code != codes[w.Process] {
			return &changed.Wire[i]
		}
	}
	return nil
}

// lastWords returns the lines that a process which exits prints on stderr, without those that it
// prints without the change too; if there is none, those on stdout that are no lines of the wire.
func (s *seen) lastWords(plain *fixtures.Case, process int) []string {
	had := map[string]bool{"": true}
	for _, w := range plain.Wire {
		had[printed(&w)] = true
	}
	var errs, outs []string
	for _, w := range s.wire.Wire {
		text := printed(&w)
		switch {
		case w.Process != process || had[text]:
		case w.Dir == fixtures.Err:
			errs = append(errs, text)
		case w.Dir == fixtures.Out && text[0] != '{':
			outs = append(outs, text)
		}
	}
	if len(errs) == 0 {
		return outs
	}
	return errs
}

// printed returns a line of a log without what differs by chance.
func printed(w *fixtures.WireLine) string {
	text := compare.MaskText(strings.TrimSpace(escapes.ReplaceAllString(string(w.Bytes), "")))
	return tempFile.ReplaceAllString(text, "turnspec-<id>")
}

var tempFile = regexp.MustCompile(`turnspec-[0-9]+`)

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// maxWords is how many words of a message are stored. More are prose of the vendor, which the
// recorder elides, too.
const maxWords = 5

func clip(s string) string {
	words := strings.Fields(s)
	if len(words) <= maxWords {
		return s
	}
	kept := strings.Join(words[:maxWords], " ")
	return fmt.Sprintf("%s <elided:%d>", kept, len(s)-len(kept))
}

// clipTexts clips each text of a value; a value that is no JSON stays.
func clipTexts(v jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	from, to := jsontext.NewDecoder(bytes.NewReader(v)), jsontext.NewEncoder(&out)
	for {
		t, err := from.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSpace(out.Bytes())
		}
		if err == nil && t.Kind() == '"' {
			t = jsontext.String(clip(t.String()))
		}
		if err == nil {
			err = to.WriteToken(t)
		}
		if err != nil {
			return v
		}
	}
}

var (
	choices = regexp.MustCompile(`(?i)(?:choices? (?:are|is)|possible values:|expected one of|choices:|one of)[ :]*([^.\]\n]+)`)
	choice  = regexp.MustCompile(`[A-Za-z0-9_-]+`)
)

// listed returns the values that a message lists as those which are accepted: a list that holds the
// value before the change, or that value in quotes. A message with help holds lists of other
// options, too.
func listed(message, value string) []string {
	if value == "" {
		return nil
	}
	for _, m := range choices.FindAllStringSubmatch(message, -1) {
		if all := choice.FindAllString(m[1], -1); slices.Contains(all, value) {
			return all
		}
	}
	for _, quote := range []string{"'", "`", `\"`} {
		if strings.Contains(message, quote+value+quote) {
			return []string{value}
		}
	}
	return nil
}
