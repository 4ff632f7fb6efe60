package clients

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/pmezard/go-difflib/difflib"
)

// A rule names what may differ between two runs of one client, and why. It
// replaces a value by its name; that the value is there, and where, is compared.
type rule struct {
	name, why string
	member    *regexp.Regexp // the whole name of the member that holds the value
	text      *regexp.Regexp // or a part of any string
}

var rules = []rule{
	{name: "<time>", why: "the clock decides", member: whole(`timestamp|createdAt|updatedAt|startedAt|completedAt|(?:.*[a-z])?(?:_ms|Ms)`)},
	{name: "<pid>", why: "a process id", member: whole(`pid|messaging_socket_path`)},
	{name: "<time>", why: "the clock decides", text: regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?`)},
}

func whole(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + expr + `)$`) }

// streams are what an agent says side by side, each in its own order: which of
// two streams is ahead is decided within the agent, by its timers and promises.
// All that is not named here is one stream.
var streams = map[string]string{
	"available_commands_update":  "commands, sent by a timer after the session is open",
	"session/request_permission": "requests to the client, made beside the updates",
	"session_info_update":        "titles, which the agent asks for beside the session",
	"answer":                     "answers to the client's requests",
}

func streamOf(v any) string {
	m, _ := v.(map[string]any)
	p, _ := m["session/update"].(map[string]any)
	u, _ := p["update"].(map[string]any)
	if kind, _ := u["sessionUpdate"].(string); streams[kind] != "" {
		return kind
	}
	for name := range m {
		if streams[name] != "" {
			return name
		}
	}
	return ""
}

// joined puts what each command printed together: it comes in as many pieces as
// chance makes, alone or with the update that ends the command.
func joined(seen []any) []any {
	printed := map[string]any{}
	at := func(v any, name string) map[string]any { m, _ := v.(map[string]any)[name].(map[string]any); return m }
	out := slices.DeleteFunc(slices.Clone(seen), func(v any) bool {
		if _, ok := v.(map[string]any); !ok {
			return false
		}
		update := at(v, "session/update")
		if update = at(update, "update"); update == nil {
			return false
		}
		meta := at(update, "_meta")
		delta := at(meta, "terminal_output_delta")
		if delta == nil {
			return false
		}
		id, _ := delta["terminal_id"].(string)
		text, _ := delta["data"].(string)
		before, _ := printed[id].(string)
		printed[id] = before + text
		delete(meta, "terminal_output_delta")
		return len(meta) == 0 && len(update) == 3 // nothing but which call it is of
	})
	return append(out, map[string]any{"printed": printed})
}

// differ compares what a client saw on both sides and returns a diff, or "".
func differ(want, got []string) string {
	byStream := func(a, b any) int { return cmp.Compare(streamOf(a), streamOf(b)) }
	f, r := joined(values(got)), joined(values(want))
	slices.SortStableFunc(f, byStream)
	slices.SortStableFunc(r, byStream)
	prose, whole := placeholders(f)
	a, b := render(r, prose, whole), render(f, nil, nil)
	diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: a, B: b, FromFile: "runtime", ToFile: "stand-in", Context: 2})
	if err != nil {
		return err.Error()
	}
	return diff
}

func values(lines []string) []any {
	var out []any
	for _, l := range lines {
		if strings.HasPrefix(l, `{"act":`) {
			continue // where it falls among the events is the driver's time
		}
		var v any
		if json.Unmarshal([]byte(l), &v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
			v = l
		}
		out = append(out, v)
	}
	return out
}

// placeholder is a string of a recording that prose was cut out of.
type placeholder struct {
	text   string
	around []string // what stands around the pieces of prose, one more than these
	sizes  []int    // of the pieces, in bytes
}

var elided = regexp.MustCompile(`<elided:(\d+)>`)

// placeholders are the strings of a stand-in that have prose elided, by the
// member that holds them. What the stand-in said whole is no prose.
func placeholders(seen []any) (in map[string][]placeholder, whole map[string]bool) {
	in, whole = map[string][]placeholder{}, map[string]bool{}
	walk("", seen, func(member, s string) {
		at := elided.FindAllStringSubmatch(s, -1)
		if at == nil {
			whole[s] = true
			return
		}
		if slices.ContainsFunc(in[member], func(p placeholder) bool { return p.text == s }) {
			return
		}
		p := placeholder{text: s, around: elided.Split(s, -1)}
		for _, m := range at {
			n, _ := strconv.Atoi(m[1]) // digits
			p.sizes = append(p.sizes, n)
		}
		in[member] = append(in[member], p)
	})
	return in, whole
}

// is reports whether the runtime's own string is the one that was elided.
func (p placeholder) is(s string) bool {
	for i, n := range p.sizes {
		rest, ok := strings.CutPrefix(s, p.around[i])
		if !ok || len(rest) < n {
			return false
		}
		s = rest[n:]
	}
	return s == p.around[len(p.sizes)]
}

// size stands for a string with prose in it: two that are put together of other
// pieces, as long in all, cannot be told apart.
func size(s string, pieces [][]string) string {
	n := len(elided.ReplaceAllString(s, ""))
	for _, m := range pieces {
		k, _ := strconv.Atoi(m[1]) // digits
		n += k
	}
	return fmt.Sprintf("<prose of %d bytes>", n)
}

func walk(member string, v any, do func(member, s string)) {
	switch v := v.(type) {
	case string:
		do(member, v)
	case []any:
		for _, x := range v {
			walk(member, x, do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walk(name, v[name], do)
		}
	}
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// render writes what was seen a member a line, with ids numbered as they come
// and all that a rule names replaced.
func render(seen []any, prose map[string][]placeholder, whole map[string]bool) []string {
	ids := map[string]string{}
	text := func(member, s string) string {
		if i := slices.IndexFunc(prose[member], func(p placeholder) bool { return !whole[s] && p.is(s) }); i >= 0 {
			s = prose[member][i].text
		}
		if m := elided.FindAllStringSubmatch(s, -1); m != nil {
			s = size(s, m)
		}
		for _, r := range rules {
			if r.text != nil {
				s = r.text.ReplaceAllString(s, r.name)
			}
		}
		return uuid.ReplaceAllStringFunc(s, func(id string) string {
			ids[id] = cmp.Or(ids[id], fmt.Sprintf("<id:%d>", len(ids)+1))
			return ids[id]
		})
	}
	var out []string
	var write func(indent, lead, member string, v any)
	write = func(indent, lead, member string, v any) {
		for _, r := range rules {
			if r.member != nil && r.member.MatchString(member) && v != nil {
				v = r.name
			}
		}
		switch v := v.(type) {
		case map[string]any:
			out = append(out, indent+lead+"{\n")
			for _, name := range slices.Sorted(maps.Keys(v)) {
				write(indent+"  ", text("", name)+": ", name, v[name])
			}
			out = append(out, indent+"}\n")
		case []any:
			out = append(out, indent+lead+"[\n")
			for _, x := range v {
				write(indent+"  ", "", member, x)
			}
			out = append(out, indent+"]\n")
		case string:
			out = append(out, fmt.Sprintf("%s%s%q\n", indent, lead, text(member, v)))
		default:
			out = append(out, fmt.Sprintf("%s%s%v\n", indent, lead, v))
		}
	}
	for _, v := range seen {
		write("", "", "", v)
	}
	return out
}

func TestOnlyWhatARuleNamesMayDiffer(t *testing.T) {
	g := NewWithT(t)
	const a, b = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"
	line := func(id, rest string) []string {
		return []string{`{"id":"` + id + `","again":"x ` + id + `",` + rest + `}`}
	}
	g.Expect(differ(line(a, `"duration_ms":5,"pid":7`), line(b, `"duration_ms":77,"pid":8`))).To(BeEmpty())
	g.Expect(differ(line(a, `"duration_ms":5`), line(b, `"other":1`))).NotTo(BeEmpty(), "that a time is there is compared")
	g.Expect(differ(line(a, `"n":5`), line(a, `"n":6`))).NotTo(BeEmpty())
	g.Expect(differ([]string{`["` + a + `","` + a + `"]`}, []string{`["` + a + `","` + b + `"]`})).NotTo(BeEmpty(), "one id twice, or two")
	g.Expect(differ([]string{`{"description":"Do: be kind."}`}, []string{`{"description":"Do: <elided:8>"}`})).To(BeEmpty())
	g.Expect(differ([]string{`{"description":"Do: be nice!!"}`}, []string{`{"description":"Do: <elided:8>"}`})).NotTo(BeEmpty(), "the length is compared")
	g.Expect(differ([]string{`{"description":"abc defg"}`}, []string{`{"description":"<elided:3> <elided:4>"}`})).To(BeEmpty())
	g.Expect(differ([]string{`{"x":"Do: be kind."}`}, []string{`{"description":"Do: <elided:8>"}`})).NotTo(BeEmpty())
	g.Expect(differ([]string{`1`, `2`}, []string{`1`})).NotTo(BeEmpty())
}
