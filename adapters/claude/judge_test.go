package claude_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// fixedJudge returns the same verdict for every call.
func fixedJudge(e adapters.Effect) adapters.Judge {
	return func(context.Context, adapters.Call) adapters.Verdict {
		return adapters.Verdict{Effect: e, Reason: "not today"}
	}
}

// Options that would start the runtime without hooks are rejected before the
// start. Without a judge they are accepted.
func TestOpenRejectsOptionsThatDisableTheJudge(t *testing.T) {
	started := errors.New("it was started")
	for _, c := range []struct {
		name  string
		o     adapters.Options
		wrong string // in the error; "" if the runtime is started
	}{
		{"nothing", adapters.Options{}, ""},
		{"bare", adapters.Options{Opening: op.Opening{Args: []string{"--verbose", "--bare"}}}, "args: --bare "},
		{"settings", adapters.Options{Opening: op.Opening{Args: []string{"--settings", "x.json"}}}, "args: --settings "},
		{"settings in one word", adapters.Options{Opening: op.Opening{Args: []string{"--settings=x.json"}}}, "args: --settings "},
		{"sources of settings", adapters.Options{Opening: op.Opening{Args: []string{"--setting-sources", "user"}}}, ""},
		{"simple", adapters.Options{Env: []string{"PATH=/bin", "CLAUDE_CODE_SIMPLE=1"}}, "env: CLAUDE_CODE_SIMPLE "},
		{"simple taken back", adapters.Options{Env: []string{"CLAUDE_CODE_SIMPLE=1", "CLAUDE_CODE_SIMPLE="}}, ""},
	} {
		for _, judge := range []adapters.Judge{nil, fixedJudge(adapters.EffectDeny)} {
			t.Run(fmt.Sprintf("%s/%v", c.name, judge != nil), func(t *testing.T) {
				g := gomega.NewWithT(t)
				var argv []string
				o := c.o
				o.Judge = judge
				o.Launch = proc.LauncherFunc(func(_ context.Context, c proc.Command) (proc.Process, error) {
					argv = c.Argv
					return nil, started
				})
				_, err := claude.New().Open(t.Context(), o)
				typed, ok := errors.AsType[*adapters.OpenError](err)
				g.Expect(ok).To(gomega.BeTrue(), "%v", err)
				if judge != nil && c.wrong != "" {
					g.Expect(argv).To(gomega.BeNil())
					g.Expect(typed.Code).To(gomega.Equal(event.ErrorInvalid))
					g.Expect(typed.Op).To(gomega.Equal("judge"))
					g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.wrong)))
					return
				}
				g.Expect(errors.Is(err, started)).To(gomega.BeTrue(), "%v", err)
				g.Expect(slices.Contains(argv, `{"disableSkillShellExecution":true}`)).To(gomega.Equal(judge != nil))
			})
		}
	}
}

// The variable of this process counts if Options.Env is nil.
func TestOpenRejectsInheritedSimpleMode(t *testing.T) {
	t.Setenv("CLAUDE_CODE_SIMPLE", "1")
	_, err := claude.New().Open(t.Context(), adapters.Options{Judge: fixedJudge(adapters.EffectDeny)})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("env: CLAUDE_CODE_SIMPLE ")))
}

// greet completes the handshake with additional fields.
func (p *peer) greet(more string) {
	l := p.expect(`"initialize"`)
	p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"claude_code_version":"2.1.329","current_permission_mode":"default"%s}}}`,
		quoted(l, `"request_id":"`), more))
}

// With a judge, Open fails if the runtime reports that it applies no hooks.
func TestOpenRejectsARuntimeWithoutHooks(t *testing.T) {
	for _, c := range []struct {
		judge   adapters.Judge
		says    string
		refused bool
	}{
		{fixedJudge(adapters.EffectDeny), `,"hooks_applied":false`, true},
		{fixedJudge(adapters.EffectDeny), `,"hooks_applied":true`, false},
		{fixedJudge(adapters.EffectDeny), ``, false}, // an older version does not report it
		{nil, `,"hooks_applied":false`, false},
	} {
		g := gomega.NewWithT(t)
		_, err, _ := runClient(t, adapters.Options{Judge: c.judge}, func(p *peer) {
			p.greet(c.says)
			p.quit()
		}, func(adapters.Session, func(event.Type) event.Event) {})
		if !c.refused {
			g.Expect(err).NotTo(gomega.HaveOccurred(), c.says)
			continue
		}
		typed, ok := errors.AsType[*adapters.OpenError](err)
		g.Expect(ok).To(gomega.BeTrue(), "%v", err)
		g.Expect(typed.Code).To(gomega.Equal(event.ErrorInvalid))
		g.Expect(typed.Op).To(gomega.Equal("judge"))
	}
}

// askOnce starts a turn, asks about a command, and returns all replies to it.
func askOnce(p *peer) (replies []string) {
	p.handshake()
	u := uuidOf(p.expect(`hi m1`))
	p.Print(lifecycleLine(u, "started"), initLine, toolLine, askLine)
	for {
		l := p.expect(`"control_response"`)
		if l == "" {
			p.Exit(proc.Exit{})
			return replies
		}
		replies = append(replies, l)
	}
}

// The user's answer is held back while the judge decides. It counts only if the
// judge asks.
func TestAnswerWaitsForTheJudge(t *testing.T) {
	for _, c := range []struct {
		says     adapters.Effect
		answered error
		reply    string
		by       event.By
	}{
		{adapters.EffectAsk, nil, `"behavior":"deny","message":"I said no"`, event.ByUser},
		{adapters.EffectAllow, adapters.ErrUnknownID, `"behavior":"allow"`, event.ByPolicy},
		{adapters.EffectDeny, adapters.ErrUnknownID, `"behavior":"deny","message":"not today"`, event.ByPolicy},
	} {
		t.Run(string(c.says), func(t *testing.T) {
			g := gomega.NewWithT(t)
			var release chan struct{}
			var early bool
			var answered error
			var replies []string
			judge := func(context.Context, adapters.Call) adapters.Verdict {
				<-release
				return adapters.Verdict{Effect: c.says, Reason: "not today"}
			}
			events, _, _ := runClient(t, adapters.Options{Judge: judge}, func(p *peer) { replies = askOnce(p) },
				func(s adapters.Session, next func(event.Type) event.Event) {
					release = make(chan struct{})
					_ = send(s, "m1")
					next(event.TypePermissionRequest)
					done := make(chan error, 1)
					go func() {
						done <- s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionDeny, Message: "I said no"})
					}()
					synctest.Wait()
					early = len(done) > 0
					close(release)
					answered = <-done
				})
			g.Expect(early).To(gomega.BeFalse(), "the answer was not held back")
			g.Expect(errors.Is(answered, c.answered)).To(gomega.BeTrue(), "%v", answered)
			g.Expect(replies).To(gomega.ConsistOf(gomega.ContainSubstring(c.reply)))
			resolved := dataOf[event.PermissionResolved](events)
			g.Expect(resolved).To(gomega.HaveLen(1))
			g.Expect(resolved[0].By).To(gomega.Equal(c.by))
		})
	}
}

// If the session is closed while the judge decides, a held answer returns.
func TestHeldAnswerReturnsOnClose(t *testing.T) {
	g := gomega.NewWithT(t)
	judge := func(ctx context.Context, _ adapters.Call) adapters.Verdict {
		<-ctx.Done()
		return adapters.Verdict{Effect: adapters.EffectAllow}
	}
	var answered error
	var replies []string
	_, err, _ := runClient(t, adapters.Options{Judge: judge}, func(p *peer) { replies = askOnce(p) },
		func(s adapters.Session, next func(event.Type) event.Event) {
			_ = send(s, "m1")
			next(event.TypePermissionRequest)
			done := make(chan error, 1)
			go func() {
				done <- s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionAllow})
			}()
			synctest.Wait()
			_ = s.Close(context.Background())
			answered = <-done
		})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(answered).To(gomega.HaveOccurred())
	g.Expect(replies).To(gomega.ConsistOf(gomega.ContainSubstring(`"behavior":"deny"`)))
}

// hookLine is a call of the judge's hook.
func hookLine(request, tool string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"hook_callback","callback_id":"judge","input":{"hook_event_name":"PreToolUse","tool_name":%q,"tool_input":{"command":"touch x"},"tool_use_id":"t1","cwd":"/w"}}}`, request, tool)
}

// The judge's hook stays in force when the mode changes. It allows a call only
// in a mode that never asks.
func TestSetModeKeepsTheJudge(t *testing.T) {
	for _, c := range []struct {
		mode, flag string
		says       adapters.Effect
		want       string
	}{
		{adapters.ModeNever, "bypassPermissions", adapters.EffectDeny, `"permissionDecision":"deny","permissionDecisionReason":"not today"`},
		{adapters.ModeNever, "bypassPermissions", adapters.EffectAllow, `"response":{}`},
		{adapters.ModeDontAsk, "dontAsk", adapters.EffectDeny, `"permissionDecision":"deny"`},
		{adapters.ModeDontAsk, "dontAsk", adapters.EffectAsk, `"response":{}`},
		{adapters.ModeDontAsk, "dontAsk", adapters.EffectAllow, `"permissionDecision":"allow"`},
		{adapters.ModeAcceptEdits, "acceptEdits", adapters.EffectAllow, `"response":{}`},
	} {
		t.Run(c.mode+"/"+string(c.says), func(t *testing.T) {
			g := gomega.NewWithT(t)
			var set error
			var request, given, question string
			_, err, _ := runClient(t, adapters.Options{Judge: fixedJudge(c.says)}, func(p *peer) {
				p.handshake()
				request = p.expect(`"set_permission_mode"`)
				p.Print(fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"mode":%q}}}`, quoted(request, `"request_id":"`), c.flag),
					fmt.Sprintf(`{"type":"system","subtype":"status","status":null,"permissionMode":%q}`, c.flag))
				u := uuidOf(p.expect(`hi m1`))
				p.Print(lifecycleLine(u, "started"), strings.Replace(initLine, `"default"`, fmt.Sprintf("%q", c.flag), 1), toolLine, hookLine("h1", "Bash"))
				given = p.expect(`"h1"`)
				p.Print(hookLine("h2", "AskUserQuestion"))
				question = p.expect(`"h2"`)
				p.Print(resultLine)
				p.quit()
			}, func(s adapters.Session, next func(event.Type) event.Event) {
				set = s.(adapters.ModeSetter).SetMode(context.Background(), c.mode)
				_ = send(s, "m1")
				next(event.TypeDone)
			})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(set).NotTo(gomega.HaveOccurred())
			g.Expect(request).To(gomega.ContainSubstring(fmt.Sprintf(`"mode":%q`, c.flag)))
			g.Expect(given).To(gomega.ContainSubstring(c.want))
			if c.says != adapters.EffectDeny {
				g.Expect(question).To(gomega.ContainSubstring(`"response":{}`), "a question is the user's in every mode")
			}
		})
	}
}

// If a question is closed, the judge is cancelled and a held answer fails.
func TestClosedQuestionCancelsTheJudge(t *testing.T) {
	for name, over := range map[string]string{
		"taken back": `{"type":"control_cancel_request","request_id":"q1"}`,
		"turn ended": resultLine,
		"tool ended": `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]},"parent_tool_use_id":null}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var given, ended bool
			judge := func(ctx context.Context, _ adapters.Call) adapters.Verdict {
				given = true
				<-ctx.Done()
				ended = true
				return adapters.Verdict{Effect: adapters.EffectAllow}
			}
			var before, after bool
			var answered error
			_, err, _ := runClient(t, adapters.Options{Judge: judge}, func(p *peer) {
				p.handshake()
				p.expect(`hi m1`)
				p.Print(initLine, toolLine, askLine)
				p.expect(`hi m2`)
				p.Print(over)
				p.quit()
			}, func(s adapters.Session, next func(event.Type) event.Event) {
				_ = send(s, "m1")
				next(event.TypePermissionRequest)
				done := make(chan error, 1)
				go func() {
					done <- s.Answer(context.Background(), "q1", adapters.Answer{Decision: event.DecisionAllow})
				}()
				synctest.Wait()
				before = given && !ended
				_ = send(s, "m2")
				synctest.Wait()
				if after = ended; len(done) > 0 {
					answered = <-done
				}
			})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(before).To(gomega.BeTrue())
			g.Expect(after).To(gomega.BeTrue(), "the judge was not cancelled")
			g.Expect(errors.Is(answered, adapters.ErrUnknownID)).To(gomega.BeTrue(), "%v", answered)
		})
	}
}
