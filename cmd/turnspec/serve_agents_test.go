package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/exchange/exchangetest"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/adapters/reference"
)

// agentsCorpus holds recordings of a Claude Code that asks another agent (turnspec record
// --newest --runtime claude FILE, in this folder). They are not in the corpus, because a subject
// that plays one alone has no other agent.
const agentsCorpus = "testdata/agents"

// twoAgents is a server of two runtimes, whose agents send messages to each other. The runtimes
// are stand-ins in processes.
type twoAgents struct {
	t    *testing.T
	g    *WithT
	log  *eventlog.Memory
	http *httptest.Server

	mu        sync.Mutex
	processes map[string]proc.Process // by runtime
	sent      map[string][]string     // the texts of messages for each runtime
}

// heard is a replayed adapter that notes which messages it is sent, before they become the
// recorded ones. With loses it drops those that bring an answer.
type heard struct {
	*replayed
	x     *twoAgents
	loses bool
}

func (h heard) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	s, err := h.replayed.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return heardSession{s, h}, nil
}

type heardSession struct {
	adapters.Session
	h heard
}

func (s heardSession) Unwrap() adapters.Session { return s.Session }

func (s heardSession) Send(ctx context.Context, m adapters.Message) error {
	s.h.x.mu.Lock()
	name := s.h.Capabilities().Runtime
	s.h.x.sent[name] = append(s.h.x.sent[name], m.Text)
	s.h.x.mu.Unlock()
	if _, answer := exchange.Of(m.ID); answer && s.h.loses {
		return nil
	}
	return s.Session.Send(ctx, m)
}

// startTwoAgents serves a Claude Code that plays a case of agentsCorpus, and a Codex that plays
// one of the corpus.
func startTwoAgents(t *testing.T, asks, answers string, loses bool) *twoAgents {
	t.Helper()
	x := &twoAgents{t: t, g: NewWithT(t), log: &eventlog.Memory{}, processes: map[string]proc.Process{}, sent: map[string][]string{}}
	codex, err := newReplayed(answers, "0")
	x.g.Expect(err).NotTo(HaveOccurred())
	codex.command[0] = "turnspec" // TestMain puts it into PATH
	corpus, err := openCorpus(agentsCorpus)
	x.g.Expect(err).NotTo(HaveOccurred())
	c, err := corpus.LoadCase(asks)
	x.g.Expect(err).NotTo(HaveOccurred())
	scn, err := corpus.LoadScenario(c.Scenario)
	x.g.Expect(err).NotTo(HaveOccurred())
	claude := &replayed{Adapter: reference.Of("claude"), command: []string{"turnspec", "play", "claude", "--corpus", agentsCorpus, "--case", c.ID}}
	for _, s := range scn.Client {
		if s.SendsMessage() {
			claude.messages = append(claude.messages, s.Text)
		}
	}
	server := sidecar.New(sidecar.Config{
		Log: x.log, Agents: &exchange.Config{}, Base: adapters.Options{Launch: proc.LauncherFunc(x.launch)},
		Adapters: map[string]adapters.Adapter{"claude": heard{claude, x, loses}, "codex": heard{codex, x, false}},
	})
	x.http = httptest.NewServer(server)
	t.Cleanup(func() {
		x.http.CloseClientConnections()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		x.http.Close()
	})
	x.post("/sessions", `{"session_id":"a","runtime":"claude"}`)
	x.post("/sessions/a/message", `{"message_id":"m1","message":"Ask the other agent."}`)
	return x
}

// launch starts a stand-in.
func (x *twoAgents) launch(ctx context.Context, c proc.Command) (proc.Process, error) {
	p, err := proc.Exec{}.Launch(ctx, c)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.processes[c.Argv[2]] = p
	return p, err
}

func (x *twoAgents) post(path, body string) { x.call(http.MethodPost, path, body) }

func (x *twoAgents) call(method, path, body string) {
	x.t.Helper()
	r, err := http.NewRequestWithContext(x.t.Context(), method, x.http.URL+path, strings.NewReader(body))
	x.g.Expect(err).NotTo(HaveOccurred())
	res, err := http.DefaultClient.Do(r)
	x.g.Expect(err).NotTo(HaveOccurred())
	_ = res.Body.Close()
	x.g.Expect(res.StatusCode).To(BeNumerically("<", 300), "%s %s", method, path)
}

func (x *twoAgents) events(session string) (out []event.Event) {
	for e, err := range eventlog.All(x.t.Context(), x.log, session, 0) {
		x.g.Expect(err).NotTo(HaveOccurred())
		out = append(out, e)
	}
	return out
}

// wait waits until the chat of a session contains a text.
func (x *twoAgents) wait(session, text string) {
	x.t.Helper()
	x.g.Eventually(func() string {
		var b strings.Builder
		for _, m := range replay.Reduce(x.events(session)).Messages {
			b.WriteString(m.Text())
		}
		return b.String()
	}).WithTimeout(time.Minute).Should(ContainSubstring(text))
}

// waitEnds waits until so many turns of a session have ended.
func (x *twoAgents) waitEnds(session string, turns int) {
	x.t.Helper()
	x.g.Eventually(func() int {
		n := 0
		for _, e := range x.events(session) {
			switch e.Data.(type) {
			case event.Done, event.Error:
				if e.Turn > 0 && e.SubagentID == "" {
					n++
				}
			}
		}
		return n
	}).WithTimeout(time.Minute).Should(Equal(turns))
}

// dataIn returns the events of one type, with the turns that they belong to.
func dataIn[T event.Data](events []event.Event) (out []T, turns []int) {
	for _, e := range events {
		if d, is := e.Data.(T); is && e.SubagentID == "" {
			out, turns = append(out, d), append(turns, e.Turn)
		}
	}
	return out, turns
}

// ended returns the tasks of exchanges that ended.
func ended(events []event.Event) (out []event.Task) {
	for _, e := range events {
		if d, is := e.Data.(event.Task); is && d.Status != event.TaskRunning {
			out = append(out, d)
		}
	}
	return out
}

// problems judges the exchanges of both sessions, once no turn runs. The turn that gave an answer
// may still run when that of the sender has ended: the answer leaves before the end is logged.
func (x *twoAgents) problems(exchanges int) []exchangetest.Problem {
	x.t.Helper()
	for _, id := range []string{"a", "a-codex"} {
		x.g.Eventually(func() bool { return turnRuns(x.events(id)) }).WithTimeout(time.Minute).Should(BeFalse(), "a turn of %s runs", id)
	}
	r := exchangetest.Judge(map[string][]event.Event{"a": x.events("a"), "a-codex": x.events("a-codex")})
	x.g.Expect(r.Exchanges).To(Equal(exchanges))
	return r.Problems
}

// turnRuns reports whether the last turn has not ended.
func turnRuns(events []event.Event) (runs bool) {
	for _, e := range events {
		if e.Turn == 0 || e.SubagentID != "" {
			continue
		}
		switch e.Data.(type) {
		case event.TurnStart:
			runs = true
		case event.Done, event.Error:
			runs = false
		}
	}
	return runs
}

// nested returns the sub-agents below the calls of agents_message in the chat of a session.
func nested(events []event.Event) (out []replay.Block) {
	for _, m := range replay.Reduce(events).Messages {
		for _, b := range m.Blocks {
			if b.Kind == replay.KindTool && strings.HasSuffix(b.Tool.Name, exchange.ToolName) {
				out = append(out, b.Blocks...)
			}
		}
	}
	return out
}

const riversAnswer = "The Danube, the Nile and the Mekong."

// TestAgentOfAnotherRuntimeCallsBack lets a Claude session ask a Codex session, whose answer
// comes as a message.
func TestAgentOfAnotherRuntimeCallsBack(t *testing.T) {
	t.Parallel()
	x := startTwoAgents(t, "claude/newest/agents/asks-and-is-called-back", "codex/newest/text/plain", false)
	x.waitEnds("a", 2)
	x.g.Expect(x.problems(1)).To(BeEmpty())
	a, b := x.events("a"), x.events("a-codex")
	tasks := ended(a)
	x.g.Expect(tasks).To(HaveLen(1))
	x.g.Expect(tasks[0]).To(And(HaveField("Status", event.TaskCompleted), HaveField("Name", "a-codex"), HaveField("Text", riversAnswer), HaveField("ToolUseID", "toolu_t1")))
	messages, _ := dataIn[event.UserMessage](a)
	x.g.Expect(messages).To(HaveLen(2))
	of, answer := exchange.Of(messages[1].MessageID)
	x.g.Expect(answer).To(BeTrue())
	x.g.Expect(of).To(Equal(tasks[0].TaskID))
	asked, _ := dataIn[event.UserMessage](b)
	x.g.Expect(asked).To(HaveLen(1))
	x.g.Expect(asked[0].MessageID).To(Equal(of), "the exchange has one id in both sessions")
	x.g.Expect(x.sent["codex"]).To(Equal([]string{"Name three rivers."}))
	x.g.Expect(x.sent["claude"][1]).To(And(ContainSubstring(of), ContainSubstring("codex"), HaveSuffix("\n\n"+riversAnswer)))

	in := nested(a)
	x.g.Expect(in).To(HaveLen(1), "the exchange is below its call")
	x.g.Expect(in[0].Kind).To(Equal(replay.KindSubagent))
	x.g.Expect(in[0].Blocks).To(ConsistOf(And(HaveField("Kind", replay.KindText), HaveField("Text", riversAnswer))))
}

// TestLostCallBackIsFound breaks what TestAgentOfAnotherRuntimeCallsBack judges.
func TestLostCallBackIsFound(t *testing.T) {
	t.Parallel()
	x := startTwoAgents(t, "claude/newest/agents/asks-and-is-called-back", "codex/newest/text/plain", true)
	x.waitEnds("a", 1)
	x.waitEnds("a-codex", 1)
	x.g.Eventually(func() []event.Task { return ended(x.events("a")) }).WithTimeout(time.Minute).Should(HaveLen(1))
	x.g.Expect(x.problems(1)).To(ConsistOf(HaveField("Rule", exchangetest.Returned)))
}

// TestMessagesForABusyAgentOfAnotherRuntime lets two calls of one Claude turn ask the same
// Codex session: the second waits for the end of the first one's turn.
func TestMessagesForABusyAgentOfAnotherRuntime(t *testing.T) {
	t.Parallel()
	x := startTwoAgents(t, "claude/newest/agents/asks-twice", "codex/newest/turn/two-turns-one-process", false)
	x.waitEnds("a", 3)
	x.g.Expect(x.problems(2)).To(BeEmpty())
	var answers []string
	for _, d := range ended(x.events("a")) {
		x.g.Expect(d.Status).To(Equal(event.TaskCompleted))
		answers = append(answers, d.Text)
	}
	x.g.Expect(answers).To(ConsistOf("I keep it in mind.", "It is seven."))
	b := x.events("a-codex")
	asked, turns := dataIn[event.UserMessage](b)
	x.g.Expect(asked).To(HaveLen(2))
	x.g.Expect(turns).To(Equal([]int{1, 2}), "each message starts a turn")
	done := slices.IndexFunc(b, func(e event.Event) bool { return e.Type() == event.TypeDone })
	second := slices.IndexFunc(b, func(e event.Event) bool { return e.Type() == event.TypeTurnStart && e.Turn == 2 })
	x.g.Expect(second).To(BeNumerically(">", done))
	x.g.Expect(nested(x.events("a"))).To(HaveLen(2))
}

// TestAgentOfAnotherRuntimeCrashes kills the Codex process while a Claude session waits for its
// answer.
func TestAgentOfAnotherRuntimeCrashes(t *testing.T) {
	t.Parallel()
	x := startTwoAgents(t, "claude/newest/agents/waits-in-vain", "codex/newest/stop/mid-text", false)
	x.wait("a-codex", "Once upon a time there was a")
	x.mu.Lock()
	codex := x.processes["codex"]
	x.mu.Unlock()
	x.g.Expect(codex.Signal(proc.SIGKILL)).To(Succeed())
	x.waitEnds("a", 1)
	x.g.Expect(x.problems(1)).To(BeEmpty())
	a := x.events("a")
	x.g.Expect(ended(a)).To(ConsistOf(And(HaveField("Status", event.TaskFailed), HaveField("Text", ContainSubstring("crash")))))
	errs, _ := dataIn[event.Error](x.events("a-codex"))
	x.g.Expect(errs).To(ConsistOf(HaveField("Code", event.ErrorCrash)))
	results, _ := dataIn[event.ToolResult](a)
	x.g.Expect(results).To(ConsistOf(HaveField("IsError", true)))
	done, _ := dataIn[event.Done](a)
	x.g.Expect(done).To(ConsistOf(HaveField("Stopped", false)), "the sender goes on")
	x.g.Expect(nested(a)).To(ConsistOf(HaveField("Kind", replay.KindSubagent)))
}

// TestSenderIsStoppedWhileItWaits stops a Claude session that waits for the answer of a Codex
// session, whose turn then has no purpose.
func TestSenderIsStoppedWhileItWaits(t *testing.T) {
	t.Parallel()
	x := startTwoAgents(t, "claude/newest/agents/stopped-while-it-waits", "codex/newest/stop/mid-text", false)
	x.wait("a-codex", "Once upon a time there was a")
	x.post("/sessions/a/stop", "")
	x.waitEnds("a", 1)
	x.waitEnds("a-codex", 1)
	x.g.Expect(x.problems(1)).To(BeEmpty())
	x.g.Expect(ended(x.events("a"))).To(ConsistOf(HaveField("Status", event.TaskInterrupted)))
	for _, session := range []string{"a", "a-codex"} {
		done, _ := dataIn[event.Done](x.events(session))
		x.g.Expect(done).To(ConsistOf(HaveField("Stopped", true)), session)
	}
}
