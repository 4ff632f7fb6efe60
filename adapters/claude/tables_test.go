package claude

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

func TestReadsFiles(t *testing.T) {
	for _, c := range []struct {
		command, file string // if empty, the pattern and path of a search
		reads         bool
	}{
		{"cat a.txt", "a.txt", true}, {"head -n 5 a.txt", "a.txt", true}, {"wc -l 'a.txt' 2>/dev/null", "a.txt", true},
		{"grep -r x . | head -3", "x .", true}, {"ls", "", true}, {"find . -name '*.go'", "*.go .", true},
		{"sed -n '2,3p' a.txt", "a.txt", true}, {"sed -n 2p a.txt", "a.txt", true}, {"sed -n 's/a/b/w f' a.txt", "", false},
		{"nl -ba a.txt | sed -n '1,2p'", "a.txt", true}, {"cd sub && cat b.txt", "sub/b.txt", true}, {"cd sub", "", false},
		{"cat 'a b.txt' | sort | uniq", "a b.txt", true}, {"sort a.txt", "", false}, {"cat a | sort -o b", "", false}, {"cat a | uniq - b", "", false},
		{"rg -g '*.go' needle src", "needle src", true}, {"rg --pre ./x needle", "", false}, {"grep -e x -A 2 f", " f", true},
		{"cat a & rm b", "", false}, {"cat a |", "", false}, {"cat \"$HOME\"", "", false}, {"ls -la src", " src", true}, {"tree -o f", "", false},
		{`bash -lc "cat a.txt"`, "a.txt", true}, {"cat a && rm a", "", false}, {"cat a > b", "", false},
		{"cat $(rm x)", "", false}, {"find . -exec rm {} +", "", false}, {"find . -delete", "", false},
		{"sed -i s/a/b/ f", "", false}, {"", "", false}, {"cat a; touch b", "", false}, {"ls `x`", "", false},
		{`bash -c "cat a" "rm b"`, "", false},
	} {
		r := readsFiles(c.command)
		got := r.file
		if got == "" && r.pattern+r.searchPath != "" {
			got = r.pattern + " " + r.searchPath
		}
		if r.is != c.reads || got != c.file {
			t.Errorf("%q: got %v %q, want %v %q", c.command, r.is, got, c.reads, c.file)
		}
	}
}

func TestResultErrorCodes(t *testing.T) {
	status := func(n float64) *float64 { return &n }
	for name, c := range map[string]struct {
		ln   line
		seen *event.Error
		want event.ErrorCode
	}{
		"seen":        {line{}, &event.Error{Code: event.ErrorAuth}, event.ErrorAuth},
		"status only": {line{APIErrorStatus: status(529)}, nil, event.ErrorOverloaded},
		"too long":    {line{TerminalReason: "prompt_too_long"}, &event.Error{Code: event.ErrorInvalid}, event.ErrorContext},
		"max turns":   {line{Subtype: "error_max_turns"}, nil, event.ErrorLimit},
		"unreached":   {line{Errors: []lenient.Str{"API Error: Unable to connect to API (ECONNREFUSED)"}}, nil, event.ErrorNetwork},
		"nothing":     {line{Subtype: "error_during_execution"}, nil, event.ErrorUnknown},
	} {
		if got := resultError(&c.ln, c.seen); got.Code != c.want || got.Message == "" {
			t.Errorf("%s: got %+v, want code %s and a message", name, got, c.want)
		}
	}
}

func TestAnswersBecomeVerdicts(t *testing.T) {
	choice := &question{tool: "AskUserQuestion", interrupt: true, input: event.Raw(`{"questions":[1]}`)}
	plan := &question{tool: "ExitPlanMode", interrupt: true, input: event.Raw(`{}`)}
	tool := &question{tool: "Bash", input: event.Raw(`{"command":"x"}`)}
	long := &question{tool: "Write", input: event.Raw(`"` + string(make([]byte, maxEcho)) + `"`)}
	for name, c := range map[string]struct {
		a    *question
		an   adapters.Answer
		old  bool
		want verdict
		d    event.Decision
	}{
		"answers alone":   {choice, adapters.Answer{Value: event.Raw(`{"Which?":"B"}`)}, false, verdict{Behavior: "allow", UpdatedInput: event.Raw(`{"questions":[1],"answers":{"Which?":"B"}}`)}, event.DecisionAllow},
		"answers":         {choice, adapters.Answer{Value: event.Raw(`{"answers":{"Which?":"B"}}`)}, false, verdict{Behavior: "allow", UpdatedInput: event.Raw(`{"questions":[1],"answers":{"Which?":"B"}}`)}, event.DecisionAllow},
		"no answer":       {choice, adapters.Answer{}, false, verdict{Behavior: "deny", Message: "The user said no."}, event.DecisionDeny},
		"plan approved":   {plan, adapters.Answer{Value: event.Raw(`{"approved":true}`)}, false, verdict{Behavior: "allow", UpdatedInput: event.Raw(`{}`)}, event.DecisionAllow},
		"plan refused":    {plan, adapters.Answer{Value: event.Raw(`{"approved":false}`), Message: "shorter"}, false, verdict{Behavior: "deny", Message: "shorter"}, event.DecisionDeny},
		"changed input":   {tool, adapters.Answer{Decision: event.DecisionAllow, Input: event.Raw(`{"command":"y"}`)}, false, verdict{Behavior: "allow", UpdatedInput: event.Raw(`{"command":"y"}`)}, event.DecisionAllow},
		"cancel":          {tool, adapters.Answer{Decision: event.DecisionCancel}, false, verdict{Behavior: "deny", Message: "The user cancelled.", Interrupt: true}, event.DecisionCancel},
		"unknown is no":   {tool, adapters.Answer{Decision: "maybe"}, false, verdict{Behavior: "deny", Message: "The user said no."}, event.DecisionDeny},
		"long input":      {long, adapters.Answer{Decision: event.DecisionAllow}, false, verdict{Behavior: "allow"}, event.DecisionAllow},
		"long, and older": {long, adapters.Answer{Decision: event.DecisionAllow}, true, verdict{Behavior: "allow", UpdatedInput: long.input}, event.DecisionAllow},
	} {
		g := gomega.NewWithT(t)
		v, d, _, err := c.a.wireVerdict(c.an, c.old)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(v).To(gomega.Equal(c.want), name)
		g.Expect(d).To(gomega.Equal(c.d), name)
	}
}

func TestWireUUID(t *testing.T) {
	const own = "0A0B0C0D-0000-4000-8000-000000000001"
	if got := wireUUID("s", own); got != "0a0b0c0d-0000-4000-8000-000000000001" {
		t.Errorf("a UUID became %q", got)
	}
	a, b, other := wireUUID("s", "m1"), wireUUID("s", "m1"), wireUUID("t", "m1")
	if a != b || a == other || !isUUID.MatchString(a) {
		t.Errorf("got %q, %q, %q: want a UUID that session and id decide", a, b, other)
	}
}

// Tasks without a tool are independent of each other.
func TestTasksWithoutAToolAreIndependent(t *testing.T) {
	var tasks []string
	n := New().Transcribe("s", func(e event.Event) {
		if d, ok := e.Data.(event.Task); ok {
			tasks = append(tasks, d.TaskID+" "+string(d.Status))
		}
	})
	for line := range strings.SplitSeq(`{"type":"system","subtype":"init","session_id":"S","model":"x"}
{"type":"system","subtype":"task_started","task_id":"k1","description":"one","is_backgrounded":true,"task_type":"local_bash","session_id":"S"}
{"type":"system","subtype":"task_started","task_id":"k2","description":"two","is_backgrounded":true,"task_type":"local_bash","session_id":"S"}
{"type":"system","subtype":"task_notification","task_id":"k1","status":"completed","session_id":"S"}
{"type":"system","subtype":"task_notification","task_id":"k2","status":"completed","session_id":"S"}`, "\n") {
		n.Line(time.Unix(0, 0), []byte(line))
	}
	gomega.NewWithT(t).Expect(tasks).To(gomega.Equal([]string{"k1 running", "k2 running", "k1 completed", "k2 completed"}))
}
