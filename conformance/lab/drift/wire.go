package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/census"
)

// wireChanges compares what the runtime sent in the scenarios that both sides
// recorded.
func wireChanges(cfg Config, both []*fixtures.Scenario) []Change {
	var from, to []*fixtures.Case
	for _, s := range both {
		from, to = append(from, cfg.From.Cases[s.ID]), append(to, cfg.To.Cases[s.ID])
	}
	a, b := census.Take(from), census.Take(to)
	out := kindChanges(a, b)
	out = append(out, memberChanges(a, b)...)
	out = append(out, presenceChanges(cfg.Runtime, a, b)...)
	out = append(out, orderChanges(from, to)...)
	for i := range from {
		out = append(out, callOrderChanges(from[i], to[i])...)
	}
	out = append(out, delayChanges(from, to)...)
	return sortChanges(out)
}

// isSentByRuntime reports whether the runtime sends messages of the kind.
func isSentByRuntime(kind string) bool { return strings.HasPrefix(kind, "out ") }

func messageName(kind string) string { return "message " + strings.TrimPrefix(kind, "out ") }

// kindChanges returns the kinds of messages that only one side has.
func kindChanges(a, b *census.Census) []Change {
	var out []Change
	for _, k := range sortedKeys(a.Kinds, b.Kinds) {
		ka, kb := a.Kinds[k], b.Kinds[k]
		switch {
		case !isSentByRuntime(k):
		case ka == nil:
			out = append(out, Change{Level: LevelWire, Sort: Added, What: messageName(k), Where: sortedNames(kb.Cases), scenarios: sortedNames(kb.Cases)})
		case kb == nil:
			out = append(out, Change{Level: LevelWire, Sort: Gone, What: messageName(k), Where: sortedNames(ka.Cases), scenarios: sortedNames(ka.Cases)})
		}
	}
	return out
}

// presenceChanges returns the messages that a scenario has on one side only, while
// other scenarios have them on both.
func presenceChanges(runtime string, a, b *census.Census) []Change {
	var out []Change
	for _, k := range sortedKeys(a.Kinds, b.Kinds) {
		ka, kb := a.Kinds[k], b.Kinds[k]
		if !isSentByRuntime(k) || ka == nil || kb == nil || isChance(runtime, k) {
			continue
		}
		if only := without(ka.Cases, kb.Cases); len(only) > 0 {
			out = append(out, Change{Level: LevelWire, Sort: Gone, What: messageName(k), Detail: "in some scenarios", Where: only, scenarios: only})
		}
		if only := without(kb.Cases, ka.Cases); len(only) > 0 {
			out = append(out, Change{Level: LevelWire, Sort: Added, What: messageName(k), Detail: "in some scenarios", Where: only, scenarios: only})
		}
	}
	return out
}

// memberChanges returns the members that only one side has, or that have another
// form. A member that several messages share is one change.
func memberChanges(a, b *census.Census) []Change {
	type found struct {
		sort         Sort
		what, detail string
	}
	where, scenarios := map[found][]string{}, map[found]map[string]bool{}
	note := func(f found, kind string, in map[string]bool) {
		where[f] = append(where[f], strings.TrimPrefix(kind, "out "))
		if scenarios[f] == nil {
			scenarios[f] = map[string]bool{}
		}
		maps.Copy(scenarios[f], in)
	}
	for _, k := range sortedKeys(a.Kinds, b.Kinds) {
		ka, kb := a.Kinds[k], b.Kinds[k]
		if !isSentByRuntime(k) || ka == nil || kb == nil {
			continue
		}
		for _, path := range sortedKeys(ka.Fields, kb.Fields) {
			fa, fb := ka.Fields[path], kb.Fields[path]
			switch {
			case fa == nil && !hasMissingAncestor(path, ka.Fields, kb.Fields):
				note(found{Added, "field " + path, ""}, k, fb.Cases)
			case fb == nil && !hasMissingAncestor(path, kb.Fields, ka.Fields):
				note(found{Gone, "field " + path, ""}, k, fa.Cases)
			case fa == nil || fb == nil:
			case areDisjoint(fa.Forms, fb.Forms):
				note(found{Changed, "field " + path, formNames(fa) + " → " + formNames(fb)}, k, fb.Cases)
			case !hasChanceValues(path):
				for _, v := range changedValues(fa, fb, strings.HasSuffix(path, "[]")) {
					note(found{v.sort, valuesOfMember + path, v.text}, k, v.scenarios)
				}
			}
		}
	}
	var out []Change
	for f, in := range where {
		slices.Sort(in)
		out = append(out, Change{Level: LevelWire, Sort: f.sort, What: f.what, Detail: f.detail, Where: in, scenarios: sortedNames(scenarios[f])})
	}
	return out
}

const valuesOfMember = "values of "

// joinValues makes one change of the values of a member that changed in the same
// messages.
func joinValues(changes []Change) []Change {
	var out []Change
	for _, c := range changes {
		i := slices.IndexFunc(out, func(x Change) bool {
			return strings.HasPrefix(c.What, valuesOfMember) && x.What == c.What && x.Level == c.Level && slices.Equal(x.Where, c.Where)
		})
		if i < 0 {
			out = append(out, c)
			continue
		}
		if out[i].Detail += " " + c.Detail; c.Sort != out[i].Sort {
			out[i].Sort = Changed
		}
	}
	return out
}

// hasMissingAncestor reports whether an ancestor of the path is missing too, or was
// always empty.
func hasMissingAncestor(path string, missing, have map[string]*census.Field) bool {
	for p := path; ; {
		i := strings.LastIndexAny(p, ".[")
		if i <= 0 {
			return false
		}
		p = p[:i]
		if have[p] == nil {
			continue
		}
		if missing[p] == nil || missing[p].Forms["object"] == 0 && missing[p].Forms["list"] == 0 {
			return true
		}
		if strings.HasPrefix(path[len(p):], "[]") && missing[p+"[]"] == nil {
			return path != p+"[]" // an empty list on that side: its elements report it
		}
	}
}

// areDisjoint reports whether no form is on both sides.
func areDisjoint(a, b map[string]int) bool {
	shared, na, nb := false, 0, 0
	for f := range a {
		if f != "null" {
			na++
			shared = shared || b[f] > 0
		}
	}
	for f := range b {
		if f != "null" {
			nb++
		}
	}
	return na > 0 && nb > 0 && !shared
}

func formNames(f *census.Field) string {
	return strings.Join(slices.Sorted(maps.Keys(f.Forms)), " or ")
}

// maxValues bounds the values of a closed list. A list of tools has some dozens.
const maxValues = census.MaxValues

// value is a value that only one side has.
type value struct {
	sort      Sort
	text      string
	scenarios map[string]bool
}

// changedValues returns the values that only one side has, if the member has few. Of
// a list, such as that of the tools, it also returns the values that were in most
// lists and are in hardly any now, or the other way round: a scenario may have asked
// for a value that is no default any more.
func changedValues(a, b *census.Field, listed bool) []value {
	if a.Forms["word"] == 0 || b.Forms["word"] == 0 || len(a.Values) > maxValues && len(b.Values) > maxValues {
		return nil
	}
	var out []value
	for _, w := range sortedKeys(a.Values, b.Values) {
		switch {
		case a.Values[w] == 0:
			out = append(out, value{Added, "+" + w, b.ValueCases[w]})
		case b.Values[w] == 0:
			out = append(out, value{Changed, "-" + w, a.ValueCases[w]})
		case listed && isCommon(a, w) && !isNotRare(b, w):
			out = append(out, value{Changed, "-" + w + " (rare now)", b.Cases})
		case listed && !isNotRare(a, w) && isCommon(b, w):
			out = append(out, value{Changed, "+" + w + " (was rare)", b.Cases})
		}
	}
	return out
}

// isCommon and isNotRare compare how often a list has a value with how often it
// has the most frequent one: at least half as often, or a tenth.
func isCommon(f *census.Field, word string) bool  { return 2*f.Values[word] >= commonest(f) }
func isNotRare(f *census.Field, word string) bool { return 10*f.Values[word] >= commonest(f) }

func commonest(f *census.Field) int {
	n := 0
	for _, v := range f.Values {
		n = max(n, v)
	}
	return n
}

// delayChanges returns the replies that take more than a second on one side only,
// relative to the others: a machine under load delays all of them. They depend on the
// machine, so the verdict ignores them.
func delayChanges(from, to []*fixtures.Case) []Change {
	a, b := answerTimes(from), answerTimes(to)
	slower := slowdown(a, b)
	var out []Change
	for _, k := range sortedKeys(a, b) {
		x, y := a[k], b[k]
		if x == 0 || y == 0 {
			continue
		}
		y = time.Duration(float64(y) / slower)
		if max(x, y) < time.Second || max(x, y) < 5*min(x, y) {
			continue
		}
		out = append(out, Change{
			Level: LevelWire, Sort: Changed, What: "wait for the " + k, Chance: true,
			Detail: fmt.Sprintf("%.1fs → %.1fs, the median", x.Seconds(), b[k].Seconds()),
		})
	}
	return out
}

// slowdown returns how much longer the replies of b take than those of a: the median
// of all kinds of replies.
func slowdown(a, b map[string]time.Duration) float64 {
	var ratios []float64
	for k, x := range a {
		if y := b[k]; x > 0 && y > 0 {
			ratios = append(ratios, float64(y)/float64(x))
		}
	}
	if len(ratios) == 0 {
		return 1
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// answerTimes returns the median times from the start of a process, or from a
// request, to the reply, and from the end of its stdin to its exit.
func answerTimes(cases []*fixtures.Case) map[string]time.Duration {
	all := map[string][]time.Duration{}
	for _, c := range cases {
		asked := map[string]time.Duration{}
		for _, m := range census.Messages(c) {
			at := c.Wire[m.Line].T
			name, answer := strings.CutPrefix(m.Kind, "answer to ")
			switch {
			case m.In && m.Request != "":
				asked[m.Request] = at
			case !m.In && answer && asked[name] > 0:
				all[m.Kind] = append(all[m.Kind], at-asked[name])
			}
		}
		var closed time.Duration
		for _, l := range c.Wire {
			switch l.Dir {
			case fixtures.EOF:
				closed = l.T
			case fixtures.Exit:
				if closed > 0 {
					all["exit after its stdin was closed"] = append(all["exit after its stdin was closed"], l.T-closed)
				}
			}
		}
	}
	out := map[string]time.Duration{}
	for k, times := range all {
		slices.Sort(times)
		out[k] = times[len(times)/2]
	}
	return out
}

func sortedNames(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }

func without(a, b map[string]bool) []string {
	var out []string
	for k := range a {
		if !b[k] {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
