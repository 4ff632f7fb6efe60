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

// rule replaces a value that may differ between two runs of a client by a name. That
// the value exists is still compared.
type rule struct {
	name, why string
	member    *regexp.Regexp // the whole name of the member that holds the value
	of        string         // the type of the object that the member is in; "" if any
	text      *regexp.Regexp // or a part of any string
}

var rules = []rule{
	{name: "<time>", why: "depends on the clock", member: wholeName(`timestamp|createdAt|updatedAt|startedAt|completedAt|(?:.*[a-z])?(?:_ms|Ms)`)},
	{name: "<pid>", why: "a process id", member: wholeName(`pid|messaging_socket_path`)},
	{name: "<time>", why: "depends on the clock", member: wholeName(`time|next|date`)},
	{name: "<slug>", why: "two words by chance", member: wholeName(`slug`)},
	{name: "<snapshot>", why: "holds what the runtime has read when it writes the line", of: "message_update", member: wholeName("usage")},
	{name: "<time>", why: "depends on the clock", text: regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?`)},
}

func wholeName(expr string) *regexp.Regexp { return regexp.MustCompile(`^(?:` + expr + `)$`) }

// streams are kinds of output that an agent writes concurrently. The order within a
// stream is compared, but not the order between two of them, which depends on timers
// and promises of the agent. All other output is one stream.
var streams = map[string]string{
	"available_commands_update":  "commands, which a timer sends after the session is open",
	"session/request_permission": "requests to the client, which are concurrent with updates",
	"session_info_update":        "titles, which the agent requests outside of the session",
	"answer":                     "answers to the client's requests",
	"ask":                        "permission requests of Claude Code, which it sends before or after the message_delta of their message",
}

// chance are events of a server that come by chance, with the reason.
var chance = map[string]string{
	"server.heartbeat":    "a timer sends it",
	"plugin.added":        "the program starts its parts while the first turn runs",
	"catalog.updated":     "the program starts its parts while the first turn runs",
	"integration.updated": "the program starts its parts while the first turn runs",
	"reference.updated":   "the program starts its parts while the first turn runs",
	"session.updated":     "the program counts the changes of files after the turn too",
	"session.diff":        "the program counts the changes of files after the turn too",
}

// byChance reports whether an event of a server is not compared. That of a tool that runs
// holds its output so far, which a timer sends.
func byChance(v any) bool {
	m, _ := v.(map[string]any)
	e, _ := m["event"].(map[string]any)
	kind, _ := e["type"].(string)
	p, _ := e["properties"].(map[string]any)
	part, _ := p["part"].(map[string]any)
	state, _ := part["state"].(map[string]any)
	return chance[kind] != "" || state["status"] == "running"
}

// streamOf is the stream of an output. The events of a server are one stream by type.
func streamOf(v any) string {
	m, _ := v.(map[string]any)
	if e, ok := m["event"].(map[string]any); ok {
		if kind, ok := e["type"].(string); ok && e["properties"] != nil {
			return kind
		}
	}
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

// joinOutput joins the output of each command. It is cut by chance, and a piece comes
// alone or in the update that ends the command. What a command prints after its turn has
// ended is left out: whether it is killed before is chance.
func joinOutput(seen []any) []any {
	printed, turn, turns := map[string]any{}, map[string]int{}, 0
	at := func(v any, name string) map[string]any { m, _ := v.(map[string]any)[name].(map[string]any); return m }
	out := slices.DeleteFunc(slices.Clone(seen), func(v any) bool {
		m, ok := v.(map[string]any)
		if !ok {
			return false
		}
		if m["answer"] == "session/prompt" {
			turns++
		}
		update := at(v, "session/update")
		if update = at(update, "update"); update == nil {
			return false
		}
		meta := at(update, "_meta")
		if info := at(meta, "terminal_info"); info != nil {
			id, _ := info["terminal_id"].(string)
			turn[id] = turns
		}
		delta := at(meta, "terminal_output_delta")
		if delta == nil {
			return false
		}
		id, _ := delta["terminal_id"].(string)
		text, _ := delta["data"].(string)
		if turn[id] == turns {
			earlier, _ := printed[id].(string)
			printed[id] = earlier + text
		}
		delete(meta, "terminal_output_delta")
		return len(meta) == 0 && len(update) == 3 // only the id of the call
	})
	return append(out, map[string]any{"printed": printed})
}

// diffOutput compares the output of a client in two runs.
func diffOutput(want, got []string) string {
	byStream := func(a, b any) int { return cmp.Compare(streamOf(a), streamOf(b)) }
	f, r := joinOutput(values(got)), joinOutput(values(want))
	slices.SortStableFunc(f, byStream)
	slices.SortStableFunc(r, byStream)
	prose, whole := placeholders(f)
	a, b := renderOutput(r, prose, whole), renderOutput(f, nil, nil)
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
			continue // its place among the events depends on the driver
		}
		var v any
		if json.Unmarshal([]byte(l), &v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil {
			v = l
		}
		if byChance(v) {
			continue
		}
		out = append(out, v)
	}
	return out
}

// placeholder is a string of a recording from which prose was removed.
type placeholder struct {
	text   string
	around []string // the texts around the pieces of prose
	sizes  []int    // of the pieces, in bytes
}

var elided = regexp.MustCompile(`<elided:(\d+)>`)

// placeholders returns the strings of a stand-in from which prose was removed, by the
// member that holds them. whole are the other strings.
func placeholders(seen []any) (in map[string][]placeholder, whole map[string]bool) {
	in, whole = map[string][]placeholder{}, map[string]bool{}
	eachString("", seen, func(member, s string) {
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

// matches reports whether a string of the runtime may be the one that was elided.
func (p placeholder) matches(s string) bool {
	for i, n := range p.sizes {
		rest, ok := strings.CutPrefix(s, p.around[i])
		if !ok || len(rest) < n {
			return false
		}
		s = rest[n:]
	}
	return s == p.around[len(p.sizes)]
}

// sizeName names a string that contains prose by its length, because the pieces may
// be divided differently.
func sizeName(s string, pieces [][]string) string {
	n := len(elided.ReplaceAllString(s, ""))
	for _, m := range pieces {
		k, _ := strconv.Atoi(m[1]) // digits
		n += k
	}
	return fmt.Sprintf("<prose of %d bytes>", n)
}

func eachString(member string, v any, do func(member, s string)) {
	switch v := v.(type) {
	case string:
		do(member, v)
	case []any:
		for _, x := range v {
			eachString(member, x, do)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachString(name, v[name], do)
		}
	}
}

// madeID matches a UUID, and an id of OpenCode.
var madeID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:evt|ses|msg|prt|per|que)_[0-9a-f]{12}[0-9A-Za-z]{14}\b`)

// renderOutput writes each member in a line, with ids numbered and with the values of
// rules replaced.
func renderOutput(seen []any, prose map[string][]placeholder, whole map[string]bool) []string {
	ids := map[string]string{}
	text := func(member, s string) string {
		if i := slices.IndexFunc(prose[member], func(p placeholder) bool { return !whole[s] && p.matches(s) }); i >= 0 {
			s = prose[member][i].text
		}
		if m := elided.FindAllStringSubmatch(s, -1); m != nil {
			s = sizeName(s, m)
		}
		for _, r := range rules {
			if r.text != nil {
				s = r.text.ReplaceAllString(s, r.name)
			}
		}
		return madeID.ReplaceAllStringFunc(s, func(id string) string {
			ids[id] = cmp.Or(ids[id], fmt.Sprintf("<id:%d>", len(ids)+1))
			return ids[id]
		})
	}
	var out []string
	var write func(indent, lead, of, member string, v any)
	write = func(indent, lead, of, member string, v any) {
		for _, r := range rules {
			if r.member != nil && r.member.MatchString(member) && (r.of == "" || r.of == of) && v != nil {
				v = r.name
			}
		}
		switch v := v.(type) {
		case map[string]any:
			out = append(out, indent+lead+"{\n")
			kind, _ := v["type"].(string)
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if comesByChance(v, name) {
					continue
				}
				write(indent+"  ", text("", name)+": ", kind, name, v[name])
			}
			out = append(out, indent+"}\n")
		case []any:
			out = append(out, indent+lead+"[\n")
			for _, x := range v {
				write(indent+"  ", "", of, member, x)
			}
			out = append(out, indent+"]\n")
		case string:
			out = append(out, fmt.Sprintf("%s%s%q\n", indent, lead, text(member, v)))
		default:
			out = append(out, fmt.Sprintf("%s%s%v\n", indent, lead, v))
		}
	}
	for _, v := range seen {
		write("", "", "", "", v)
	}
	return out
}

// comesByChance reports whether an object may have a member or not. Pi times an aborted
// message only if the message is not older than the stream that ends it; both are made in
// the same millisecond or not.
func comesByChance(object map[string]any, member string) bool {
	return member == "durationMs" && object["stopReason"] == "aborted"
}

func TestRulesNameEachDifference(t *testing.T) {
	g := NewWithT(t)
	const a, b = "11111111-2222-4333-8444-555555555555", "99999999-2222-4333-8444-555555555555"
	line := func(id, rest string) []string {
		return []string{`{"id":"` + id + `","again":"x ` + id + `",` + rest + `}`}
	}
	g.Expect(diffOutput(line(a, `"duration_ms":5,"pid":7`), line(b, `"duration_ms":77,"pid":8`))).To(BeEmpty())
	g.Expect(diffOutput(line(a, `"type":"message_update","usage":1`), line(b, `"type":"message_update","usage":2`))).To(BeEmpty())
	g.Expect(diffOutput(line(a, `"type":"message_end","usage":1`), line(b, `"type":"message_end","usage":2`))).NotTo(BeEmpty(), "the usage of a whole message is compared")
	g.Expect(diffOutput(line(a, `"duration_ms":5`), line(b, `"other":1`))).NotTo(BeEmpty(), "a missing time is a difference")
	g.Expect(diffOutput(line(a, `"stopReason":"aborted","durationMs":5`), line(b, `"stopReason":"aborted"`))).To(BeEmpty())
	g.Expect(diffOutput(line(a, `"stopReason":"stop","durationMs":5`), line(b, `"stopReason":"stop"`))).NotTo(BeEmpty(), "a message that ends by itself is always timed")
	g.Expect(diffOutput(line(a, `"n":5`), line(a, `"n":6`))).NotTo(BeEmpty())
	g.Expect(diffOutput([]string{`["` + a + `","` + a + `"]`}, []string{`["` + a + `","` + b + `"]`})).NotTo(BeEmpty(), "one id twice, or two")
	g.Expect(diffOutput([]string{`{"description":"Do: be kind."}`}, []string{`{"description":"Do: <elided:8>"}`})).To(BeEmpty())
	g.Expect(diffOutput([]string{`{"description":"Do: be nice!!"}`}, []string{`{"description":"Do: <elided:8>"}`})).NotTo(BeEmpty(), "the length is compared")
	g.Expect(diffOutput([]string{`{"description":"abc defg"}`}, []string{`{"description":"<elided:3> <elided:4>"}`})).To(BeEmpty())
	g.Expect(diffOutput([]string{`{"x":"Do: be kind."}`}, []string{`{"description":"Do: <elided:8>"}`})).NotTo(BeEmpty())
	g.Expect(diffOutput([]string{`1`, `2`}, []string{`1`})).NotTo(BeEmpty())

	g.Expect(diffOutput([]string{`{"message":1}`, `{"ask":1}`}, []string{`{"ask":1}`, `{"message":1}`})).To(BeEmpty(), "streams are concurrent")
	g.Expect(diffOutput([]string{`{"ask":1}`, `{"ask":2}`}, []string{`{"ask":2}`, `{"ask":1}`})).NotTo(BeEmpty(), "the order within a stream is compared")

	const begin, end = `{"session/update":{"update":{"_meta":{"terminal_info":{"terminal_id":"t1"}}}}}`, `{"answer":"session/prompt"}`
	const prints = `{"session/update":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"t1","_meta":{"terminal_output_delta":{"terminal_id":"t1","data":"came"}}}}}`
	g.Expect(diffOutput([]string{begin, end, prints}, []string{begin, end})).To(BeEmpty(), "output after the turn")
	g.Expect(diffOutput([]string{begin, prints, end}, []string{begin, end})).NotTo(BeEmpty(), "output in the turn is compared")
}
