package event

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

var at = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)

// whole holds one event of every type with every field set: these, and of each other type one
// that filled makes.
var whole = withOthers([]Data{
	SessionReady{"s1", "codex", "0.169.0", "p1", true, "p0", "m", "/w", "ask"},
	SessionEnd{"closed", new(0)},
	TurnStart{CauseUser, []string{"m1", "m2"}, "pt"},
	UserMessage{"m1", "hi", []Attachment{{"image", "n", "/p", "http://u", "image/png"}}, ViaSteer},
	Queue{[]string{"m3"}},
	Delta{"text\u2028\n\"", "msg", "b1"},
	Thinking{"hm", true, "b0"},
	BlockEnd{"b1", BlockReplaced, "text"},
	ToolStart{"t1", "Bash", Raw(`{"command":"ls","n":[1,null]}`), "ls", "/f", "p", "/s", "q", "https://u", true, true, true, "sub", "msg"},
	ToolInput{"t1", "Bash", `{"command":"l`, true},
	ToolOutput{"t1", "out"},
	ToolResult{"t1", "out", true, ToolError, new(2), []FileChange{{"/a", ChangeMove, "/b", "@@"}}, "/f", true, true, []Media{{MediaImage, "image/png", 70, "ab"}}},
	Task{"k1", TaskSubagent, "k0", "t1", "name", TaskRunning, "t", &Tokens{1, 2, 3, 4, 5}},
	PermissionRequest{"r1", "t1", "Bash", Raw(`{"command":"ls"}`), []string{"allow"}, "why"},
	PermissionResolved{"r1", "Bash", true, DecisionAllow, ByPolicy},
	Interrupt{"i1", "AskUserQuestion", Raw(`{}`), "chat"},
	InterruptResolved{"i1", Raw(`[1]`), ByUser},
	Plan{[]PlanStep{{"a", StepCompleted}, {"b", StepPending}}},
	Usage{Tokens{1, 2, 3, 4, 5}, ScopeTurn, new(0.25), &Context{10, 20}},
	Compaction{PhaseEnd, 7},
	ComponentUpdate{"c1", "Chart", Raw(`{"x":1}`), "panel", true},
	ComponentRemove{"c1"},
	ModelChanged{"m"},
	ModeChanged{"never"},
	Checkpoint{"c", CheckpointRestored},
	Notice{LevelWarning, NoticeGarbage, "t", Raw(`"x"`)},
	Result{"text", &Stats{12, 3}},
	Error{"no", ErrorAuth},
	Done{true, "stopped", new(1)},
})

// withOthers adds an event of each type that samples lacks.
func withOthers(samples []Data) []Data {
	for _, r := range rows {
		d, ok := reflect.TypeAssert[Data](filled(r.goType)) // it has no methods before go generate
		if ok && !slices.ContainsFunc(samples, func(d Data) bool { return d.EventType() == r.name }) {
			samples = append(samples, d)
		}
	}
	return samples
}

// filled returns a value of a type in which no field is zero.
func filled(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case enums[t] != nil:
		v.SetString(enums[t][0])
	case t == reflect.TypeFor[Raw]():
		v.SetBytes([]byte(`{"a":[1,null]}`))
	case t.Kind() == reflect.String:
		v.SetString("text")
	case t.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	case v.CanFloat():
		v.SetFloat(1.5)
	case t.Kind() == reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(filled(t.Elem()))
	case t.Kind() == reflect.Slice:
		v.Set(reflect.Append(v, filled(t.Elem())))
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			v.Field(i).Set(filled(t.Field(i).Type))
		}
	}
	return v
}

func wrap(d Data) Event {
	return Event{Data: d, TS: at, Seq: 1, SessionID: "s", Turn: 2, SubagentID: "a"}
}

// zero returns the smallest legal form of a type: only its required fields.
func zero(d Data) Data {
	v := reflect.New(reflect.TypeOf(d)).Elem()
	for _, field := range v.Fields() {
		if values := enums[field.Type()]; values != nil {
			field.SetString(values[0])
		}
	}
	return v.Interface().(Data)
}

func TestRoundTrip(t *testing.T) {
	s := schema(t)
	seen := map[Type]bool{}
	for _, d := range whole {
		seen[d.EventType()] = true
		t.Run(string(d.EventType()), func(t *testing.T) {
			g := NewWithT(t)
			line, err := wrap(d).AppendJSON(nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(line)).NotTo(ContainSubstring("\n"))
			got, err := Decode(line)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(wrap(d)))
			g.Expect(validate(s, line)).To(Succeed())

			small := Event{Data: zero(d), TS: at, Seq: 9, SessionID: "s"}
			line, err = small.AppendJSON(nil)
			g.Expect(err).NotTo(HaveOccurred())
			got, err = Decode(line)
			g.Expect(err).NotTo(HaveOccurred(), "%s", line)
			again, err := got.AppendJSON(nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(again)).To(Equal(string(line)))
			g.Expect(validate(s, line)).To(Succeed())
		})
	}
	NewWithT(t).Expect(seen).To(HaveLen(len(rows)), "every type needs a sample")
}

// TestSamplesSetEveryField: the round trip of a field proves nothing if no sample
// sets it.
func TestSamplesSetEveryField(t *testing.T) {
	for _, d := range whole {
		v := reflect.ValueOf(d)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s.%s is not set", v.Type(), v.Type().Field(i).Name)
			}
		}
		if v.NumField() > 32 {
			t.Errorf("%s has more fields than strict decoding can track", v.Type())
		}
	}
}

func line(typ, data string) string {
	return `{"type":"` + typ + `","data":` + data + `,"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s"}`
}

func TestDecodeErrors(t *testing.T) {
	s := schema(t)
	const head = `{"type":"done","data":{},`
	tests := []struct {
		in, want string
		lax      bool // the schema cannot express it
	}{
		{in: ``, want: `not an event: `},
		{in: `{"type":"done"`, want: `not an event: `},
		{in: `[]`, want: `want an object, got an array`},
		{in: `nonsense`, want: `not an event: `},
		{in: line("done", `{}`) + `{}`, want: `not an event: `},
		{in: `{"data":{},"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s"}`, want: `type: missing`},
		{in: `{"type":"done","ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s"}`, want: `data: missing`},
		{in: head + `"seq":1,"session_id":"s"}`, want: `ts: missing`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","session_id":"s"}`, want: `seq: missing`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1}`, want: `session_id: missing`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":""}`, want: `session_id: want a text, got an empty one`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":0,"session_id":"s"}`, want: `seq: want a number from 1, got 0`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":"1","session_id":"s"}`, want: `seq: want a whole number, got a string`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1.5,"session_id":"s"}`, want: `seq: want a whole number of at most 53 bits, got 1.5`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1.0,"session_id":"s"}`, want: `seq: want a whole number of at most 53 bits, got 1.0`, lax: true},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":9007199254740992,"session_id":"s"}`, want: `seq: want a whole number of at most 53 bits`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s","turn":0}`, want: `turn: want a number from 1, got 0`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s","turn":null}`, want: `turn: want a whole number, got null`},
		{in: head + `"ts":"2026-11-21T10:00:00Z","seq":1,"session_id":"s","more":1}`, want: `more: unknown field`},
		{in: head + `"ts":"yesterday","seq":1,"session_id":"s"}`, want: `ts: `},
		{in: head + `"ts":"0001-01-01T00:00:00Z","seq":1,"session_id":"s"}`, want: `ts: want a time from the year 1000 on`},
		{in: line("nope", `{}`), want: `type: unknown event type "nope"`},
		{in: line("done", `[]`), want: `data: want an object, got an array`},
		{in: line("done", `null`), want: `data: want an object, got null`},
		{in: line("done", `{"x":1}`), want: `data.x: unknown field`},
		{in: line("done", `{"Stopped":true}`), want: `data.Stopped: unknown field`},
		{in: line("done", `{"stopped":1}`), want: `data.stopped: want true or false, got a number`},
		{in: line("done", `{"exit_code":null}`), want: `data.exit_code: want a whole number, got null`},
		{in: line("done", `{"subagent_id":7}`), want: `data.subagent_id: want a string, got a number`},
		{in: line("delta", `{"text":"a","message_id":"m"}`), want: `data.block_id: missing`},
		{in: line("delta", `{"text":["a"],"message_id":"m","block_id":"b"}`), want: `data.text: want a string, got an array`},
		{in: line("queue", `{"message_ids":"m"}`), want: `data.message_ids: want an array, got a string`},
		{in: line("queue", `{"message_ids":["m",1]}`), want: `data.message_ids.1: want a string, got a number`},
		{in: line("turn_start", `{"cause":"me","message_ids":[]}`), want: `data.cause: want one of user, task, command, got "me"`},
		{in: line("user_message", `{"message_id":"m","text":"","via":"post"}`), want: `data.via: want one of turn, merge, steer, got "post"`},
		{in: line("user_message", `{"message_id":"m","text":"","via":"turn","attachments":[{}]}`), want: `data.attachments.0.kind: missing`},
		{in: line("block_end", `{"block_id":"b","status":"gone"}`), want: `data.status: want one of complete, replaced, interrupted, retracted, got "gone"`},
		{in: line("tool_result", `{"tool_use_id":"t","output":"","is_error":false,"status":"fine"}`), want: `data.status: want one of ok, error, denied, interrupted, backgrounded, got "fine"`},
		{in: line("tool_result", `{"tool_use_id":"t","output":"","is_error":false,"status":"ok","changes":[{"path":"p","kind":"add"},{"path":"p","kind":"burn"}]}`), want: `data.changes.1.kind: want one of add, update, delete, move, got "burn"`},
		{in: line("task", `{"task_id":"k","kind":"cron","status":"running"}`), want: `data.kind: want one of subagent, command`},
		{in: line("task", `{"task_id":"k","kind":"command","status":"lost"}`), want: `data.status: want one of running,`},
		{in: line("task", `{"task_id":"k","kind":"command","status":"running","usage":{"input":1}}`), want: `data.usage.output: missing`},
		{in: line("permission_resolved", `{"request_id":"r","tool_name":"t","allowed":true,"decision":"yes","by":"user"}`), want: `data.decision: want one of allow, deny, cancel`},
		{in: line("permission_resolved", `{"request_id":"r","tool_name":"t","allowed":true,"decision":"deny","by":"god"}`), want: `data.by: want one of user, policy, runtime, withdrawn`},
		{in: line("plan", `{"steps":[{"text":"a","status":"pending"},{"text":"b","status":"soon"}]}`), want: `data.steps.1.status: want one of pending, in_progress, completed, got "soon"`},
		{in: line("plan", `{"steps":[{"text":"a"}]}`), want: `data.steps.0.status: missing`},
		{in: line("plan", `{"steps":[null]}`), want: `data.steps.0: want an object, got null`},
		{in: line("usage", `{"tokens":{"input":1,"output":2,"extra":3}}`), want: `data.tokens.extra: unknown field`},
		{in: line("usage", `{"tokens":{"input":1,"output":2,"subagent_id":"a"}}`), want: `data.tokens.subagent_id: unknown field`},
		{in: line("usage", `{"tokens":{"input":1,"output":2},"cost":"1"}`), want: `data.cost: want a number, got a string`},
		{in: line("usage", `{"tokens":{"input":1,"output":2},"cost":1e400}`), want: `data.cost: `, lax: true},
		{in: line("compaction", `{"phase":"half"}`), want: `data.phase: want one of start, end`},
		{in: line("checkpoint", `{"checkpoint_id":"c","action":"eaten"}`), want: `data.action: want one of created, restored`},
		{in: line("notice", `{"level":"loud","code":"retry"}`), want: `data.level: want one of info, warning, error`},
		{in: line("notice", `{"level":"info","code":"odd"}`), want: `data.code: want one of unknown_message, garbage,`},
		{in: line("error", `{"message":"m","code":"odd"}`), want: `data.code: want one of auth, rate_limit,`},
		{in: line("error", `{"message":"m","code":"`+strings.Repeat("x", 500)+`"}`), want: strings.Repeat("x", 79) + `…`},
		{in: strings.TrimSuffix(line("done", `{"subagent_id":"a"}`), "}") + `,"subagent_id":"b"}`, want: `data.subagent_id: want "b" as in subagent_id, got "a"`, lax: true},
	}
	for _, tt := range tests {
		g := NewWithT(t)
		_, err := Decode([]byte(tt.in))
		g.Expect(err).To(MatchError(ContainSubstring(tt.want)), tt.in)
		g.Expect(validate(s, []byte(tt.in)) == nil).To(Equal(tt.lax), "result of the schema for %s", tt.in)
	}
}

func TestDecodeLenience(t *testing.T) {
	tests := []struct {
		name, in string
		want     Data
		sub      string
	}{
		{"invalid UTF-8", line("delta", "{\"text\":\"a\xff\xfeb\",\"message_id\":\"m\",\"block_id\":\"b\"}"), Delta{"a\ufffd\ufffdb", "m", "b"}, ""},
		{"a lone surrogate", line("delta", `{"text":"a\ud83db","message_id":"m","block_id":"b"}`), Delta{"a\ufffdb", "m", "b"}, ""},
		{"a pair of surrogates", line("delta", `{"text":"\ud83d\ude00","message_id":"m","block_id":"b"}`), Delta{"😀", "m", "b"}, ""},
		{"duplicates: the last wins", line("delta", `{"text":"a","text":"b","message_id":"m","block_id":"b"}`), Delta{"b", "m", "b"}, ""},
		{"duplicates within raw", line("notice", `{"level":"info","code":"garbage","raw":{"a":1,"a":2}}`), Notice{LevelInfo, NoticeGarbage, "", Raw(`{"a":1,"a":2}`)}, ""},
		{"white space and escapes in names", " { \"\\u0074ype\" : \"done\" ,\"data\":{ },\"ts\":\"2026-11-21T12:00:00+02:00\",\"seq\":1,\"session_id\":\"s\"}\r", Done{}, ""},
		{"the sub-agent within data", line("done", `{"reason":"r","subagent_id":"a"}`), Done{Reason: "r"}, "a"},
		{"the sub-agent twice", strings.TrimSuffix(line("done", `{"subagent_id":"a"}`), "}") + `,"subagent_id":"a"}`, Done{}, "a"},
		{"a sub-agent's name deep in an input is none", line("tool_start", `{"tool_use_id":"t","tool":"T","input":{"subagent_id":"a"}}`), ToolStart{ToolUseID: "t", Tool: "T", Input: Raw(`{"subagent_id":"a"}`)}, ""},
		{"null where any JSON may stand", line("interrupt_resolved", `{"interrupt_id":"i","value":null,"by":"user"}`), InterruptResolved{"i", Raw(`null`), ByUser}, ""},
	}
	s := schema(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Decode([]byte(tt.in))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Data).To(Equal(tt.want))
			g.Expect(got.SubagentID).To(Equal(tt.sub))
			g.Expect(got.TS).To(Equal(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)))
			g.Expect(validate(s, []byte(tt.in))).To(Succeed())
		})
	}
}

func TestEncodeReplacesInvalidText(t *testing.T) {
	g := NewWithT(t)
	e := wrap(Notice{LevelInfo, NoticeGarbage, "a\xff", Raw("{\n \"x\" : \"\\ud800\xff\", \"n\": 1.0e0 }")})
	e.SessionID = "s\xff"
	b, err := e.AppendJSON([]byte("before "))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(HavePrefix("before {"))
	g.Expect(string(b)).To(ContainSubstring(`"text":"a` + "\ufffd" + `","raw":{"x":"` + "\ufffd\ufffd" + `","n":1.0e0}`))
	g.Expect(string(b)).To(ContainSubstring(`"session_id":"s` + "\ufffd" + `"`))
}

// TestEncodeKeepsEmptyJSON: an empty input differs from no input.
func TestEncodeKeepsEmptyJSON(t *testing.T) {
	for _, raw := range []string{`{}`, `[]`, `""`, `null`} {
		g := NewWithT(t)
		want := wrap(ToolStart{ToolUseID: "t", Tool: "T", Input: Raw(raw)})
		b, err := want.AppendJSON(nil)
		g.Expect(err).NotTo(HaveOccurred())
		got, err := Decode(b)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(got).To(Equal(want))
	}
}

func TestEncodeErrors(t *testing.T) {
	g := NewWithT(t)
	_, err := Event{}.AppendJSON(nil)
	g.Expect(err).To(MatchError("event without data"))
	_, err = wrap(Notice{Level: LevelInfo, Code: NoticeGarbage, Raw: Raw("{oops")}).AppendJSON(nil)
	g.Expect(err).To(MatchError(ContainSubstring("notice: ")))
	e := wrap(Done{})
	e.TS = time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	b, err := e.AppendJSON([]byte("kept"))
	g.Expect(err).To(MatchError(ContainSubstring("ts: ")))
	g.Expect(string(b)).To(Equal("kept"))
}

func TestDecodeCopiesInput(t *testing.T) {
	g := NewWithT(t)
	in := []byte(line("tool_start", `{"tool_use_id":"t","tool":"T","input":{"a":1}}`))
	e, err := Decode(in)
	g.Expect(err).NotTo(HaveOccurred())
	for i := range in {
		in[i] = 'x'
	}
	g.Expect(e.Data).To(Equal(ToolStart{ToolUseID: "t", Tool: "T", Input: Raw(`{"a":1}`)}))
}

func FuzzDecode(f *testing.F) {
	for _, d := range whole {
		b, err := wrap(d).AppendJSON(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(line("done", `{"subagent_id":"a"}`)))
	f.Add([]byte("{\"type\":\"delta\",\"data\":{\"text\":\"\\ud800\xff\"}}"))
	s := schema(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			if err.Error() == "" {
				t.Error("the error has no text")
			}
			return
		}
		if err := validate(s, b); err != nil {
			t.Errorf("Decode accepts what the schema rejects: %v", err)
		}
		one, err := e.AppendJSON(nil)
		if err != nil {
			t.Fatalf("a decoded event cannot be written: %v", err)
		}
		again, err := Decode(one)
		if err != nil {
			t.Fatalf("what was written cannot be decoded: %v\n%s", err, one)
		}
		two, _ := again.AppendJSON(nil)
		if string(one) != string(two) {
			t.Errorf("not stable:\n%s\n%s", one, two)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	in := []byte(line("delta", `{"text":"some words","message_id":"m","block_id":"b"}`))
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		if _, err := Decode(in); err != nil {
			b.Fatal(fmt.Sprint(err))
		}
	}
}
