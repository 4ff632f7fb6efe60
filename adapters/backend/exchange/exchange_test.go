package exchange_test

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/exchange/exchangetest"
	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
)

var exchangeID = regexp.MustCompile(`exchange-[a-z0-9]{12}`)

// told returns the events as lines, with the ids of exchanges as x1, x2 ….
func told(events []event.Event) []string {
	var out []string
	ids := map[string]string{}
	for _, e := range events {
		var line string
		switch d := e.Data.(type) {
		case event.UserMessage:
			line = "user " + d.MessageID + " " + d.Text
		case event.Delta:
			line = "text " + d.BlockID + " " + d.Text
		case event.BlockEnd:
			line = "end " + d.BlockID + " " + string(d.Status)
		case event.ToolStart:
			line = "call " + d.ToolUseID
		case event.ToolResult:
			line = fmt.Sprintf("result %s %s %s", d.ToolUseID, d.Status, d.Output)
		case event.Task:
			line = fmt.Sprintf("task %s of %s by %s %s: %s", d.TaskID, cmp.Or(d.ToolUseID, "none"), d.Name, d.Status, d.Text)
		case event.Done:
			line = fmt.Sprintf("done %v", d.Stopped)
		case event.Error:
			line = "error"
		default:
			continue
		}
		if e.SubagentID != "" {
			line = e.SubagentID + "| " + line
		}
		line = strings.TrimSpace(exchangeID.ReplaceAllStringFunc(fmt.Sprintf("%d %s", e.Turn, line), func(id string) string {
			if ids[id] == "" {
				ids[id] = fmt.Sprintf("x%d", len(ids)+1)
			}
			return ids[id]
		}))
		if d, is := e.Data.(event.Delta); is && len(out) > 0 {
			if rest, again := strings.CutSuffix(line, d.Text); again && strings.HasPrefix(out[len(out)-1], rest) {
				out[len(out)-1] += " " + d.Text // of the same block: pieces may be joined on the way
				continue
			}
		}
		out = append(out, line)
	}
	return out
}

// run lets a user send a message to session "a" of the agent "asker", and returns all
// when the sessions are idle. more runs before.
func run(t *testing.T, c exchange.Config, all map[string]*agents, message string, more func(*recorded), on ...*recorded) *recorded {
	t.Helper()
	r := &recorded{}
	if len(on) > 0 {
		r = on[0]
	}
	synctest.Test(t, func(t *testing.T) {
		r.init(c, all)
		if err := r.Open(context.Background(), exchange.Opening{SessionID: "a", Agent: "asker", Dir: "/work", Mode: adapters.ModeAsk}); err != nil {
			t.Fatal(err)
		}
		if err := r.Send(context.Background(), "a", adapters.Message{ID: "m1", Text: message}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if more != nil {
			more(r)
			synctest.Wait()
		}
		r.close()
		synctest.Wait()
	})
	return r
}

// asker asks once for each message of the user, with the message as the input, and
// repeats the answers that it receives.
func asker(t *turn) {
	if _, answer := exchange.Of(t.message.ID); answer {
		t.say("I heard.")
		return
	}
	t.ask(fmt.Sprintf("c%d", t.n), t.message.Text)
	t.say("I asked.")
}

func counter(t *turn) {
	t.say("I count.")
	t.run("k")
	t.say("Two birds.")
}

func TestTheAnswerReachesTheSenderAsAMessage(t *testing.T) {
	g := NewWithT(t)
	r := run(t, exchange.Config{}, map[string]*agents{"asker": {answer: asker}, "counter": {answer: counter}}, `{"to":"counter","message":"How many?"}`, nil)
	got := told(r.events("a"))
	// The runtime's events and the receiver's may alternate, so each is compared alone.
	isNested := func(e event.Event) bool { return e.SubagentID != "" }
	own := told(slices.DeleteFunc(slices.Clone(r.events("a")), isNested))
	nested := told(slices.DeleteFunc(slices.Clone(r.events("a")), func(e event.Event) bool { return !isNested(e) }))
	g.Expect(nested).To(Equal([]string{
		"1 x1| text x1/b1.1 I count.", "1 x1| end x1/b1.1 complete", "1 x1| call x1/k", "1 x1| result x1/k ok done",
		"1 x1| text x1/b1.2 Two birds.", "1 x1| end x1/b1.2 complete",
	}), "%q", got)
	g.Expect(own).To(ContainElements(
		"1 call c1", "1 task x1 of c1 by a-counter running: How many?",
		`1 result c1 ok {"exchange_id":"x1","session_id":"a-counter","status":"running"}`,
		"2 user x1-answer Answer of session a-counter (counter) to x1:\n\nTwo birds.",
	))
	g.Expect(strings.Join(own, "\n")).To(MatchRegexp(`\d task x1 of c1 by a-counter completed: Two birds\.`))
	g.Expect(told(r.events("a-counter"))).To(ContainElement("1 user x1 How many?"))
	g.Expect(r.opened[1]).To(Equal(exchange.Opening{SessionID: "a-counter", Agent: "counter", Dir: "/work", Mode: adapters.ModeAsk, From: "a"}))
	valid(t, r)
}

func TestTheCallWaitsForTheAnswer(t *testing.T) {
	g := NewWithT(t)
	r := run(t, exchange.Config{}, map[string]*agents{"asker": {answer: asker}, "counter": {answer: counter}}, `{"to":"counter","message":"How many?","wait":true}`, nil)
	got := told(r.events("a"))
	g.Expect(got).To(ContainElements(
		"1 task x1 of c1 by a-counter completed: Two birds.",
		`1 result c1 ok {"exchange_id":"x1","session_id":"a-counter","status":"completed","answer":"Two birds."}`,
	))
	g.Expect(got).NotTo(ContainElement(ContainSubstring("-answer")))
	valid(t, r)
	chat := replay.Reduce(r.events("a"))
	call := chat.Messages[1].Blocks[0]
	g.Expect(call.Kind).To(Equal(replay.KindTool))
	g.Expect(call.Blocks).To(HaveLen(1))
	nested := call.Blocks[0]
	g.Expect(nested.Kind).To(Equal(replay.KindSubagent))
	g.Expect(nested.Status).To(Equal(replay.Complete))
	g.Expect(nested.Text).To(Equal("Two birds."))
	g.Expect(nested.Subagent.Name).To(Equal("a-counter"))
	var kinds []replay.Kind
	for _, b := range nested.Blocks {
		kinds = append(kinds, b.Kind)
	}
	g.Expect(kinds).To(Equal([]replay.Kind{replay.KindText, replay.KindTool, replay.KindText}))
}

// valid checks the order of all events, and that each stream closes what it opens.
func valid(t *testing.T, r *recorded) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(exchangetest.Judge(allEvents(r)).Problems).To(BeEmpty())
	for id := range r.readers {
		open := map[string]bool{}
		turn, tasks := 0, map[string]bool{}
		for i, e := range r.events(id) {
			_, err := e.MarshalJSON()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(e.Seq).To(Equal(int64(i + 1)))
			if e.SubagentID == "" && e.Turn != 0 && e.Type() != event.TypeTurnStart {
				g.Expect(e.Turn).To(Equal(turn), "%s: event %d follows the end of its turn", id, i)
			}
			if e.SubagentID != "" {
				g.Expect(tasks).To(HaveKey(e.SubagentID), "%s: event %d is of a sub-agent that does not run", id, i)
			}
			switch d := e.Data.(type) {
			case event.TurnStart:
				turn = e.Turn
			case event.Done, event.Error:
				turn = 0
			case event.ToolStart:
				open[d.ToolUseID] = true
			case event.ToolResult:
				g.Expect(open).To(HaveKey(d.ToolUseID))
				delete(open, d.ToolUseID)
			case event.Delta:
				open[d.BlockID] = true
			case event.BlockEnd:
				g.Expect(open).To(HaveKey(d.BlockID))
				delete(open, d.BlockID)
			case event.Task:
				if d.Status == event.TaskRunning {
					tasks[d.TaskID] = true
				} else {
					g.Expect(tasks).To(HaveKey(d.TaskID))
					delete(tasks, d.TaskID)
				}
			case event.SessionEnd:
				g.Expect(open).To(BeEmpty(), "%s: %v", id, told(r.events(id)))
				g.Expect(tasks).To(BeEmpty(), "%s: %v", id, told(r.events(id)))
			}
		}
	}
}

// TestEnds ends exchanges in each way.
func TestEnds(t *testing.T) {
	waiting := func(t *turn) {
		t.say("I wait.")
		t.wait()
	}
	for name, c := range map[string]struct {
		answer  func(*turn)
		more    func(*recorded)
		task    string // the last event of the task
		call    string // what the waiting call returns
		message string // the message without wait; "" if there is none
	}{
		"fails": {
			answer: func(t *turn) { t.failed = true },
			task:   "failed: the turn ended in an error (model): the model failed", call: `{"code":"failed",`, message: "No answer of session a-counter (counter) to x1, which is failed",
		},
		"crashes": {
			answer: func(t *turn) { t.crashed = true },
			task:   "failed: session a-counter ended before its turn did", call: `{"code":"closed",`, message: "No answer",
		},
		"is stopped": {
			answer: waiting, more: func(r *recorded) { _ = r.session("a-counter").Stop(context.Background()) },
			task: "stopped: the turn was stopped", call: `{"code":"stopped",`, message: "No answer",
		},
		"is closed": {
			answer: waiting, more: func(r *recorded) { _ = r.session("a-counter").Close(context.Background()) },
			task: "stopped: the turn was stopped", call: `{"code":"stopped",`, message: "No answer",
		},
		"takes too long": {
			answer: waiting, more: func(*recorded) { time.Sleep(11 * time.Minute) },
			task: "failed: session a-counter has not answered within 10m0s", call: `{"code":"timeout",`, message: "No answer",
		},
		"the sender is closed": {
			answer: waiting, more: func(r *recorded) { _ = r.session("a").Close(context.Background()) },
			task: "interrupted: ",
		},
	} {
		for _, wait := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, wait %v", name, wait), func(t *testing.T) {
				g := NewWithT(t)
				r := run(t, exchange.Config{}, map[string]*agents{"asker": {answer: asker}, "counter": {answer: c.answer}},
					fmt.Sprintf(`{"to":"counter","message":"How many?","wait":%v}`, wait), c.more)
				got := told(r.events("a"))
				g.Expect(got).To(ContainElement(ContainSubstring("x1 of c1 by a-counter "+c.task)), "%q", got)
				switch {
				case wait && c.call != "":
					g.Expect(got).To(ContainElement(ContainSubstring("result c1 error "+c.call)), "%q", got)
				case c.message != "":
					g.Expect(got).To(ContainElement(ContainSubstring("user x1-answer "+c.message)), "%q", got)
				}
				g.Expect(strings.Count(strings.Join(got, "\n"), "user x1-answer")).To(BeNumerically("<=", 1))
				receiver := told(r.events("a-counter"))
				if name == "takes too long" || name == "the sender is closed" {
					g.Expect(receiver).To(ContainElement("1 done true"), "nobody waits for the answer")
				}
				valid(t, r)
			})
		}
	}
}

// TestStoppedWhileItWaits stops the sender's turn.
func TestStoppedWhileItWaits(t *testing.T) {
	g := NewWithT(t)
	r := run(t, exchange.Config{}, map[string]*agents{"asker": {answer: asker}, "counter": {answer: func(t *turn) { t.wait() }}},
		`{"to":"counter","message":"How many?","wait":true}`, func(r *recorded) { _ = r.session("a").Stop(context.Background()) })
	g.Expect(told(r.events("a"))).To(ContainElements("1 task x1 of c1 by a-counter interrupted: the call was cancelled", "1 result c1 interrupted", "1 done true"))
	g.Expect(told(r.events("a-counter"))).To(ContainElement("1 done true"))
	valid(t, r)
}

// TestMessagesWaitForABusySession sends two messages while a user's turn runs.
func TestMessagesWaitForABusySession(t *testing.T) {
	g := NewWithT(t)
	twice := func(t *turn) {
		if _, answer := exchange.Of(t.message.ID); answer {
			return
		}
		t.ask("c1", `{"to":"b","message":"one"}`)
		t.ask("c2", `{"to":"b","message":"two"}`)
		t.ask("c3", `{"to":"b","message":"three"}`)
	}
	var r *recorded
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r = newRecorded(exchange.Config{MaxQueue: 2}, map[string]*agents{"asker": {answer: twice}, "busy": {answer: func(t *turn) {
			if t.message.ID == "u" {
				<-gate
			}
			t.say("To %s.", t.message.Text)
		}}})
		_ = r.Open(context.Background(), exchange.Opening{SessionID: "a", Agent: "asker"})
		_ = r.Open(context.Background(), exchange.Opening{SessionID: "b", Agent: "busy"})
		_ = r.Send(context.Background(), "b", adapters.Message{ID: "u", Text: "the user"})
		synctest.Wait()
		_ = r.Send(context.Background(), "a", adapters.Message{ID: "m1", Text: "go"})
		synctest.Wait()
		close(gate)
		synctest.Wait()
		r.close()
		synctest.Wait()
	})
	a, b := told(r.events("a")), told(r.events("b"))
	g.Expect(b).To(ContainElements("1 user u the user", "2 user x1 one", "3 user x2 two"))
	g.Expect(a).To(ContainElement(ContainSubstring(`result c3 error {"code":"queue",`)))
	g.Expect(a).To(ContainElements(
		HaveSuffix("user x1-answer Answer of session b (busy) to x1:\n\nTo one."), HaveSuffix("user x2-answer Answer of session b (busy) to x2:\n\nTo two."),
	))
	valid(t, r)
}

// TestAnswersKeepTheOrderOfTheirEnds lets exchanges end one after the other while the sender
// is busy.
func TestAnswersKeepTheOrderOfTheirEnds(t *testing.T) {
	const exchanges = 32
	r := run(t, exchange.Config{MaxQueue: exchanges, MaxChain: exchanges}, map[string]*agents{
		"asker": {answer: func(t *turn) {
			if _, answer := exchange.Of(t.message.ID); answer {
				return
			}
			for i := range exchanges {
				t.ask(fmt.Sprintf("c%d", i), fmt.Sprintf(`{"to":"counter","message":"number %d"}`, i))
			}
			time.Sleep(time.Minute)
		}},
		"counter": {answer: func(t *turn) { t.say("%s.", t.message.Text) }},
	}, "go", func(*recorded) { time.Sleep(2 * time.Minute) })
	var got, want []string
	for _, e := range r.events("a") {
		if m, is := e.Data.(event.UserMessage); is && m.MessageID != "m1" {
			_, answer, _ := strings.Cut(m.Text, "\n\n")
			got, want = append(got, answer), append(want, fmt.Sprintf("number %d.", len(got)))
		}
	}
	g := NewWithT(t)
	g.Expect(got).To(HaveLen(exchanges))
	g.Expect(got).To(Equal(want))
	valid(t, r)
}

// TestRefusals are the calls that a limit forbids.
func TestRefusals(t *testing.T) {
	onward := func(to string) func(*turn) {
		return func(t *turn) {
			if _, answer := exchange.Of(t.message.ID); !answer {
				t.ask("c", `{"to":"`+to+`","message":"And you?","wait":true}`)
			}
		}
	}
	for name, c := range map[string]struct {
		config exchange.Config
		input  string
		answer func(*turn)
		in     string // the session whose call is refused
		code   exchange.Code
	}{
		"no object":        {input: `[]`, in: "a", code: exchange.CodeInvalid},
		"no message":       {input: `{"to":"counter","message":" "}`, in: "a", code: exchange.CodeInvalid},
		"too large":        {config: exchange.Config{MaxMessage: 3}, input: `{"to":"counter","message":"four"}`, in: "a", code: exchange.CodeTooLarge},
		"nobody":           {input: `{"to":"nobody","message":"x"}`, in: "a", code: exchange.CodeUnknown},
		"itself":           {input: `{"to":"a","message":"x"}`, in: "a", code: exchange.CodeSelf},
		"the one who asks": {input: `{"to":"counter","message":"x"}`, answer: onward("a"), in: "a-counter", code: exchange.CodeCycle},
		"too deep":         {config: exchange.Config{MaxDepth: 2}, input: `{"to":"counter","message":"x"}`, answer: onward("counter"), in: "a-counter-counter", code: exchange.CodeDepth},
		"too many":         {config: exchange.Config{MaxChain: 2}, input: `{"to":"counter","message":"x"}`, answer: onward("counter"), in: "a-counter-counter", code: exchange.CodeTooMany},
		"refused":          {input: `{"to":"counter","message":"refuse this","wait":true}`, in: "a", code: exchange.CodeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			if c.answer == nil {
				c.answer = counter
			}
			r := run(t, c.config, map[string]*agents{"asker": {answer: asker}, "counter": {answer: c.answer}}, c.input, nil)
			NewWithT(t).Expect(told(r.events(c.in))).To(ContainElement(ContainSubstring(`error {"code":"` + string(c.code) + `",`)))
			valid(t, r)
		})
	}
}

// TestTwoThatWaitForEachOther: two users let two sessions wait for each other.
func TestTwoThatWaitForEachOther(t *testing.T) {
	g := NewWithT(t)
	var r *recorded
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r = newRecorded(exchange.Config{}, map[string]*agents{"peer": {answer: func(t *turn) {
			if of, _ := exchange.Of(t.message.ID); of != "" {
				t.say("Yes.")
				return
			}
			if t.s.o.SessionID == "b" {
				<-gate
			}
			t.ask("c", t.message.Text)
		}}})
		for id, input := range map[string]string{"a": `{"to":"b","message":"x","wait":true}`, "b": `{"to":"a","message":"x","wait":true}`} {
			_ = r.Open(context.Background(), exchange.Opening{SessionID: id, Agent: "peer"})
			_ = r.Send(context.Background(), id, adapters.Message{ID: "m", Text: input})
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		r.close()
		synctest.Wait()
	})
	g.Expect(told(r.events("b"))).To(ContainElement(ContainSubstring(`error {"code":"cycle",`)))
	g.Expect(told(r.events("a"))).To(ContainElement(ContainSubstring(`"answer":"Yes."`)))
	valid(t, r)
}

// TestWithoutAHost lets the hub open the sessions itself.
func TestWithoutAHost(t *testing.T) {
	g := NewWithT(t)
	var got []event.Event
	synctest.Test(t, func(t *testing.T) {
		h := exchange.New(exchange.Config{MaxAnswer: 5})
		a := h.Adapter("asker", &agents{answer: asker})
		h.Adapter("counter", &agents{noTools: true, answer: counter})
		s, err := a.Open(context.Background(), adapters.Options{})
		if err != nil {
			t.Fatal(err)
		}
		reader := read(s)
		_ = s.Send(context.Background(), adapters.Message{ID: "m", Text: `{"to":"counter","message":"x","wait":true}`})
		synctest.Wait()
		_ = h.Close(context.Background())
		synctest.Wait()
		got = reader.events()
	})
	g.Expect(told(got)).To(ContainElement(ContainSubstring(`"answer":"Two b\n\n(5 bytes more)"`)))
	g.Expect(got[len(got)-1].Type()).To(Equal(event.TypeSessionEnd))
}
