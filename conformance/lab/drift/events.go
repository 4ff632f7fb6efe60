package drift

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/compare"
)

// compareEvents runs the reference adapter on both recordings of a scenario. It
// returns the differences of the events and the checks that fail only on the new
// version.
func (cfg Config) compareEvents(scn *fixtures.Scenario) ([]Change, error) {
	what := "scenario " + scn.ID
	from := perform.Virtual(cfg.Subject, perform.Recording{Case: withoutPauses(cfg.From.Cases[scn.ID]), Scenario: scn, Lifecycle: cfg.From.Lifecycle}, nil)
	to := perform.Virtual(cfg.Subject, perform.Recording{Case: withoutPauses(cfg.To.Cases[scn.ID]), Scenario: scn, Lifecycle: cfg.To.Lifecycle}, nil)
	var out []Change
	for _, r := range []*conformance.Run{from, to} {
		if why := r.Harness + r.Hang; why != "" {
			out = append(out, Change{Level: LevelRun, Sort: Fails, What: what, Detail: r.Version + ": " + why, scenarios: []string{scn.ID}})
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
			Level: LevelEvents, Sort: d.sort, What: d.what, Detail: d.how, Where: []string{scn.ID}, scenarios: []string{scn.ID},
			Diff: conformance.Diff(cfg.Runtime+" "+cfg.From.Version, a, cfg.Runtime+" "+cfg.To.Version, b),
		})
	}
	failed := failedChecks(from, cfg.Checks)
	for _, res := range failedChecks(to, cfg.Checks) {
		same := func(x conformance.Result) bool { return x.Check.ID == res.Check.ID }
		if slices.ContainsFunc(failed, same) {
			continue // it failed on the old version too
		}
		detail := res.Check.Sentence
		if len(res.Problems) > 0 {
			detail = res.Problems[0].Text
		}
		out = append(out, Change{Level: LevelChecks, Sort: Fails, What: "check " + res.Check.ID, Detail: detail, Where: []string{scn.ID}, scenarios: []string{scn.ID}})
	}
	return out, nil
}

// maxPause bounds the pauses between the lines of a recording. On a machine under
// load, a pause may become long enough for an adapter to give up.
const maxPause = time.Second

// withoutPauses returns a recording with short pauses.
func withoutPauses(c *fixtures.Case) *fixtures.Case {
	short := *c
	short.Wire = slices.Clone(c.Wire)
	var last, at time.Duration
	for i := range short.Wire {
		l := &short.Wire[i]
		at += min(l.T-last, maxPause)
		last, l.T = l.T, at
	}
	return &short
}

// failedChecks returns the checks that fail on a run without a fault. It leaves out
// those of the timing tier, because the times of a recording depend on the load of
// the machine.
func failedChecks(r *conformance.Run, all []*conformance.Check) []conformance.Result {
	var out []conformance.Result
	for _, c := range all {
		if len(c.Faults) > 0 || !slices.Contains(c.Tiers, conformance.TierWitness) {
			continue
		}
		if res := judge.Apply(c, &conformance.Trial{Run: r}, conformance.TierWitness); res.Verdict.Bad() && c.Severity == conformance.Must {
			out = append(out, res)
		}
	}
	return out
}

// dropped are members of events that differ between runs or versions without a
// meaning, and why.
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
	"raw":                 "is a line of the wire, which is compared there",
}

// ids are members that hold ids. An id is replaced with its number in order of
// appearance.
var ids = regexp.MustCompile(`(_id|_ids)$`)

// Events returns the events of a run, one a line, without what depends on chance or
// on the vendor's own counts. Consecutive deltas of a block are joined, because
// where a runtime splits them has no meaning. Events about one tool call or task are
// grouped after all others, because independent work interleaves by chance.
func Events(r *conformance.Run) (string, error) {
	names := map[string]string{}
	var order []string // streams, by their first event
	streams := map[string][]map[string]any{}
	for _, e := range r.Events {
		if e.Type() == event.TypeUsage {
			continue // how often tokens are reported is compared on the wire
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
		m = cleanData(m, names).(map[string]any)
		stream := streamOf(m)
		if _, have := streams[stream]; !have {
			order = append(order, stream)
		}
		if n := len(streams[stream]); n > 0 && joinDelta(streams[stream][n-1], m) {
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
	return replaceIDs(b.String(), names), nil
}

// streamOf returns the id of the tool call or task of an event, or "".
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

// replaceIDs replaces minted ids in a text, such as the id of a background command
// in the output of its tool. Short ids could be words.
func replaceIDs(text string, names map[string]string) string {
	var pairs []string
	for _, id := range slices.Sorted(maps.Keys(names)) {
		if len(id) >= 6 {
			pairs = append(pairs, id, names[id])
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// counted matches times and token counts in a text.
var counted = regexp.MustCompile(`((?:_ms|_tokens): )\d+|\b\d+( ms\b)`)

// joinDelta appends a delta to the previous one and reports whether it did. Repeated
// reports of a task are joined too, because they depend on the clock.
func joinDelta(last, m map[string]any) bool {
	if last["type"] == "task" && fmt.Sprint(last) == fmt.Sprint(m) {
		return true
	}
	if last["type"] != m["type"] || m["type"] != "delta" && m["type"] != "thinking" && m["type"] != "tool_output" {
		return false
	}
	a, okA := last["data"].(map[string]any)
	b, okB := m["data"].(map[string]any)
	if !okA || !okB || fmt.Sprint(blockKey(a), last["turn"], last["subagent_id"]) != fmt.Sprint(blockKey(b), m["turn"], m["subagent_id"]) || a["done"] != b["done"] {
		return false
	}
	x, _ := a["text"].(string)
	y, _ := b["text"].(string)
	a["text"] = x + y
	return true
}

func blockKey(data map[string]any) string {
	return fmt.Sprint(data["message_id"], data["block_id"], data["tool_use_id"])
}

// cleanData removes dropped members and replaces ids.
func cleanData(v any, names map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v, nil) {
			if _, drop := dropped[k]; drop || compare.IsNoise(k) {
				delete(v, k)
				continue
			}
			if ids.MatchString(k) || compare.HoldsID(k) {
				v[k] = nameID(v[k], names)
				continue
			}
			v[k] = cleanData(v[k], names)
		}
	case []any:
		for i := range v {
			v[i] = cleanData(v[i], names)
		}
	case string:
		return mask(v, names)
	}
	return v
}

// maxMasked bounds the texts that are searched for chance. Longer ones are made by
// the scenario.
const maxMasked = 16 << 10

// mask replaces the parts of a text that depend on chance, but not known ids, which
// replaceIDs numbers.
func mask(text string, names map[string]string) string {
	if names[text] != "" || len(text) > maxMasked {
		return text
	}
	return counted.ReplaceAllString(compare.MaskText(text), "${1}N${2}")
}

// scripted matches ids that the scenario gives. They are kept.
var scripted = regexp.MustCompile(`^(?:(?:call|toolu)_)?([a-z]+[0-9]+)$`)

func nameID(v any, names map[string]string) any {
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
			v[i] = nameID(v[i], names)
		}
	}
	return v
}

// lifecycleChanges compares the replies to reads and configuration.
func lifecycleChanges(a, b *fixtures.ReadReplies) []Change {
	if a == nil || b == nil {
		return nil
	}
	var out []Change
	had, has := answersByKey(a), answersByKey(b)
	for _, method := range sortedKeys(had, has) {
		x, inA := had[method]
		y, inB := has[method]
		what := "request " + method
		switch {
		case !inA || !inB:
			// a request on one side only is the recorder's choice
		case x.Error == nil && y.Error != nil:
			out = append(out, Change{Level: LevelWire, Sort: Gone, What: what, Detail: "is refused: " + clipValue(y.Error)})
		case x.Error != nil && y.Error == nil:
			out = append(out, Change{Level: LevelWire, Sort: Added, What: what, Detail: "is answered"})
		default:
			fa, fb := membersOf(x.Result), membersOf(y.Result)
			for _, f := range sortedKeys(fa, fb) {
				switch {
				case !fa[f]:
					out = append(out, Change{Level: LevelWire, Sort: Added, What: "field " + f, Detail: "of the answer to " + method})
				case !fb[f]:
					out = append(out, Change{Level: LevelWire, Sort: Gone, What: "field " + f, Detail: "of the answer to " + method})
				}
			}
			ta, tb := kindsOf(x.Then), kindsOf(y.Then)
			for _, k := range sortedKeys(ta, tb) {
				switch {
				case !ta[k]:
					out = append(out, Change{Level: LevelWire, Sort: Added, What: "message " + k, Detail: "after the answer to " + method})
				case !tb[k]:
					out = append(out, Change{Level: LevelWire, Sort: Gone, What: "message " + k, Detail: "after the answer to " + method})
				}
			}
		}
	}
	return sortChanges(out)
}

func answersByKey(l *fixtures.ReadReplies) map[string]fixtures.ReadReply {
	out := map[string]fixtures.ReadReply{}
	for _, a := range l.Replies {
		if _, have := out[a.Method]; !have {
			out[a.Method] = a
		}
	}
	return out
}

func membersOf(v jsontext.Value) map[string]bool {
	var m map[string]jsontext.Value
	_ = json.Unmarshal(v, &m) // a value that is no object has no members
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

func clipValue(v jsontext.Value) string {
	s := v.String()
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return s
}
