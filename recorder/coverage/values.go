package coverage

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
)

// Member is a member of an event or of a line of the wire, and how many different values
// it has in the cases of a runtime. A member with fewer than two cannot be judged: an
// adapter that always emits that value passes.
type Member struct {
	// Runtime is "" if the values of all runtimes are counted together.
	Runtime string `json:"runtime,omitempty"`
	// Of is event, or the direction and the kind of the line, such as "out turn/completed".
	Of     string `json:"of"`
	Name   string `json:"member"`
	Count  int    `json:"count"`          // how often it occurs
	Values int    `json:"values"`         // how many of those differ, at most census.MaxValues
	Only   string `json:"only,omitempty"` // the value, if there is one
	// Never has the words of its closed list that it never has.
	Never  []string `json:"never,omitempty"`
	Reason string   `json:"reason,omitempty"` // why it has fewer than two values
}

// Gap reports whether the member never varies.
func (m *Member) Gap() bool { return m.Values < 2 }

// Key is what the list of reasons matches: the runtime, if any, what it is a member of, and
// its name.
func (m *Member) Key() string { return strings.TrimPrefix(m.Runtime+" "+m.Of+" "+m.Name, " ") }

// MembersOf counts the values of each member of the events in the goldens, and of each
// member of the lines of the wire, in the cases of the newest version of each runtime. The
// weakest come first.
func MembersOf(c fixtures.Corpus, runtimes []string) ([]*Member, error) {
	ids, err := c.CaseIDs()
	if err != nil {
		return nil, err
	}
	ids = fixtures.Newest(ids)
	var out []*Member
	all := newEvents()
	for _, runtime := range runtimes {
		events, lines := newEvents(), &census.Census{Kinds: map[string]*census.Kind{}}
		for _, id := range ids {
			if name, _, _ := fixtures.SplitCaseID(id); name != runtime {
				continue
			}
			one, err := c.LoadCase(id)
			if err != nil {
				return nil, err
			}
			lines.AddCase(one)
			golden, err := c.GoldenEvents(id)
			if err != nil {
				return nil, err
			}
			for _, b := range golden {
				if err := events.add(id, b, all); err != nil {
					return nil, fmt.Errorf("%s: %w", id, err)
				}
			}
		}
		out = append(append(out, events.members(runtime)...), wireMembers(runtime, lines)...)
	}
	out = append(out, all.members("")...)
	for _, m := range out {
		if m.Gap() {
			m.Reason = reasonOf(m.Key())
		}
	}
	slices.SortStableFunc(out, func(a, b *Member) int {
		return cmp.Or(cmp.Compare(a.Values, b.Values), cmp.Compare(a.Runtime, b.Runtime), -cmp.Compare(a.Count, b.Count), strings.Compare(a.Key(), b.Key()))
	})
	return out, nil
}

// events counts events: their envelopes, which have the type "", and the data of each type.
type events struct{ kinds *census.Census }

func newEvents() events { return events{&census.Census{Kinds: map[string]*census.Kind{}}} }

// add counts an event here and in all.
func (e events) add(scenario string, b []byte, all events) error {
	var members map[string]jsontext.Value
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	var typ string
	if err := json.Unmarshal(members["type"], &typ); err != nil {
		return err
	}
	data := members["data"]
	delete(members, "data")
	envelope, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return err
	}
	for _, to := range []events{e, all} {
		to.kinds.Add(typ, scenario, data)
		to.kinds.Add("", scenario, envelope)
	}
	return nil
}

// members returns the fields of the events of a runtime, or of all: those that do not occur
// only of all.
func (e events) members(runtime string) []*Member {
	var out []*Member
	for _, f := range event.Fields() {
		kind := e.kinds.Kinds[string(f.Type)]
		path := strings.TrimPrefix(f.Name, string(f.Type)+".")
		found, parents := kindFields(kind, path)
		if found == nil {
			if runtime == "" {
				out = append(out, &Member{Of: "event", Name: f.Name, Never: f.Values})
			}
			continue
		}
		m := newMember(runtime, "event", f.Name, found)
		if f.Flag && !f.Required && parents > found.Count && m.Values == 1 {
			m.Values, m.Only = 2, "" // a flag that is absent is false
		}
		for _, v := range f.Values {
			if found.Values[v] == 0 {
				m.Never = append(m.Never, v)
			}
		}
		out = append(out, m)
	}
	return out
}

// kindFields returns the field of a kind at a path without the brackets of lists, and how
// many objects could hold it. Elements of a list count, not the list.
func kindFields(k *census.Kind, path string) (found *census.Field, parents int) {
	if k == nil {
		return nil, 0
	}
	for name, f := range k.Fields {
		if strings.ReplaceAll(name, "[]", "") != path {
			continue
		}
		if found == nil || strings.HasSuffix(name, "[]") {
			found = f
			parents = k.Count
			if i := strings.LastIndex(name, "."); i > 0 {
				parents = k.Fields[name[:i]].Count
			}
		}
	}
	return found, parents
}

func wireMembers(runtime string, lines *census.Census) []*Member {
	var out []*Member
	for _, kind := range slices.Sorted(maps.Keys(lines.Kinds)) {
		for _, path := range slices.Sorted(maps.Keys(lines.Kinds[kind].Fields)) {
			f := lines.Kinds[kind].Fields[path]
			if f.Forms["object"] == f.Count || f.Forms["list"] == f.Count && lines.Kinds[kind].Fields[path+"[]"] != nil {
				continue // its parts are members
			}
			out = append(out, newMember(runtime, kind, path, f))
		}
	}
	return out
}

func newMember(runtime, of, name string, f *census.Field) *Member {
	m := &Member{Runtime: runtime, Of: of, Name: name, Count: f.Count, Values: len(f.Different)}
	if m.Values == 1 {
		m.Only = f.First
	}
	return m
}

// reasonsText lists why members never vary. See its head.
//
//go:embed reasons.txt
var reasonsText string

// reason is why the members whose key fits never vary.
type reason struct {
	fits *regexp.Regexp
	why  string
}

var reasons = parseReasons(reasonsText)

func parseReasons(text string) []reason {
	var out []reason
	why := ""
	for line := range strings.Lines(text) {
		switch line = strings.TrimRight(line, "\n"); {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			out = append(out, reason{regexp.MustCompile("^(?:" + line[1:] + ")$"), why})
		default:
			why = line
		}
	}
	return out
}

func reasonOf(key string) string {
	for _, r := range reasons {
		if r.fits.MatchString(key) {
			return r.why
		}
	}
	return ""
}

// StaleReasons returns the patterns of the list of reasons that fit no gap.
func StaleReasons(members []*Member) []string {
	var out []string
	for _, r := range reasons {
		if !slices.ContainsFunc(members, func(m *Member) bool { return m.Gap() && r.fits.MatchString(m.Key()) }) {
			out = append(out, r.fits.String())
		}
	}
	return out
}

// GapTable returns a row of names and one for each gap.
func GapTable(members []*Member) [][]string {
	rows := [][]string{{"values", "times", "member", "its value", "why"}}
	for _, m := range members {
		if m.Gap() {
			rows = append(rows, []string{fmt.Sprint(m.Values), fmt.Sprint(m.Count), m.Key(), shorten(m.Only), cmp.Or(m.Reason, "no reason is given")})
		}
	}
	return rows
}

// SummaryTable returns a row of names, one of the events of all runtimes together, and two
// for each runtime.
func SummaryTable(members []*Member) [][]string {
	type sum struct{ all, gaps, open int }
	sums := map[string]*sum{}
	for _, m := range members {
		key := cmp.Or(m.Runtime, "all runtimes") + " events"
		if m.Of != "event" {
			key = m.Runtime + " wire"
		}
		if sums[key] == nil {
			sums[key] = &sum{}
		}
		sums[key].all++
		if m.Gap() {
			sums[key].gaps++
			if m.Reason == "" {
				sums[key].open++
			}
		}
	}
	rows := [][]string{{"of", "members", "never vary", "without a reason"}}
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		rows = append(rows, []string{key, fmt.Sprint(s.all), fmt.Sprint(s.gaps), fmt.Sprint(s.open)})
	}
	return rows
}

// shorten returns the beginning of a long value.
func shorten(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
