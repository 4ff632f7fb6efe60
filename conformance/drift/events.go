package drift

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
)

// normalize lets the reference adapter perform a scenario on both sides and
// tells how its events differ, and which checks fail on the new one.
func (cfg Config) normalize(scn *fixtures.Scenario) ([]Change, error) {
	what := "scenario " + scn.ID
	from := perform.Virtual(cfg.Subject, perform.Recording{Case: cfg.From.Cases[scn.ID], Scenario: scn, Lifecycle: cfg.From.Lifecycle}, nil)
	to := perform.Virtual(cfg.Subject, perform.Recording{Case: cfg.To.Cases[scn.ID], Scenario: scn, Lifecycle: cfg.To.Lifecycle}, nil)
	var out []Change
	for _, r := range []*conformance.Run{from, to} {
		if why := r.Harness + r.Hang; why != "" {
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: r.Version + ": " + why})
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	a, err := Events(from)
	if err != nil {
		return nil, err
	}
	b, err := Events(to)
	if err != nil {
		return nil, err
	}
	for _, d := range differences(a, b) {
		out = append(out, Change{
			Level: LevelEvents, Sort: d.sort, What: d.what, Detail: d.how, Where: []string{scn.ID},
			Diff: conformance.Diff(cfg.Runtime+" "+cfg.From.Version, a, cfg.Runtime+" "+cfg.To.Version, b),
		})
	}
	failed := failures(from, cfg.Checks)
	for _, res := range failures(to, cfg.Checks) {
		same := func(x conformance.Result) bool { return x.Check.ID == res.Check.ID }
		if slices.ContainsFunc(failed, same) {
			continue // it failed before, too: that is no drift
		}
		detail := res.Check.Sentence
		if len(res.Problems) > 0 {
			detail = res.Problems[0].Text
		}
		out = append(out, Change{Level: LevelChecks, Sort: Fails, What: "check " + res.Check.ID, Detail: detail, Where: []string{scn.ID}})
	}
	return out, nil
}

// failures are the checks that a run fails, those that need a fault apart.
func failures(r *conformance.Run, all []*conformance.Check) []conformance.Result {
	var out []conformance.Result
	for _, c := range all {
		for _, tier := range []conformance.Tier{conformance.TierWitness, conformance.TierTiming} {
			if len(c.Faults) > 0 || !slices.Contains(c.Tiers, tier) {
				continue
			}
			if res := judge.Apply(c, &conformance.Trial{Run: r}, tier); res.Verdict.Bad() && c.Severity == conformance.Must {
				out = append(out, res)
			}
		}
	}
	return out
}

// dropped are members of events that differ from run to run or from version to
// version without a meaning for a reader, and why.
var dropped = map[string]string{
	"ts":                  "the clock decides",
	"duration_ms":         "the clock decides",
	"runtime_version":     "is what differs",
	"model":               "the recorder chooses one that offers plain tools",
	"provider_session_id": "minted; that there is one is the checks' business",
	"provider_turn_id":    "minted",
	"seq":                 "follows from the order",
	"usage":               "counts the tokens of a vendor's instructions",
	"stats":               "counts and times",
}

// ids are members that hold ids; they are named in the order in which they
// come.
var ids = regexp.MustCompile(`(_id|_ids)$`)

// Events is what a run's events say, one a line, without what chance and the
// vendor's own counts decide. Deltas of a block that follow each other are one:
// how a runtime cuts them is no behaviour. What is about one tool call or task
// stands together, behind the rest: independent work interleaves by chance.
func Events(r *conformance.Run) (string, error) {
	names := map[string]string{}
	var order []string // streams by their first event
	streams := map[string][]map[string]any{}
	for _, e := range r.Events {
		if e.Type() == event.TypeUsage {
			continue // how often the tokens are told; the wire's level has it
		}
		line, err := e.MarshalJSON()
		if err != nil {
			return "", err
		}
		var m map[string]any
		if err := json.Unmarshal([]byte(r.Recorded(string(line))), &m); err != nil {
			return "", err
		}
		delete(m, "session_id")
		m = clean(m, names).(map[string]any)
		stream := streamOf(m)
		if _, have := streams[stream]; !have {
			order = append(order, stream)
		}
		if n := len(streams[stream]); n > 0 && joined(streams[stream][n-1], m) {
			continue
		}
		streams[stream] = append(streams[stream], m)
	}
	slices.Sort(order)
	var b bytes.Buffer
	for _, stream := range order {
		for _, m := range streams[stream] {
			if err := json.MarshalWrite(&b, m, json.Deterministic(true)); err != nil {
				return "", err
			}
			b.WriteByte('\n')
		}
	}
	return inText(b.String(), names), nil
}

// streamOf is the tool call or task that an event is about; "" is all else.
func streamOf(m map[string]any) string {
	data, _ := m["data"].(map[string]any)
	for _, k := range []string{"tool_use_id", "task_id"} {
		if id, ok := data[k].(string); ok {
			return k + " " + id
		}
	}
	if agent, ok := m["subagent_id"].(string); ok {
		return "subagent_id " + agent
	}
	return ""
}

// inText names minted ids that stand in a text too: a tool says the id of what it
// has left running. Short ones would be words.
func inText(text string, names map[string]string) string {
	var pairs []string
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if len(id) >= 6 {
			pairs = append(pairs, id, names[id])
		}
	}
	return counted.ReplaceAllString(strings.NewReplacer(pairs...).Replace(text), "${1}N")
}

// counted are times and tokens that a runtime writes into a tool's output.
var counted = regexp.MustCompile(`((?:_ms|_tokens): )\d+`)

// joined adds a delta to the one before it. What a task says again is one: its
// progress is told by the clock.
func joined(last, m map[string]any) bool {
	if last["type"] == "task" && fmt.Sprint(last) == fmt.Sprint(m) {
		return true
	}
	if last["type"] != m["type"] || m["type"] != "delta" && m["type"] != "thinking" && m["type"] != "tool_output" {
		return false
	}
	a, okA := last["data"].(map[string]any)
	b, okB := m["data"].(map[string]any)
	if !okA || !okB || fmt.Sprint(key(a), last["turn"], last["subagent_id"]) != fmt.Sprint(key(b), m["turn"], m["subagent_id"]) || a["done"] != b["done"] {
		return false
	}
	x, _ := a["text"].(string)
	y, _ := b["text"].(string)
	a["text"] = x + y
	return true
}

func key(data map[string]any) string {
	return fmt.Sprint(data["message_id"], data["block_id"], data["tool_use_id"])
}

// clean drops and renames.
func clean(v any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range keys(v, nil) {
			if _, drop := dropped[k]; drop {
				delete(v, k)
				continue
			}
			if ids.MatchString(k) {
				v[k] = named(v[k], names)
				continue
			}
			v[k] = clean(v[k], names)
		}
	case []any:
		for i := range v {
			v[i] = clean(v[i], names)
		}
	}
	return v
}

// scripted are ids that the scenario gives: they say something.
var scripted = regexp.MustCompile(`^(?:(?:call|toolu)_)?([a-z]+[0-9]+)$`)

func named(v any, names map[string]string) any {
	switch v := v.(type) {
	case string:
		if m := scripted.FindStringSubmatch(v); m != nil {
			return m[1]
		}
		if names[v] == "" {
			names[v] = fmt.Sprintf("id %d", len(names)+1)
		}
		return names[v]
	case []any:
		for i := range v {
			v[i] = named(v[i], names)
		}
	}
	return v
}

// lifecycleChanges compares what is answered to reads and configuration.
func lifecycleChanges(a, b *fixtures.Lifecycle) []Change {
	if a == nil || b == nil {
		return nil
	}
	var out []Change
	had, has := answers(a), answers(b)
	for _, method := range keys(had, has) {
		x, inA := had[method]
		y, inB := has[method]
		what := "request " + method
		switch {
		case !inA || !inB:
			// asked on one side only: the recorder's choice
		case x.Error == nil && y.Error != nil:
			out = append(out, Change{Level: LevelWire, Sort: Gone, What: what, Detail: "is refused: " + short(y.Error)})
		case x.Error != nil && y.Error == nil:
			out = append(out, Change{Level: LevelWire, Sort: Added, What: what, Detail: "is answered"})
		default:
			fa, fb := membersOf(x.Result), membersOf(y.Result)
			for _, f := range keys(fa, fb) {
				switch {
				case !fa[f]:
					out = append(out, Change{Level: LevelWire, Sort: Added, What: "field " + f, Detail: "of the answer to " + method})
				case !fb[f]:
					out = append(out, Change{Level: LevelWire, Sort: Gone, What: "field " + f, Detail: "of the answer to " + method})
				}
			}
			ta, tb := kindsOf(x.Then), kindsOf(y.Then)
			for _, k := range keys(ta, tb) {
				switch {
				case !ta[k]:
					out = append(out, Change{Level: LevelWire, Sort: Added, What: "message " + k, Detail: "after the answer to " + method})
				case !tb[k]:
					out = append(out, Change{Level: LevelWire, Sort: Gone, What: "message " + k, Detail: "after the answer to " + method})
				}
			}
		}
	}
	return sorted(out)
}

func answers(l *fixtures.Lifecycle) map[string]fixtures.Answer {
	out := map[string]fixtures.Answer{}
	for _, a := range l.Answers {
		if _, have := out[a.Method]; !have {
			out[a.Method] = a
		}
	}
	return out
}

func membersOf(v jsontext.Value) map[string]bool {
	var m map[string]jsontext.Value
	_ = json.Unmarshal(v, &m) // no object has no members
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}
	return out
}

func kindsOf(lines []jsontext.Value) map[string]bool {
	out := map[string]bool{}
	for _, l := range lines {
		var m struct {
			Method  string `json:"method"`
			Type    string `json:"type"`
			Subtype string `json:"subtype"`
		}
		_ = json.Unmarshal(l, &m)
		out[strings.Trim(m.Method+m.Type+"/"+m.Subtype, "/")] = true
	}
	return out
}

func short(v jsontext.Value) string {
	s := v.String()
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}
