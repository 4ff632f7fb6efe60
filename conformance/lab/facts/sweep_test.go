package facts_test

import (
	"math"
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/backend"
	"github.com/turnspec/turnspec/conformance/checks"
	"github.com/turnspec/turnspec/conformance/lab/facts"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// The shares of changes that checks must see: of all facts together, and of each fact that
// is changed often enough for a share to mean something. Words that are the adapter's own,
// such as its message for a crash, may be any.
const (
	minShare    = 0.94
	minOfFact   = 0.80
	oftenEnough = 20
)

// weak are the facts of which the checks see fewer changes, with the share that they see and why.
var weak = map[string]struct {
	min float64
	why string
}{
	"interrupt":                 {0.60, "no check counts how often a question is emitted"},
	"interrupt.component_name":  {0.60, "an adapter chooses the names of its components"},
	"interrupt.surface":         {0.60, "an adapter chooses where a question is shown"},
	"interrupt.props":           {0.40, "an adapter chooses the form of its props"},
	"notice":                    {0.65, "the wire does not hold the words of a client that runs turns itself"},
	"notice.raw":                {0.30, "a notice need not hold the line"},
	"notice.text":               {0.60, "the wire does not hold the words of a client that runs turns itself"},
	"plan":                      {0.60, "a plan may be emitted again"},
	"permission_request.reason": {0.70, "it is known for the question of which the id is"},
	"queue":                     {0.55, "a queue that is empty again at once need not be shown"},
	"queue.message_ids":         {0.70, "a queue that is empty again at once need not be shown"},
	"result":                    {0.70, "not each runtime states the result of a turn"},
	"result.text":               {0.55, "not each runtime states the result of a turn"},
	"task":                      {0.70, "a task may be reported again"},
	"task.name":                 {0.55, "not each version states it"},
	"task.parent_id":            {0.15, "no line of the wire states it"},
	"task.text":                 {0.55, "it is known for tasks that ended well"},
	"task.tool_use_id":          {0.50, "not each version states it"},
	"task.usage.input":          {0.20, "the wire states the total"},
	"task.usage.output":         {0.20, "the wire states the total"},
	"thinking.block_id":         {0.50, "reasoning may be shown without its blocks"},
	"tool_result.changes.diff":  {0.60, "not each wire states the lines that changed"},
	"tool_result.is_error":      {0.55, "a call that was denied or stopped may be an error or not"},
	"tool_start.input":          {0.60, "a runtime may show the input in another form"},
	"tool_start.message_id":     {0.60, "not each wire states the message of a call"},
	"tool_start.query":          {0.30, "only some searches state it"},
	"tool_start.url":            {0.35, "only some pages state it"},
	"usage.context":             {0.70, "an agent of ACP states it before the turn ends"},
	"usage.context.used":        {0.70, "an agent of ACP states it before the turn ends"},
	"usage.scope":               {0.60, "in a session of one turn its tokens are those of the session"},
}

// TestSweep demands that checks see the changes of facts, in a sample of the newest cases of
// all runtimes; TURNSPEC_MATRIX=whole takes all.
func TestSweep(t *testing.T) {
	if testing.Short() {
		t.Skip("it judges a case some hundred times")
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	newest, every := fixtures.Newest(all), 100
	if racesample.Whole() {
		every = 1
	}
	subjects := map[string]conformance.Subject{}
	for _, a := range reference.All() {
		name := a.Capabilities().Runtime
		subjects[name] = backend.Adapter(name, a)
	}
	s := facts.Sweep{
		Checks: checks.All(), Workers: 2,
		Play: func(id string) (*conformance.Run, error) { return facts.Play(fixtures.Embedded(), subjects, id) },
	}
	for i := 0; i < len(newest); i += every {
		s.Cases = append(s.Cases, newest[i])
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried, caught := 0, 0
	for _, x := range swept {
		tried, caught = tried+x.Tried, caught+x.Caught
		want := minOfFact
		if w, is := weak[x.Fact]; is {
			want = w.min
		}
		if every > 1 { // by chance, the share of a sample may be two standard deviations below that of all
			want -= 2 * math.Sqrt(want*(1-want)/float64(x.Tried))
		}
		if x.Tried >= oftenEnough && x.Share() < want {
			t.Errorf("checks see %d of %d changes of %s; missed: %v", x.Caught, x.Tried, x.Fact, x.Missed)
		}
	}
	want := minShare
	if every > 1 {
		want -= 0.02 // in a sample
	}
	if share := float64(caught) / float64(max(tried, 1)); tried < 400 || share < want {
		t.Errorf("checks see %d of %d changes, %.1f %%, want %.0f %%; `turnspec facts --sweep` lists the weakest facts", caught, tried, 100*share, 100*want)
	}
}

// TestChangedFactsAreSeen proves the sweep itself: a check that looks at a fact sees that it
// is left out, and no check sees a fact that none judges.
func TestChangedFactsAreSeen(t *testing.T) {
	named, err := checks.Named("turn.begins-once")
	if err != nil {
		t.Fatal(err)
	}
	s := facts.Sweep{
		Checks: named, Cases: []string{"codex/newest/text/plain"}, Facts: []string{"turn_start", "delta.text"},
		Play: func(id string) (*conformance.Run, error) { return facts.Play(fixtures.Embedded(), references(), id) },
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range swept {
		switch {
		case x.Fact == "delta.text" && (x.Caught != 0 || x.Tried < 2):
			t.Errorf("no check looks at %s, but %d of %d changes are seen", x.Fact, x.Caught, x.Tried)
		case x.Fact == "turn_start" && x.Caught != x.Tried:
			t.Errorf("%d of %d changes of %s are seen: %v", x.Caught, x.Tried, x.Fact, x.Missed)
		}
	}
	if len(swept) != 2 {
		t.Errorf("%d facts, want 2: %v", len(swept), swept)
	}
}

// minWritten is the share of the changes of what is written to a runtime that checks must see.
const minWritten = 0.45

// TestWritten demands that checks see changes of what the reference writes to the runtimes, in
// a sample of the newest cases; TURNSPEC_MATRIX=whole takes all.
func TestWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays a case some fifty times")
	}
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	newest, every := fixtures.Newest(all), 150
	if racesample.Whole() {
		every = 1
	}
	s := facts.Written{Checks: checks.All(), Corpus: fixtures.Embedded(), Subjects: references(), Workers: 2}
	for i := 0; i < len(newest); i += every {
		s.Cases = append(s.Cases, newest[i])
	}
	swept, err := s.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tried, caught := 0, 0
	for _, x := range swept {
		tried, caught = tried+x.Tried, caught+x.Caught
	}
	if share := float64(caught) / float64(max(tried, 1)); tried < 200 || share < minWritten {
		t.Errorf("checks see %d of %d changes, %.1f %%, want %.0f %%; `turnspec facts --sweep --written` lists the weakest facts", caught, tried, 100*share, 100*minWritten)
	}
}
