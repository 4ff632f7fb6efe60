package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug/mapping"
)

// The plain names of members, those that are more certain first.
var (
	callIDs     = []string{"tooluseid", "toolcallid", "callid", "tooluse", "toolid", "invocationid", "runid", "itemid", "id", "index"}
	toolNames   = []string{"toolname", "toolcallname", "functionname", "tool", "function", "fn", "name", "title"}
	toolInputs  = []string{"input", "toolinput", "args", "arguments", "parameters", "rawinput", "params"}
	toolOutputs = []string{"output", "tooloutput", "result", "rawoutput", "content", "response", "stdout", "text", "value", "data", "errortext", "error", "message"}
	texts       = []string{"text", "delta", "content", "chunk", "token", "piece", "part", "textdelta", "value", "message", "output", "answer", "body", "data"}
	thoughts    = append([]string{"thinking", "reasoning", "thought"}, texts...)
	blockIDs    = []string{"blockid", "partid", "textid", "messageid", "msgid", "id", "index"}
	requestIDs  = []string{"requestid", "permissionid", "approvalid", "confirmationid", "reqid", "id"}
	reasons     = []string{"message", "error", "errortext", "errormessage", "reason", "detail", "details", "description", "text"}
	failures    = []string{"iserror", "failed", "haserror"}
	successes   = []string{"ok", "success", "succeeded"}
	decisions   = []string{"decision", "outcome", "answer", "response", "result"}
	allowances  = []string{"allowed", "approved", "granted"}
)

// The words of kinds.
const (
	ofPermission = "permission approval approve confirm confirmation consent authorize authorization"
	ofDecision   = "allow deny approve reject accept decline cancel grant allowed denied approved rejected accepted declined cancelled"
	ofThought    = "thinking reasoning thought thoughts reason think"
	ofTool       = "tool tools function call command exec toolcall tooluse invocation"
	ofPiece      = "delta chunk partial piece stream streaming token part append fragment"
	ofEnd        = "done end ended finish finished complete completed stop stopped close closed final over"
	ofResult     = "result results output response return returned returns completed finished failed error ok done success"
	ofError      = "error failed failure exception fatal crash crashed errored"
	ofStop       = "abort aborted cancel cancelled canceled interrupted stopped"
	ofText       = "text message content assistant answer say speak response reply chunk token delta output completion write"
	ofSession    = "session connection stream closed close"
	ofUsage      = "usage tokens cost metrics stats"
	ofNothing    = "ping heartbeat keepalive start started begin began init step metadata status session ready hello connected log debug user state snapshot system progress keep created in queued turn thread run meta"
	ofOthers     = "plan todo todos question interrupt elicitation compaction checkpoint subagent component"
)

// ruler makes the rules for the groups of a sample.
type ruler struct {
	all    []*message
	groups []*group
	known  bool // a known vocabulary reads the other groups

	unplaced []*group
	starts   []*group // of calls, with an id and a name
	keeps    bool     // the start of a call emits nothing yet: its input follows
	answered bool     // a group answers permission requests
}

// rule returns a rule for a group.
func (g *group) rule(note string, emit event.Type, data map[string]string) mapping.Rule {
	r := mapping.Rule{Note: note, When: g.kind.when(), Emit: emit, Data: data}
	if len(g.kind) == 0 {
		for path := range g.messages[0].paths {
			if !strings.Contains(path, ".") && !slices.ContainsFunc(g.messages, func(m *message) bool { return m.paths[path] == nil || m.paths[path].Kind() == 'n' }) {
				r.Has = append(r.Has, path)
			}
		}
		slices.Sort(r.Has)
	}
	return r
}

// find returns the first path with one of the plain names whose values satisfy is in all messages that
// have it, or "".
func (g *group) find(names []string, is func(jsontext.Value) bool) string {
	for _, path := range g.pathsNamed(names) {
		fits := true
		for _, m := range g.messages {
			if v := m.paths[path]; v != nil && v.Kind() != 'n' && !is(v) {
				fits = false
			}
		}
		if _, isKind := g.kind[path]; fits && !isKind {
			return path
		}
	}
	return ""
}

func isText(v jsontext.Value) bool   { return v.Kind() == '"' }
func isFlag(v jsontext.Value) bool   { return v.Kind() == 't' || v.Kind() == 'f' }
func isObject(v jsontext.Value) bool { return v.Kind() == '{' }
func isAny(jsontext.Value) bool      { return true }
func isID(v jsontext.Value) bool     { return v.Kind() == '"' || v.Kind() == '0' }

// dataOf returns the data of an event without the members that were not found.
func dataOf(pairs ...string) map[string]string {
	out := map[string]string{}
	for pair := range slices.Chunk(pairs, 2) {
		if name, from := pair[0], pair[len(pair)-1]; from != "" {
			out[name] = from
		}
	}
	return out
}

// rules returns the rules of all groups that can be placed.
func (r *ruler) rules() (out []mapping.Rule) {
	for _, g := range r.groups {
		if r.isCall(g) && g.find(callIDs, isID) != "" && g.find(toolNames, isText) != "" && !g.isPermission() && !r.isResult(g) {
			r.starts = append(r.starts, g)
		}
	}
	r.chooseStarts()
	end := r.endOfTurn()
	for _, g := range r.groups {
		rules := r.place(g, g == end)
		if rules == nil {
			r.unplaced = append(r.unplaced, g)
		}
		out = append(out, rules...)
	}
	return out
}

// place returns the rules for a group, or nil if it cannot be placed.
func (r *ruler) place(g *group, isEnd bool) []mapping.Rule {
	one := func(note string, emit event.Type, data map[string]string) []mapping.Rule {
		return []mapping.Rule{g.rule(note, emit, data)}
	}
	switch {
	case isEnd:
		return r.placeEnd(g)
	case g.isPermission():
		return r.placePermission(g)
	case g.has(ofOthers):
		return nil
	case g.has(ofThought):
		if text := g.find(thoughts, isText); text != "" {
			return one("its name says thinking, and "+text+" is a text", event.TypeThinking, dataOf("text", text, "block_id", g.find(blockIDs, isText)))
		}
		if g.has(ofEnd) {
			return one("the end of thinking", event.TypeThinking, dataOf("done", "=true", "block_id", g.find(blockIDs, isText)))
		}
		return one("thinking without a text", "", nil)
	case r.isCall(g):
		return r.placeCall(g)
	case g.has(ofError):
		return one("its name says error", event.TypeError, dataOf("message", cmp.Or(g.find(reasons, isText), `="the adapter gave no reason"`)))
	case g.has(ofStop) && !g.has(ofText):
		return one("its name says that the turn was stopped", event.TypeDone, dataOf("stopped", "=true"))
	case g.has(ofUsage):
		return one("usage: the members of its tokens would need the names of the event usage, so it is ignored", "", nil)
	}
	if rules := r.placeText(g); rules != nil {
		return rules
	}
	if g.has(ofNothing) || g.has(ofEnd) || len(g.kind) > 0 && len(g.messages[0].paths) == len(g.kind) {
		return one("it neither holds a text nor ends the turn, so it is ignored", "", nil)
	}
	return nil
}

// placeText returns the rules for a text of the model: a piece of it, or the whole once more.
func (r *ruler) placeText(g *group) []mapping.Rule {
	text := g.find(texts, isText)
	named := len(g.kind) == 0 || g.has(ofText) || g.has(ofPiece) || slices.Contains([]string{"text", "delta"}, lastName(text)) && !g.has(ofNothing)
	if text == "" || !named || g.has("user") {
		return nil
	}
	if whole := r.repeats(g, text); whole {
		return []mapping.Rule{g.rule(text+" repeats the texts of the messages before it, so it is ignored", "", nil)}
	}
	note := text + " is a piece of the model's text"
	if !g.has(ofPiece) {
		note = text + " is the model's text: there are no pieces of it"
	}
	return []mapping.Rule{g.rule(note, event.TypeDelta, dataOf("text", text, "block_id", g.find(blockIDs, isText)))}
}

// repeats reports whether each text of a group is in the texts of other groups that come before it.
func (r *ruler) repeats(g *group, path string) bool {
	var before strings.Builder
	next := 0
	compared := false
	for _, m := range g.messages {
		for ; next < m.at; next++ {
			for _, other := range r.groups {
				if other == g || !slices.Contains(other.messages, r.all[next]) || r.isCall(other) || other.has(ofThought) {
					continue
				}
				if piece, is := r.all[next].text(other.find(texts, isText)); is {
					before.WriteString(piece)
				}
			}
		}
		text, _ := m.text(path)
		if text == "" || !strings.Contains(before.String(), text) {
			return false
		}
		compared = true
	}
	return compared
}

// isCall reports whether a group is about calls of tools.
func (r *ruler) isCall(g *group) bool {
	if g.has(ofTool) {
		return true
	}
	// Without a word for it, a call has an id, a name and an input.
	return g.find(callIDs[:len(callIDs)-2], isID) != "" && g.find(toolNames, isText) != "" && g.find(toolInputs, isAny) != ""
}

// isResult reports whether a group of calls has results.
func (r *ruler) isResult(g *group) bool {
	return g.has(ofResult) && g.find(toolInputs, isObject) == "" && g.find(toolOutputs, isAny) != "" && g.find(callIDs, isID) != ""
}

// input returns the path of a call's input, if it is not empty in all messages.
func (g *group) input() string {
	path := g.find(toolInputs, isAny)
	if slices.ContainsFunc(g.messages, func(m *message) bool {
		return len(m.paths[path]) > 0 && !slices.Contains([]string{"{}", `""`, "null"}, string(m.paths[path]))
	}) {
		return path
	}
	return ""
}

// chooseStarts chooses the groups that emit tool_start: those whose names say tool and that have an
// input, if there are some. If the input comes in separate messages, the start is kept until then.
func (r *ruler) chooseStarts() {
	narrow := func(better func(*group) bool) bool {
		var some []*group
		for _, g := range r.starts {
			if better(g) {
				some = append(some, g)
			}
		}
		if some != nil {
			r.starts = some
		}
		return some != nil
	}
	narrow(func(g *group) bool { return g.has(ofTool) })
	whole := narrow(func(g *group) bool { return g.input() != "" })
	if !whole && len(r.starts) > 0 && slices.ContainsFunc(r.groups, func(g *group) bool { return r.isArguments(g) || r.isInput(g) }) {
		r.keeps = true
	}
}

// isInput reports whether a group has the whole input of a call whose name came before.
func (r *ruler) isInput(g *group) bool {
	return g.has(ofTool) && !r.isResult(g) && g.find(callIDs, isID) != "" && g.find(toolNames, isText) == "" && g.find(toolInputs, isObject) != "" && g.input() != ""
}

// isArguments reports whether a group has pieces of a call's arguments.
func (r *ruler) isArguments(g *group) bool {
	return r.isCall(g) && g.has(ofPiece+" args arguments input") && g.find(toolNames, isText) == "" && !g.has("output result") && g.argumentsPiece() != ""
}

// argumentsPiece returns the path of a piece of arguments, or "".
func (g *group) argumentsPiece() string {
	return g.find(append([]string{"inputtextdelta", "argsdelta", "argumentsdelta", "partialjson"}, append(slices.Clone(toolInputs), texts...)...), isText)
}

// placeCall returns the rules for a message about a call.
func (r *ruler) placeCall(g *group) []mapping.Rule {
	id := g.find(callIDs, isID)
	switch {
	case slices.Contains(r.starts, g) && r.keeps:
		rule := g.rule("the name of a call, whose arguments follow in pieces", "", nil)
		rule.Key, rule.Keep = "call:"+id, map[string]string{"id": id, "tool": g.find(toolNames, isText), "args": `=""`}
		return []mapping.Rule{rule}
	case slices.Contains(r.starts, g):
		input := g.input()
		if input != "" && g.find([]string{lastName(input)}, isText) == input {
			input = "json:" + input
		}
		return []mapping.Rule{g.rule("a call: it has an id, a name and its input", event.TypeToolStart, dataOf("tool_use_id", id, "tool", g.find(toolNames, isText), "input", input))}
	case r.isArguments(g) && r.keeps:
		rule := g.rule("a piece of a call's arguments", "", nil)
		rule.Key, rule.Append = "call:"+id, map[string]string{"args": g.argumentsPiece()}
		return []mapping.Rule{rule}
	case r.isInput(g) && r.keeps:
		rule := g.rule("the input of a call, whose name came before", event.TypeToolStart, dataOf("tool_use_id", id, "tool", "@tool", "input", g.input()))
		rule.Key = "call:" + id
		return []mapping.Rule{rule}
	case r.isResult(g) && g.has(ofPiece) && !g.has("result returned completed"):
		return []mapping.Rule{g.rule("what a tool that runs writes", event.TypeToolOutput, dataOf("tool_use_id", id, "text", g.find(toolOutputs, isText)))}
	case r.isResult(g):
		return r.placeResult(g, id)
	case g.has(ofEnd) && r.keeps && id != "":
		rule := g.rule("the end of a call's arguments: the call is complete", event.TypeToolStart, dataOf("tool_use_id", "@id", "tool", "@tool", "input", "json:@args"))
		rule.Key = "call:" + id
		return []mapping.Rule{rule}
	case g.has("start started begin input delta args arguments progress running pending") || g.has(ofPiece):
		return []mapping.Rule{g.rule("another message has the whole call, so it is ignored", "", nil)}
	}
	return nil
}

// placeResult returns the rules for the results of calls.
func (r *ruler) placeResult(g *group, id string) []mapping.Rule {
	output := g.find(toolOutputs, func(v jsontext.Value) bool { return v.Kind() == '"' || v.Kind() == '[' })
	output = cmp.Or(output, g.find(toolOutputs, isAny))
	data := func(failed string) map[string]string {
		return dataOf("tool_use_id", id, "output", output, "is_error", failed)
	}
	note := fmt.Sprintf("the result of a call: it has the call's id, and %s is its output", output)
	if flag := g.find(failures, isFlag); flag != "" {
		return []mapping.Rule{g.rule(note, event.TypeToolResult, data(flag))}
	}
	if flag := g.find(successes, isFlag); flag != "" {
		good := g.rule(note, event.TypeToolResult, data("=false"))
		good.When[flag] = jsontext.Value("true")
		failed := data("=true")
		if reason := g.find([]string{"errormessage", "errortext", "error"}, isText); reason != "" {
			failed["output"] = reason
		}
		return []mapping.Rule{good, g.rule(note+"; "+flag+" is not true", event.TypeToolResult, failed)}
	}
	if g.has("error failed failure denied errored") {
		return []mapping.Rule{g.rule(note+"; its name says that the tool failed", event.TypeToolResult, data("=true"))}
	}
	return []mapping.Rule{g.rule(note+"; no member says whether the tool failed", event.TypeToolResult, data("=false"))}
}

// isPermission reports whether a group asks for a permission, or answers.
func (g *group) isPermission() bool {
	if g.has(ofPermission) {
		return true
	}
	asks := g.has("required requested asked asks ask") && g.find(toolNames, isText) != "" && g.find(requestIDs, isID) != ""
	return !g.has(ofTool) && (asks || g.answer() != "" && g.find(requestIDs[:len(requestIDs)-1], isID) != "")
}

// answer returns the path of a member that says whether a permission was given, or "".
func (g *group) answer() string {
	return cmp.Or(g.find(allowances, isFlag), g.find(decisions, func(v jsontext.Value) bool {
		return v.Kind() == '"' && slices.Contains(strings.Fields(ofDecision), strings.Trim(string(v), `"`))
	}))
}

// placePermission returns the rules for a permission request or its answer, or for both if they are of
// one kind.
func (r *ruler) placePermission(g *group) (out []mapping.Rule) {
	id, name, by := g.find(requestIDs, isID), g.find(toolNames, isText), g.find([]string{"by", "resolvedby"}, isText)
	if answer := g.answer(); answer != "" {
		if r.answered {
			return []mapping.Rule{g.rule("another message has the answer to the permission request, so it is ignored", "", nil)}
		}
		r.answered = true
		note := "the answer to a permission request"
		rule := g.rule(note, event.TypePermissionResolved, dataOf("request_id", id, "decision", g.find(decisions, isText), "allowed", g.find(allowances, isFlag), "tool_name", name, "by", by))
		out = append(out, rule)
		asks := slices.DeleteFunc(slices.Clone(g.messages), func(m *message) bool { return m.paths[answer] != nil })
		if len(asks) == 0 {
			return out
		}
		// The requests are of the same kind: they have no answer.
		out[0].Has, out[0].Note = []string{answer}, note+": it has "+answer
		answers := &group{kind: g.kind, words: g.words, messages: slices.DeleteFunc(slices.Clone(g.messages), func(m *message) bool { return m.paths[answer] == nil })}
		out[0].Data = dataOf("request_id", answers.find(requestIDs, isID), "decision", answers.find(decisions, isText), "allowed", answers.find(allowances, isFlag), "tool_name", answers.find(toolNames, isText), "by", by)
		g = &group{kind: g.kind, words: g.words, messages: asks}
		id, name = g.find(requestIDs, isID), g.find(toolNames, isText)
	}
	if id == "" || name == "" {
		return out
	}
	return append(out, g.rule("a request for a permission: it has an id and the name of a tool", event.TypePermissionRequest,
		dataOf("request_id", id, "tool_use_id", g.find(callIDs[:3], isID), "tool_name", name, "tool_input", g.find([]string{"input", "toolinput", "args", "arguments", "parameters", "rawinput"}, isObject))))
}

// endOfTurn returns the group that ends a turn: of those whose names say an end, the one that comes
// last in the sample.
func (r *ruler) endOfTurn() (best *group) {
	if r.known {
		return nil
	}
	latest := -1
	for _, g := range r.groups {
		last := g.messages[len(g.messages)-1].at
		if g.has(ofSession) {
			last -= len(r.all) // only if nothing else ends
		}
		says := g.has(ofEnd+" result idle") && !r.isCall(g) && !g.has(ofThought) && !g.isPermission() && !g.has(ofError)
		if says && (best == nil || last > latest) {
			best, latest = g, last
		}
	}
	if best != nil {
		return best
	}
	for _, g := range r.groups { // no name says it: the last message of the sample
		if slices.Contains(g.messages, r.all[len(r.all)-1]) && len(g.messages) < len(r.all) && !g.has(ofError) && g.find(texts, isText) == "" && !r.isCall(g) {
			return g
		}
	}
	return nil
}

// placeEnd returns the rules for the message that ends a turn.
func (r *ruler) placeEnd(g *group) []mapping.Rule {
	note := "the last message of a turn"
	if g.has(ofEnd + " result idle") {
		note += ", and its name says so"
	}
	var out []mapping.Rule
	for _, is := range []struct{ flag, failed string }{{g.find(failures, isFlag), "true"}, {g.find(successes, isFlag), "false"}} {
		if flag := is.flag; flag != "" {
			rule := g.rule(flag+" says that the turn failed", event.TypeError, dataOf("message", cmp.Or(g.find(append(slices.Clone(reasons), "result"), isText), `="the adapter gave no reason"`)))
			if rule.When == nil {
				rule.When = map[string]jsontext.Value{}
			}
			rule.When[flag] = jsontext.Value(is.failed)
			out = append(out, rule)
		}
	}
	return append(out, g.rule(note, event.TypeDone, dataOf("stopped", g.find([]string{"stopped", "aborted", "cancelled", "canceled", "interrupted"}, isFlag))))
}
