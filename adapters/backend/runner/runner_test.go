package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/runner"
	"github.com/turnspec/turnspec/adapters/lines"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// said is a message of the runner.
type said struct {
	Type      string   `json:"type"`
	ID        string   `json:"id"`
	IDs       []string `json:"ids"`
	Content   string   `json:"content"`
	RequestID string   `json:"request_id"`
	Request   string   `json:"request"`
	Decision  string   `json:"decision"`
	Message   string   `json:"message"`
	Reason    string   `json:"reason"`
	Status    string   `json:"status"`
	Success   bool     `json:"success"`
	ElapsedMS int64    `json:"elapsed_ms"`
	at        time.Duration
}

// conversation is what a front end saw.
type conversation struct {
	all []said
	err error // of Run
}

func (c conversation) types() string {
	var out []string
	for _, m := range c.all {
		out = append(out, m.Type)
	}
	return strings.Join(out, " ")
}

// first returns the first message of a type.
func (c conversation) first(kind string) said {
	for _, m := range c.all {
		if m.Type == kind {
			return m
		}
	}
	return said{}
}

func (c conversation) text() string {
	var b strings.Builder
	for _, m := range c.all {
		if m.Type == "assistant_text" {
			b.WriteString(m.Content)
		}
	}
	return b.String()
}

// converse runs a conversation in virtual time, against the stand-in that plays a case at its
// recorded pace. react returns the commands that follow a message: lines, "EOF" to end the
// input, "WAIT" for a second, or "TERM" for a signal.
func converse(t *testing.T, caseID, mode string, react func(m said) []string) (out conversation) {
	t.Helper()
	c, err := fixtures.LoadCase(caseID)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		fake, err := standin.New(c, standin.Options{Seed: 1, Speed: 1})
		if err != nil {
			t.Error(err)
			return
		}
		defer fake.Close()
		out = play(runner.Config{
			Adapter: reference.Of(c.Runtime), ConversationID: "c1",
			Options: adapters.Options{Opening: op.Opening{SessionID: "s1", Dir: "/w", Mode: mode}, Launch: fake.Launcher(), Env: []string{"HOME=/h"}},
		}, react)
	})
	return out
}

func play(c runner.Config, react func(m said) []string) (out conversation) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	began := time.Now()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	commands := make(chan string, 100)
	go func() {
		for l := range commands {
			switch l {
			case "EOF":
				_ = inW.Close()
			case "WAIT":
				time.Sleep(time.Second)
			case "TERM":
				cancel(errors.New("SIGTERM"))
			default:
				_, _ = inW.Write([]byte(l + "\n"))
			}
		}
	}()
	ended := make(chan error, 1)
	go func() {
		ended <- runner.Run(ctx, c, inR, outW)
		_ = outW.Close()
	}()
	r := lines.NewReader(outR, 0)
	for {
		b, err := r.Next()
		if err != nil {
			break
		}
		m := said{at: time.Since(began)}
		if err := json.Unmarshal(b, &m); err != nil {
			m.Type = "not JSON: " + string(b)
		}
		out.all = append(out.all, m)
		for _, l := range react(m) {
			commands <- l
		}
	}
	close(commands)
	out.err = <-ended
	return out
}

// send is the command that sends a text.
func send(id, text string) string {
	return fmt.Sprintf(`{"type":"message","id":%q,"content":%q}`, id, text)
}

// on returns a reaction that answers each type of message with commands, the first time.
func on(reactions map[string][]string) func(said) []string {
	return func(m said) []string {
		out := reactions[m.Type]
		delete(reactions, m.Type)
		for i := range out {
			out[i] = strings.ReplaceAll(out[i], "$REQUEST", m.RequestID)
		}
		return out
	}
}

// messages returns the commands that send the messages of a scenario.
func messages(t *testing.T, scenario string) (out []string) {
	t.Helper()
	scn, err := fixtures.LoadScenario(scenario)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scn.Client {
		if s.SendsMessage() {
			out = append(out, send(s.ID, s.Text))
		}
	}
	return out
}

const plain = "claude/newest/text/plain"

func TestATurn(t *testing.T) {
	g := gomega.NewWithT(t)
	c := converse(t, plain, "", on(map[string][]string{"ready": {send("m1", "Name three rivers.")}, "turn_complete": {"EOF"}}))
	g.Expect(c.err).NotTo(gomega.HaveOccurred())
	g.Expect(c.types()).To(gomega.MatchRegexp(`^ready .*init session_started .*assistant_text .*agent_stop result turn_complete .*session_ended complete shutdown$`))
	g.Expect(c.text()).NotTo(gomega.BeEmpty())
	g.Expect(c.first("result").Success).To(gomega.BeTrue())
	g.Expect(c.first("shutdown").Reason).To(gomega.Equal("the conversation is complete"))
}

// TestMessagesRunOneAfterAnother sends two messages at once.
func TestMessagesRunOneAfterAnother(t *testing.T) {
	g := gomega.NewWithT(t)
	commands := messages(t, "turn/two-turns-one-process")
	g.Expect(commands).To(gomega.HaveLen(2))
	c := converse(t, "claude/newest/turn/two-turns-one-process", "", on(map[string][]string{"ready": append(commands, "EOF")}))
	g.Expect(c.err).NotTo(gomega.HaveOccurred())
	g.Expect(strings.Count(c.types(), "turn_complete")).To(gomega.Equal(2))
	g.Expect(c.types()).To(gomega.MatchRegexp(`^ready .*message_queue .*turn_complete message_queue .*turn_complete .*complete shutdown$`))
}

func TestPermissions(t *testing.T) {
	for _, c := range []struct{ name, scenario, decision, want string }{
		{"allowed", "permission/allow", "allow", "ok"},
		{"denied", "permission/deny-with-a-message", "deny", "denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			got := converse(t, "claude/newest/"+c.scenario, "ask", on(map[string][]string{
				"ready":              messages(t, c.scenario)[:1],
				"permission_request": {`{"type":"permission_response","request_id":"$REQUEST","decision":"` + c.decision + `"}`},
				"turn_complete":      {`{"type":"stop"}`},
			}))
			g.Expect(got.err).NotTo(gomega.HaveOccurred())
			g.Expect(got.first("permission_resolved").Decision).To(gomega.Equal(c.decision))
			g.Expect(got.first("tool_end").Status).To(gomega.Equal(c.want))
		})
	}
}

// TestNobodyAnswers lets a request wait for a day, and lets the input end before.
func TestNobodyAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	const denied = "permission/deny-with-a-message"
	c := converse(t, "claude/newest/"+denied, "ask", on(map[string][]string{"ready": messages(t, denied), "turn_complete": {"EOF"}}))
	g.Expect(c.first("permission_resolved").Decision).To(gomega.Equal("deny"))
	g.Expect(c.first("permission_resolved").at).To(gomega.BeNumerically("~", 24*time.Hour, time.Minute))
	c = converse(t, "claude/newest/"+denied, "ask", on(map[string][]string{"ready": messages(t, denied), "permission_request": {"EOF"}}))
	g.Expect(c.first("permission_resolved").Decision).To(gomega.Equal("deny"))
	g.Expect(c.first("permission_resolved").at).To(gomega.BeNumerically("<", time.Minute))
	g.Expect(c.types()).To(gomega.HaveSuffix("complete shutdown"))
}

// TestSignal ends a conversation while a request is open and its tool runs: both end before
// the session does, and shutdown is last.
func TestSignal(t *testing.T) {
	g := gomega.NewWithT(t)
	c := converse(t, "claude/newest/permission/allow", "ask", on(map[string][]string{"ready": messages(t, "permission/allow"), "permission_request": {"TERM"}}))
	g.Expect(c.err).NotTo(gomega.HaveOccurred())
	g.Expect(c.types()).To(gomega.MatchRegexp(`permission_request permission_resolved tool_end .*result turn_complete .*session_ended shutdown$`))
	g.Expect(c.types()).NotTo(gomega.ContainSubstring(" complete "))
	g.Expect(strings.Count(c.types(), "tool_end")).To(gomega.Equal(strings.Count(c.types(), "tool_start")))
	g.Expect(c.first("tool_end").Status).To(gomega.Equal("interrupted"))
	g.Expect(c.first("shutdown").Reason).To(gomega.Equal("SIGTERM"))
}

func TestInterrupt(t *testing.T) {
	g := gomega.NewWithT(t)
	c := converse(t, "claude/newest/stop/mid-text", "", on(map[string][]string{
		"ready": append(messages(t, "stop/mid-text"), "WAIT", `{"type":"interrupt"}`), "turn_complete": {"EOF"},
	}))
	g.Expect(c.types()).To(gomega.MatchRegexp(`interrupted agent_stop result turn_complete .*shutdown$`))
	g.Expect(c.first("result").Success).To(gomega.BeFalse())
	// The paragraph had no end, but was not held back.
	g.Expect(c.first("assistant_text").at).To(gomega.BeNumerically("<", c.first("result").at))
}

// TestInterruptWithoutATurn checks that an interrupt does not stop the turn of a message that
// follows it.
func TestInterruptWithoutATurn(t *testing.T) {
	g := gomega.NewWithT(t)
	got := converse(t, "chat/1-plain/text/plain", "never", func(m said) []string {
		if m.Type == "session_started" {
			return []string{`{"type":"interrupt"}`, `{"type":"message","id":"m1","content":"Name three rivers."}`, "EOF"}
		}
		return nil
	})
	g.Expect(got.err).NotTo(gomega.HaveOccurred())
	g.Expect(got.types()).NotTo(gomega.ContainSubstring("interrupted"))
	g.Expect(got.text()).To(gomega.Equal("The Danube, the Nile and the Mekong."))
}

// TestWrongCommands are answered, and end nothing.
func TestWrongCommands(t *testing.T) {
	g := gomega.NewWithT(t)
	c := converse(t, plain, "", on(map[string][]string{
		"session_started": {"rain", "", `{"type":"dance"}`, `{"type":"message","text":"rain"}`, `{"type":"set_permission_mode","mode":"dance"}`, `{"type":"permission_response","request_id":"r9","decision":"allow"}`,
			`{"type":"rewind_files","checkpoint_id":"x"}`, send("m1", "Name three rivers.")},
		"turn_complete": {"EOF"},
	}))
	var refused []string
	for _, m := range c.all {
		if m.Type == "error" {
			refused = append(refused, m.Request)
		}
	}
	g.Expect(refused).To(gomega.ConsistOf("", "dance", "message", "set_permission_mode", "permission_response", "rewind_files"))
	g.Expect(c.first("result").Success).To(gomega.BeTrue())
}

// TestProgress: a tool that runs is reported.
func TestProgress(t *testing.T) {
	g := gomega.NewWithT(t)
	c := converse(t, "claude/newest/permission/allow", "ask", func(m said) []string {
		switch {
		case m.Type == "ready":
			return []string{send("m1", "Make the folder.")}
		case m.Type == "tool_progress" && m.ElapsedMS >= 15000:
			return []string{"TERM"}
		}
		return nil
	})
	g.Expect(c.types()).To(gomega.ContainSubstring("tool_progress tool_progress"))
}

// broken is an adapter that opens no session.
type broken struct{ adapters.Adapter }

func (broken) Open(context.Context, adapters.Options) (adapters.Session, error) {
	return nil, &adapters.OpenError{Code: "auth", Op: "start", Err: errors.New("the key is wrong")}
}

func TestOpenFails(t *testing.T) {
	g := gomega.NewWithT(t)
	c := play(runner.Config{Adapter: broken{reference.Of("claude")}}, func(said) []string { return nil })
	g.Expect(c.err).To(gomega.MatchError(runner.ErrFailed))
	g.Expect(c.types()).To(gomega.Equal("auth_error shutdown"), "it is not ready for messages")
}

// TestTheRuntimeDies kills the process at the first request.
func TestTheRuntimeDies(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := fixtures.LoadCase("claude/newest/permission/allow")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got conversation
	synctest.Test(t, func(t *testing.T) {
		fake, err := standin.New(c, standin.Options{Seed: 1, Speed: 1})
		if err != nil {
			t.Error(err)
			return
		}
		defer fake.Close()
		var started proc.Process
		launch := proc.LauncherFunc(func(ctx context.Context, cmd proc.Command) (proc.Process, error) {
			p, err := fake.Launcher().Launch(ctx, cmd)
			started = p
			return p, err
		})
		got = play(runner.Config{Adapter: reference.Of("claude"), Options: adapters.Options{Opening: op.Opening{SessionID: "s1", Dir: "/w", Mode: "ask"}, Launch: launch, Env: []string{"HOME=/h"}}},
			func(m said) []string {
				switch m.Type {
				case "ready":
					return []string{send("m1", "Make the folder.")}
				case "permission_request":
					_ = started.Signal(proc.SIGKILL)
				}
				return nil
			})
	})
	g.Expect(got.err).To(gomega.MatchError(runner.ErrFailed))
	g.Expect(got.types()).To(gomega.MatchRegexp(`permission_resolved .*tool_end .*result turn_complete .*session_ended shutdown$`))
}
