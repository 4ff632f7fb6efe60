package paint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnspec/turnspec/adapters/backend/page/browser"
	"github.com/turnspec/turnspec/conformance/lab/bench"
)

// Run measures. Page and control take turns, each in a tab of its own.
func (c Config) Run(ctx context.Context) (doc *bench.Document, err error) {
	if c.Repeats < 1 || c.Deltas < 1 {
		return nil, errors.New("nothing to measure: a run wants repeats and deltas")
	}
	b, err := browser.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	s, err := startServer(ctx, c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r := &run{Config: c, contenders: c.contenders(), server: s, browser: b, doc: bench.NewDocument(c.Turnspec, c.Repeats)}
	r.doc.Loads = []bench.Load{{Name: Turn, Deltas: turnDeltas, Rate: 1 / turnGap.Seconds(), Sessions: 1}, {Name: Flood, Deltas: c.Deltas, Sessions: 1}}
	for _, n := range c.Events {
		r.doc.Loads = append(r.doc.Loads, bench.Load{Name: storedLoad(n), Sessions: 1})
	}
	for repeat := range c.Repeats {
		for i := range r.contenders { // in turns, and each is the first as often as the others
			if err := r.measure(ctx, r.contenders[(i+repeat)%len(r.contenders)]); err != nil {
				return nil, err
			}
		}
	}
	r.doc.Finish()
	return r.doc, nil
}

// storedLoad returns the name of the load of a stored session.
func storedLoad(events int) string { return fmt.Sprintf("stored-%d", events) }

// contender is a page under measurement: the expressions that drive it. Its address holds
// the session that it shows first, after #session=.
type contender struct {
	name   string
	path   string // of its page
	ready  string // is true when the page shows its first session, and listens to it
	mark   string // begins to mark stages
	send   string // sends a message to the session %s
	choose string // opens the stored session %s
}

var contenders = []contender{
	{
		name: Page, path: "/", ready: `globalThis.turnspec !== undefined && document.getElementById("facts").textContent === "source"`, mark: `turnspec.markStages()`,
		send:   `(document.getElementById("text").value = "Go on", document.getElementById("composer").requestSubmit(), "%s")`,
		choose: `location.hash = "session=%s"`,
	},
	{
		name: Control, path: "/control", ready: `globalThis.control !== undefined && document.getElementById("chat").textContent.startsWith("source")`, mark: `control.markStages()`,
		send: `(control.send("%s"), true)`, choose: `(control.open("%s"), true)`,
	},
}

// useChat listens when it has sent a message, as its transport expects.
var useChat = contender{
	name: UseChat, path: "/usechat", ready: `globalThis.usechat !== undefined`, mark: `usechat.markStages()`,
	send: `(usechat.send("%s"), true)`, choose: `(usechat.open("%s"), true)`,
}

// contenders returns those that take part.
func (c Config) contenders() []contender {
	if c.UseChat == "" {
		return contenders
	}
	return append(slices.Clone(contenders), useChat)
}

// run builds a document.
type run struct {
	Config
	contenders []contender
	server     *server
	browser    *browser.Browser
	doc        *bench.Document
	done       int
}

func (r *run) progress(what string) {
	if r.Progress != nil {
		r.Progress(r.done, r.Repeats*len(r.contenders)*(2+len(r.Events)), what)
	}
	r.done++
}

// measure makes one measurement of each load.
func (r *run) measure(ctx context.Context, c contender) error {
	for _, load := range []string{Turn, Flood} {
		r.progress(c.name + ", " + load)
		if err := r.live(ctx, c, load); err != nil {
			return fmt.Errorf("%s, load %s: %w", c.name, load, err)
		}
	}
	for _, n := range r.Events {
		r.progress(c.name + ", " + storedLoad(n))
		if err := r.stored(ctx, c, n); err != nil {
			return fmt.Errorf("%s, load %s: %w", c.name, storedLoad(n), err)
		}
	}
	return nil
}

// add adds a figure of a repeat.
func (r *run) add(load string, c contender, measure string, value float64) {
	m := bench.MeasureNamed(measure)
	for i := range r.doc.Series {
		s := &r.doc.Series[i]
		if s.Load == load && s.Contender == c.name && s.Measure == measure {
			s.Samples = append(s.Samples, value)
			return
		}
	}
	r.doc.Series = append(r.doc.Series, bench.Series{
		Runtime: "source", Load: load, Contender: c.name, Control: c.name != Page, Measure: measure, Unit: m.Unit, More: m.More, Samples: []float64{value},
	})
}

// in opens a page in a tab with a session, calls do with it and closes it.
func (r *run) in(ctx context.Context, c contender, session string, do func(*browser.Tab) error) error {
	tab, err := r.browser.NewTab(ctx)
	if err != nil {
		return err
	}
	err = tab.Open(ctx, r.server.url+c.path+"#session="+session, c.ready)
	if err == nil {
		err = do(tab)
	}
	return errors.Join(err, tab.Close(context.WithoutCancel(ctx)))
}

// marks are the marks of a page, by name; those of frames have the seq that they show.
type marks struct {
	stages map[string]time.Time
	frames []frame
}

type frame struct {
	seq int64
	at  time.Time
}

func readMarks(ctx context.Context, t *browser.Tab) (marks, error) {
	all, err := browser.Eval[[]struct {
		Name string  `json:"name"`
		At   float64 `json:"at"` // milliseconds since 1970
		Seq  int64   `json:"seq"`
	}](ctx, t, `performance.getEntriesByType("mark").map((m) => ({name: m.name, at: performance.timeOrigin + m.startTime, seq: m.detail ?? 0}))`)
	out := marks{stages: map[string]time.Time{}}
	for _, m := range all {
		at := time.UnixMicro(int64(m.At * 1000))
		if m.Name == "turnspec:frame" {
			out.frames = append(out.frames, frame{m.Seq, at})
		} else {
			out.stages[m.Name[len("turnspec:"):]] = at
		}
	}
	return out, err
}
