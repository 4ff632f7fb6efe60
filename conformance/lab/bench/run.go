package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// Config configures a run.
type Config struct {
	Subjects []conformance.Subject
	// Cases are the cases to play, by runtime.
	Cases   map[string]string
	Corpus  fixtures.Corpus
	Root    string // the corpus's folder; "" for the embedded one
	Loads   []Load
	Step    int // events of the whole step, for the adapters that Main was given; 0 for no step
	Repeats int
	// More reports whether another repeat is wanted after Repeats, because the
	// figures so far decide nothing. At most Most repeats are made. It may be nil.
	More     func(*Document) bool
	Most     int
	Turnspec string
	Controls []string // nil means all but SDK
	Clients  string   // the folder with the installed official clients, for SDK
	Progress func(done, total int, what string)
}

// StepLoad is the load of the whole step, SpawnLoad that of the child that does
// nothing.
const (
	StepLoad  = "step"
	SpawnLoad = "spawn"
)

// run builds a document.
type run struct {
	Config
	doc    *Document
	delays map[[3]string]*hdrhistogram.Histogram
	done   int
}

// NewDocument returns a document of this machine without figures.
func NewDocument(turnspec string, repeats int) *Document {
	return &Document{Format: 1, Turnspec: turnspec, Started: time.Now().UTC(), Repeats: repeats, Machine: machine()}
}

// Finish notes how busy the machine is after the measurement.
func (d *Document) Finish() { d.Machine.LoadAfter = loadAverage() }

// Run measures. It takes the time of the loads, times contenders, times repeats.
func (c Config) Run(ctx context.Context) (*Document, error) {
	if c.Repeats < 1 || len(c.Subjects) == 0 {
		return nil, errors.New("nothing to measure: a run wants subjects and repeats")
	}
	r := &run{Config: c, delays: map[[3]string]*hdrhistogram.Histogram{}, doc: NewDocument(c.Turnspec, c.Repeats)}
	r.doc.Loads = c.Loads
	if why := nodeMissing(); why != "" && (r.wants(Node) || r.wants(SDK)) {
		r.note(why)
		r.Controls = slices.DeleteFunc(slices.Clone(r.controls()), func(n string) bool { return n == Node || n == SDK })
	}
	for _, s := range c.Subjects {
		if !slices.Contains(r.doc.Cases, c.Cases[s.Runtime()]) {
			r.doc.Cases = append(r.doc.Cases, c.Cases[s.Runtime()])
		}
	}
	dir, err := os.MkdirTemp("", "turnspec-step-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	err = r.runContenders(ctx, dir)
	r.addDerived()
	return r.doc, err
}

func (r *run) controls() []string {
	if r.Controls == nil {
		return []string{Raw, Lines, Node, Spawn}
	}
	return r.Controls
}

func (r *run) wants(control string) bool { return slices.Contains(r.controls(), control) }

func (r *run) note(text string) {
	if !slices.Contains(r.doc.Notes, text) {
		r.doc.Notes = append(r.doc.Notes, text)
	}
}

// contenders returns the contenders of a runtime.
func (r *run) contenders(runtime string) []Contender {
	var out []Contender
	for _, s := range r.Subjects {
		if s.Runtime() == runtime {
			out = append(out, Subject(s))
		}
	}
	if r.wants(Raw) {
		out = append(out, rawControl(Raw, false))
	}
	if r.wants(Lines) {
		out = append(out, rawControl(Lines, true))
	}
	if r.wants(Node) {
		out = append(out, nodeControl())
	}
	if r.wants(SDK) {
		if why := sdkMissing(runtime, r.Clients); why != "" {
			r.note(why)
		} else {
			out = append(out, sdkControl(runtime, r.Clients))
		}
	}
	return out
}

// runContenders runs the contenders in turns, so that a disturbance of the machine affects
// all of them.
func (r *run) runContenders(ctx context.Context, dir string) error {
	var runtimes []string
	for _, s := range r.Subjects {
		if !slices.Contains(runtimes, s.Runtime()) {
			runtimes = append(runtimes, s.Runtime())
		}
	}
	files := map[string]string{}
	for _, rt := range runtimes {
		if r.Step == 0 {
			break
		}
		sub, err := os.MkdirTemp(dir, rt)
		if err != nil {
			return err
		}
		if files[rt], err = stepFile(ctx, sub, r.Cases[rt], r.Root, r.Step); err != nil {
			return err
		}
	}
	for i := 0; i < r.Repeats || i < r.Most && r.More != nil && r.More(r.doc); i++ {
		r.doc.Repeats = i + 1
		start, known := newBusy()
		if r.wants(Spawn) {
			if err := r.measureSpawn(ctx); err != nil {
				return err
			}
		}
		for _, rt := range runtimes {
			for _, l := range r.Loads {
				all := r.contenders(rt)
				for k := range all {
					if err := r.once(ctx, rt, all[(k+i)%len(all)], l); err != nil {
						return err
					}
				}
			}
			if r.Step > 0 {
				if err := r.measureSteps(ctx, i, rt, dir, files[rt]); err != nil {
					return err
				}
			}
		}
		r.addBeyondRaw()
		if end, ok := newBusy(); known && ok {
			r.doc.Machine.Others = append(r.doc.Machine.Others, end.others(start))
		}
	}
	return nil
}

func (r *run) once(ctx context.Context, rt string, c Contender, l Load) error {
	if l.Slow > 0 && !c.slow {
		if !c.Control {
			r.note(fmt.Sprintf("%s: load %s is left out: the events of a program are taken by this one at once, so that it does not feel a slow listener", c.Name, l.Name))
		}
		return nil
	}
	if l.Idle && c.all != nil {
		return nil // its sessions are not in this program
	}
	if l.Share > 0 && c.external && !c.alone {
		r.note(fmt.Sprintf("%s: load %s is left out: a program starts a stand-in for each session", c.Name, l.Name))
		return nil
	}
	r.logStep(fmt.Sprintf("%s %s %s", rt, l.Name, c.Name))
	what, err := playedOf(r.Corpus, r.Root, r.Cases[rt])
	if err != nil {
		return err
	}
	o, u, err := runTrial(ctx, c, what, l)
	if err != nil {
		return fmt.Errorf("load %s: %w", l.Name, err)
	}
	for name, v := range figures(c, l, o, u) {
		r.add(rt, l.Name, c, name, v)
	}
	if l.Rate == 0 {
		return nil
	}
	key := [3]string{rt, l.Name, c.Name}
	if r.delays[key] == nil {
		r.delays[key] = newHistogram()
	}
	r.delays[key].Merge(o.delay)
	if !c.Control && len(o.sessions) > 0 {
		r.backlog(key, o.sessions[0].points)
	}
	return nil
}

// addBeyondRaw computes how much later than with raw a session of this repeat was ready,
// and its first delta arrived.
func (r *run) addBeyondRaw() {
	for _, s := range slices.Clone(r.doc.Series) {
		raw := r.doc.Find(s.Runtime, s.Load, Raw, s.Measure)
		if s.Measure != "first" && s.Measure != "start" || s.Control || raw == nil {
			continue
		}
		i := min(len(s.Samples), len(raw.Samples)) - 1
		r.add(s.Runtime, s.Load, Contender{Name: s.Contender}, "added-"+s.Measure, s.Samples[i]-raw.Samples[i])
	}
}

// measureSteps runs the whole step with the adapter, with Node and with a program that
// splits lines.
func (r *run) measureSteps(ctx context.Context, repeat int, rt, dir, file string) error {
	var all []Contender
	all = append(all, Contender{Name: rt})
	for _, name := range []string{Lines, Node} {
		if r.wants(name) {
			all = append(all, Contender{Name: name, Control: true})
		}
	}
	for k := range all {
		c := all[(k+repeat)%len(all)]
		r.logStep(rt + " step " + c.Name)
		f, err := runStep(ctx, c.Name, rt, dir, file)
		if err != nil {
			return fmt.Errorf("load %s: %w", StepLoad, err)
		}
		for name, v := range f {
			r.add(rt, StepLoad, c, name, v)
		}
	}
	return nil
}

// spawns is how many children are started for a figure.
const spawns = 9

// measureSpawn measures a child that does nothing.
func (r *run) measureSpawn(ctx context.Context) error {
	program, err := exec.LookPath("true")
	if err != nil {
		r.note("there is no program true: the control " + Spawn + " is left out")
		return nil //nolint:nilerr // the note reports the error
	}
	var took []float64
	for range spawns {
		start := time.Now()
		if err := exec.CommandContext(ctx, program).Run(); err != nil {
			return err
		}
		took = append(took, time.Since(start).Seconds())
	}
	slices.Sort(took)
	r.add("", SpawnLoad, Contender{Name: Spawn, Control: true}, "start", took[len(took)/2])
	return nil
}

func (r *run) logStep(what string) {
	if r.Progress == nil {
		return
	}
	runtimes := map[string]bool{}
	for _, s := range r.Subjects {
		runtimes[s.Runtime()] = true
	}
	each := len(r.Loads) * (len(r.controls()) - 1)
	if r.Step > 0 {
		each += 3
	}
	total := max(r.Repeats, r.doc.Repeats) * (len(runtimes)*each + len(r.Subjects)*len(r.Loads))
	r.Progress(min(r.done, total), total, what)
	r.done++
}

func (r *run) add(rt, load string, c Contender, measure string, v float64) {
	s := r.doc.Find(rt, load, c.Name, measure)
	if s == nil {
		m := MeasureNamed(measure)
		r.doc.Series = append(r.doc.Series, Series{
			Runtime: rt, Load: load, Contender: c.Name, Control: c.Control, Measure: measure, Unit: m.Unit, More: m.More,
		})
		s = &r.doc.Series[len(r.doc.Series)-1]
	}
	s.Samples = append(s.Samples, v)
}

// MeasureNamed returns the measure of this name.
func MeasureNamed(name string) Measure {
	for _, m := range Measures() {
		if m.Name == name {
			return m
		}
	}
	return Measure{Name: name}
}

// backlog keeps the last session's backlog as a curve.
func (r *run) backlog(key [3]string, points []Point) {
	c := Curve{Runtime: key[0], Load: key[1], Contender: key[2], Kind: CurveBacklog}
	for _, p := range points {
		c.Points = append(c.Points, [2]float64{p.At, float64(p.Depth)})
	}
	r.doc.Curves = slices.DeleteFunc(r.doc.Curves, func(o Curve) bool {
		return o.Kind == c.Kind && o.Runtime == c.Runtime && o.Load == c.Load && o.Contender == c.Contender
	})
	r.doc.Curves = append(r.doc.Curves, c)
}

// addDerived computes the curves and the derived measures.
func (r *run) addDerived() {
	for key, h := range r.delays {
		c := Curve{Runtime: key[0], Load: key[1], Contender: key[2], Kind: CurveDelay}
		for _, q := range []float64{0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 100} {
			c.Points = append(c.Points, [2]float64{q, float64(h.ValueAtQuantile(q)) / 1e6})
		}
		r.doc.Curves = append(r.doc.Curves, c)
	}
	slices.SortFunc(r.doc.Curves, func(a, b Curve) int {
		return strings.Compare(a.Runtime+"\x00"+a.Load+"\x00"+string(a.Kind)+"\x00"+a.Contender, b.Runtime+"\x00"+b.Load+"\x00"+string(b.Kind)+"\x00"+b.Contender)
	})
	r.doc.Finish()
}

func machine() Machine {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: loadAverage()}
	if out, err := exec.Command("node", "--version").Output(); err == nil {
		m.Node = strings.TrimSpace(string(out))
	}
	return m
}

// loadAverage returns the load of the last minute, if the system reports it.
func loadAverage() float64 {
	var v float64
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(b), &v)
	}
	return v
}
