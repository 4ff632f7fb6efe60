package jsonl_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

const (
	hello   = `{"hello":{"protocol":1,"can":["stop"]}}`
	okReply = `{"reply":{"id":1}}`
	plain   = "claude/newest/text/plain"
)

// programs are the subjects that this program can run as, by name.
var programs = map[string]func(){
	"noise":            says("Loading the model of the world\n" + hello),
	"noise later":      says(hello, "Ready."),
	"cut line":         says(hello, `{"reply":{"id":1}`),
	"no member":        says(hello, `{"answer":1}`),
	"two hellos":       says(hello, hello),
	"old protocol":     says(`{"hello":{"protocol":7,"can":[]}}`),
	"unknown ability":  says(`{"hello":{"protocol":1,"can":["fly"]}}`),
	"other runtime":    says(`{"hello":{"protocol":1,"can":[],"runtime":"codex"}}`),
	"unknown type":     says(`{"hello":{"protocol":1,"can":[],"events":["text"]}}`),
	"wrong id":         says(hello, `{"reply":{"id":9}}`),
	"second reply":     says(hello, okReply+"\n"+okReply),
	"bad event":        says(hello, `{"event":{"type":"delta","data":{"text":"x","message_id":"a"}}}`),
	"undeclared event": says(`{"hello":{"protocol":1,"can":[],"events":["done"]}}`, `{"event":{"type":"delta","data":{"text":"x","message_id":"a","block_id":"b"}}}`),
	"some seq":         says(hello, `{"event":{"type":"done","turn":1,"data":{}}}`+"\n"+`{"event":{"type":"done","turn":1,"seq":2,"data":{}}}`),
	"crash": func() {
		_, _ = os.Stdout.WriteString(hello + "\n")
		_, _ = os.Stderr.WriteString("Traceback: no such key\n")
		os.Exit(3)
	},
	"ends at once":  func() {},
	"cannot open":   says(hello, `{"reply":{"id":1,"error":{"code":"start_failure","message":"no licence"}}}`),
	"opens nothing": says(hello, `{"reply":{"id":1}}`, `{"reply":{"id":2}}`, `{"reply":{"id":3}}`),
	"never ends":    neverEnds,
}

// neverEnds is a correct program, but for that it goes on running when its stdin is closed.
func neverEnds() {
	(&bridge{runtime: "claude"}).run()
	time.Sleep(time.Hour)
}

// TestErrorsSayWhatToDo checks the error for each mistake of a program.
func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"noise":            {"the first line is no hello: Loading the model", "logs to stderr"},
		"noise later":      {`line 2 of stdout is no JSON object: Ready.`, "write only the protocol to stdout"},
		"cut line":         {"line 2 of stdout is no JSON object", "one JSON object a line"},
		"no member":        {"line 2 of stdout", "answer", "one member: hello, reply or event"},
		"two hellos":       {"a second hello", "PROTOCOL.md"},
		"old protocol":     {"protocol is 7, this is protocol 1", "PROTOCOL.md"},
		"unknown ability":  {`there is no "fly", only answer`, "PROTOCOL.md"},
		"other runtime":    {"the program wraps codex, but the cases are of claude: give --runtime codex"},
		"unknown type":     {`there is no type "text"`},
		"wrong id":         {"a reply with id 9, but ", "reply once to each command, with the id of the command"},
		"second reply":     {"a reply with id 1, but ", "reply once to each command"},
		"bad event":        {"the event is not right: data.block_id: missing", "adapters/event/schema.json"},
		"undeclared event": {`hello did not declare "delta" among its events`},
		"some seq":         {"either all events have it or none"},
		"crash":            {"the program ended (exit code 3)", "Traceback: no such key"},
		"ends at once":     {"the program ended (exit code 0) while its hello was awaited", "running until its stdin is closed"},
		"cannot open":      {"no licence"},
		"opens nothing":    {"the program opened, and started no claude", "PATH", "CLAUDE_CODE_EXECUTABLE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			steps := smoke(t, of(t, name, "claude"))
			err := steps[len(steps)-1].Err
			g.Expect(err).To(gomega.HaveOccurred())
			for _, w := range want {
				g.Expect(err.Error()).To(gomega.ContainSubstring(w))
			}
		})
	}
}

func TestMissingCommandIsNamed(t *testing.T) {
	g := gomega.NewWithT(t)
	steps := smoke(t, &jsonl.Subject{Program: plug.Program{Of: "claude", Command: []string{"no-such-adapter", "--stdio"}}})
	g.Expect(steps).To(gomega.HaveLen(1))
	g.Expect(steps[0].Err).To(gomega.MatchError(gomega.And(
		gomega.ContainSubstring(`the command "no-such-adapter --stdio" could not be started`), gomega.ContainSubstring("next: run it by hand"))))
}

func TestSmokePassesACorrectProgram(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, step := range smoke(t, of(t, "bridge", "claude")) {
		g.Expect(step.Err).NotTo(gomega.HaveOccurred(), step.Name)
	}
}

func TestProgramThatStaysIsKilled(t *testing.T) {
	t.Parallel()
	g := gomega.NewWithT(t)
	r := play(t, of(t, "never ends", "claude"), plain)
	g.Expect(r.Hang).To(gomega.ContainSubstring("still ran 10s after it had replied to close"))
	g.Expect(strings.Count(r.Hang, "next: ")).To(gomega.Equal(1))
}
