package codex_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// asking is a runtime that asks about a command as soon as a turn runs.
func asking() map[string][]string {
	table := startedTurn()
	table["turn/start"] = append(table["turn/start"],
		`{"method":"item/started","params":{"threadId":"T","turnId":"u1","item":{"type":"commandExecution","id":"call_1","command":"/bin/bash -lc 'touch made'","cwd":"/w","status":"inProgress"}}}`,
		`{"method":"item/commandExecution/requestApproval","id":0,"params":{"threadId":"T","turnId":"u1","itemId":"call_1","command":"/bin/bash -lc 'touch made'","cwd":"/w/sub"}}`)
	return table
}

// fixedJudge returns the same verdict for every command and allows the rest.
func fixedJudge(e adapters.Effect) adapters.Judge {
	return func(_ context.Context, c adapters.Call) adapters.Verdict {
		if c.Tool != "Bash" {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}
		return adapters.Verdict{Effect: e, Reason: "not today"}
	}
}

// replies returns the client's replies to the runtime's request 0.
func replies(sent []string) (out []string) {
	for _, l := range sent {
		if strings.HasPrefix(l, `{"id":0,`) {
			out = append(out, l)
		}
	}
	return out
}

// The user's answer is held back while the judge decides. It counts only if the
// judge asks.
func TestAnswerWaitsForTheJudge(t *testing.T) {
	for _, c := range []struct {
		says     adapters.Effect
		answered error
		reply    string
		resolved string
	}{
		{adapters.EffectAsk, nil, `"decline"`, "permission_resolved deny user"},
		{adapters.EffectAllow, adapters.ErrUnknownID, `"accept"`, "permission_resolved allow policy"},
		{adapters.EffectDeny, adapters.ErrUnknownID, `"decline"`, "permission_resolved deny policy"},
	} {
		t.Run(string(c.says), func(t *testing.T) {
			var release chan struct{}
			var early bool
			var call adapters.Call
			o := adapters.Options{Judge: func(_ context.Context, j adapters.Call) adapters.Verdict {
				if j.Tool != "Bash" {
					return adapters.Verdict{Effect: adapters.EffectAllow}
				}
				call = j
				<-release
				return adapters.Verdict{Effect: c.says}
			}}
			evs, sent, err := runClientWith(t, o, asking(), func(s adapters.Session, _ *runtime) error {
				release = make(chan struct{})
				if err := send(s, "m1"); err != nil {
					return err
				}
				synctest.Wait()
				answered := make(chan error, 1)
				go func() {
					answered <- s.Answer(context.Background(), "1.0", adapters.Answer{Decision: event.DecisionDeny})
				}()
				synctest.Wait()
				early = len(answered) > 0
				close(release)
				return <-answered
			})
			g := NewWithT(t)
			g.Expect(early).To(BeFalse(), "the answer was not held back")
			g.Expect(errors.Is(err, c.answered)).To(BeTrue(), "%v", err)
			g.Expect(replies(sent)).To(ConsistOf(ContainSubstring(c.reply)))
			g.Expect(kinds(evs)).To(ContainElement(c.resolved))
			g.Expect(string(call.Input)).To(Equal(`{"command":"touch made"}`), "without the runtime's shell")
			g.Expect(call.Dir).To(Equal("/w/sub"))
		})
	}
}

// If the session is closed while the judge decides, a held answer returns.
func TestHeldAnswerReturnsOnClose(t *testing.T) {
	o := adapters.Options{Judge: func(ctx context.Context, j adapters.Call) adapters.Verdict {
		if j.Tool == "Bash" {
			<-ctx.Done()
		}
		return adapters.Verdict{Effect: adapters.EffectAllow}
	}}
	_, sent, err := runClientWith(t, o, asking(), func(s adapters.Session, _ *runtime) error {
		if err := send(s, "m1"); err != nil {
			return err
		}
		synctest.Wait()
		answered := make(chan error, 1)
		go func() {
			answered <- s.Answer(context.Background(), "1.0", adapters.Answer{Decision: event.DecisionAllow})
		}()
		synctest.Wait()
		if err := s.Close(context.Background()); err != nil {
			return err
		}
		return <-answered
	})
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred())
	g.Expect(replies(sent)).To(HaveLen(1))
	g.Expect(replies(sent)[0]).NotTo(ContainSubstring("accept"))
}

// A call of the client's own tool is judged before the tool runs.
func TestClientToolsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name   string
		judge  adapters.Judge
		called bool
		reply  string
	}{
		{"allow", func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: adapters.EffectAllow}
		}, true, `{"contentItems":[{"type":"inputText","text":"noon"}],"success":true}`},
		{"ask", func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: adapters.EffectAsk}
		}, true, `"success":true`}, // the client would be asked, and it runs the tool
		{"deny", func(context.Context, adapters.Call) adapters.Verdict {
			return adapters.Verdict{Effect: adapters.EffectDeny, Reason: "not today"}
		}, false, `{"contentItems":[{"type":"inputText","text":"not today"}],"success":false}`},
		{"a panic", func(context.Context, adapters.Call) adapters.Verdict { panic("lost") },
			false, `{"contentItems":[{"type":"inputText","text":"the policy failed: lost"}],"success":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var judged []adapters.Call
			called := 0
			o := adapters.Options{
				Opening: op.Opening{Dir: "/w"},
				Judge: func(ctx context.Context, j adapters.Call) adapters.Verdict {
					if j.Tool == "clock" {
						judged = append(judged, j)
					}
					return c.judge(ctx, j)
				},
				Tools: []adapters.Tool{{Name: "clock", Call: func(context.Context, adapters.ToolCall) (adapters.ToolAnswer, error) {
					called++
					return adapters.ToolAnswer{Content: []adapters.ToolContent{{Text: "noon"}}}, nil
				}}},
			}
			table := startedTurn()
			table["turn/start"] = append(table["turn/start"],
				`{"method":"item/started","params":{"threadId":"T","turnId":"u1","item":{"type":"dynamicToolCall","id":"call_1","tool":"clock","arguments":{"zone":"utc"},"status":"inProgress"}}}`,
				`{"method":"item/tool/call","id":0,"params":{"threadId":"T","turnId":"u1","callId":"call_1","tool":"clock","arguments":{"zone":"utc"}}}`)
			_, sent, err := runClientWith(t, o, table, func(s adapters.Session, _ *runtime) error {
				defer synctest.Wait()
				return send(s, "m1")
			})
			g := NewWithT(t)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(judged).To(HaveLen(1))
			g.Expect(judged[0]).To(Equal(adapters.Call{Tool: "clock", Input: event.Raw(`{"zone":"utc"}`), Dir: "/w"}))
			g.Expect(called > 0).To(Equal(c.called))
			g.Expect(replies(sent)).To(ConsistOf(ContainSubstring(c.reply)))
		})
	}
}

// settling is a runtime that asks about a command and accepts new settings.
func settling(sandbox string) map[string][]string {
	table := asking()
	table["thread/settings/update"] = []string{`{"id":"$","result":{}}`,
		`{"method":"thread/settings/updated","params":{"threadId":"T","threadSettings":{"model":"m","approvalPolicy":"untrusted","sandboxPolicy":{"type":"` + sandbox + `"},"collaborationMode":{"mode":"default"}}}}`}
	return table
}

// The runtime continues to ask the judge when the mode changes. The mode only
// decides what the judge leaves open.
func TestSetModeKeepsTheJudge(t *testing.T) {
	for _, c := range []struct {
		mode, sandbox string
		says          adapters.Effect
		want          string // how the question ends; "" if the user decides
	}{
		{adapters.ModeNever, "dangerFullAccess", adapters.EffectDeny, "permission_resolved deny policy"},
		{adapters.ModeNever, "dangerFullAccess", adapters.EffectAsk, "permission_resolved allow runtime"},
		{adapters.ModeDontAsk, "readOnly", adapters.EffectAllow, "permission_resolved allow policy"},
		{adapters.ModeDontAsk, "readOnly", adapters.EffectAsk, "permission_resolved deny runtime"},
		{adapters.ModeAcceptEdits, "workspaceWrite", adapters.EffectAsk, ""},
	} {
		for _, version := range []string{"0.169.0", "0.98.0"} {
			t.Run(version+"/"+c.mode+"/"+string(c.says), func(t *testing.T) {
				table := settling(c.sandbox)
				table["initialize"] = []string{`{"id":"$","result":{"userAgent":"turnspec/` + version + ` (x) y"}}`}
				open := 0
				evs, sent, err := runClientWith(t, adapters.Options{Judge: fixedJudge(c.says)}, table, func(s adapters.Session, _ *runtime) error {
					if err := s.(adapters.ModeSetter).SetMode(context.Background(), c.mode); err != nil {
						return err
					}
					defer func() {
						synctest.Wait()
						if s.Answer(context.Background(), "1.0", adapters.Answer{Decision: event.DecisionDeny}) == nil {
							open++
						}
					}()
					return send(s, "m1")
				})
				g := NewWithT(t)
				g.Expect(err).NotTo(HaveOccurred())
				i := slices.IndexFunc(sent, func(l string) bool { return strings.Contains(l, c.sandbox) })
				g.Expect(i).To(BeNumerically(">=", 0), "the sandbox of the mode is sent")
				g.Expect(sent[i]).To(ContainSubstring(`"approvalPolicy":"untrusted"`))
				g.Expect(strings.Contains(sent[i], "turn/start")).To(Equal(version == "0.98.0"), sent[i])
				var modes []string
				for _, e := range evs {
					if d, ok := e.Data.(event.ModeChanged); ok {
						modes = append(modes, d.Value)
					}
				}
				g.Expect(modes).To(Equal([]string{c.mode}))
				if c.want == "" {
					g.Expect(open).To(Equal(1), "the user is asked")
					return
				}
				g.Expect(open).To(BeZero())
				g.Expect(kinds(evs)).To(ContainElement(c.want))
			})
		}
	}
}

// With one of the runtime's own policies, calls would run without the judge.
func TestRuntimePolicyIsRefusedWithAJudge(t *testing.T) {
	for _, version := range []string{"0.169.0", "0.98.0"} {
		for _, judge := range []adapters.Judge{nil, fixedJudge(adapters.EffectDeny)} {
			table := settling("readOnly")
			table["initialize"] = []string{`{"id":"$","result":{"userAgent":"turnspec/` + version + ` (x) y"}}`}
			_, sent, err := runClientWith(t, adapters.Options{Judge: judge}, table, func(s adapters.Session, _ *runtime) error {
				if err := s.(adapters.ModeSetter).SetMode(context.Background(), "on-failure"); err != nil {
					return err
				}
				return send(s, "m1")
			})
			g := NewWithT(t)
			policySent := strings.Contains(strings.Join(sent, "\n"), "on-failure")
			if judge == nil {
				g.Expect(err).NotTo(HaveOccurred(), version)
				g.Expect(policySent).To(BeTrue(), version)
				continue
			}
			g.Expect(errors.Is(err, adapters.ErrRefused)).To(BeTrue(), "%s: %v", version, err)
			g.Expect(policySent).To(BeFalse(), version)
		}
	}
}

// If a question is closed, the judge is cancelled and a held answer fails.
func TestClosedQuestionCancelsTheJudge(t *testing.T) {
	for name, over := range map[string]string{
		"taken back": `{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":0}}`,
		"turn ended": `{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"u1","status":"interrupted"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var given, ended, before, after bool
			o := adapters.Options{Judge: func(ctx context.Context, j adapters.Call) adapters.Verdict {
				if j.Tool == "Bash" {
					given = true
					<-ctx.Done()
					ended = true
				}
				return adapters.Verdict{Effect: adapters.EffectAllow}
			}}
			_, sent, err := runClientWith(t, o, asking(), func(s adapters.Session, r *runtime) error {
				if err := send(s, "m1"); err != nil {
					return err
				}
				synctest.Wait()
				answered := make(chan error, 1)
				go func() {
					answered <- s.Answer(context.Background(), "1.0", adapters.Answer{Decision: event.DecisionAllow})
				}()
				synctest.Wait()
				before = given && !ended
				r.Print(over)
				synctest.Wait()
				if after = ended; len(answered) == 0 {
					return errors.New("the answer is still held back")
				}
				return <-answered
			})
			g := NewWithT(t)
			g.Expect(before).To(BeTrue())
			g.Expect(after).To(BeTrue(), "the judge was not cancelled")
			g.Expect(errors.Is(err, adapters.ErrUnknownID)).To(BeTrue(), "%v", err)
			g.Expect(replies(sent)).NotTo(ContainElement(ContainSubstring("accept")))
		})
	}
}
