package standin_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// What clients that we did not write do otherwise than the recording's client.

const (
	execPlain  = "codexexec/newest/text/plain"
	execStop   = "codexexec/newest/stop/mid-tool"
	execResume = "codexexec/newest/session/resume-in-a-new-process"
)

func TestExecTakesItsMessageFromArguments(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, execPlain)
	g.Expect(e.spawn([]string{"codex", "exec", "--json", "-m", "other", "--skip-git-repo-check", "Name three rivers."})).To(gomega.Succeed())
	e.steps()
	g.Expect(e.out[1].String()).To(gomega.BeEmpty(), "it reads stdin to its end")
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.read.Wait()
	same(t, e.out[1].String(), recorded(c, fixtures.Out, 1))
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
}

// TestExecUsesTheFolderOfItsOptions: the folder may be an option, from where the process was
// started or from the root.
func TestExecUsesTheFolderOfItsOptions(t *testing.T) {
	for _, c := range []struct {
		want string
		argv []string
	}{
		{"/srv/there", []string{"--cd", "/srv/there", "--json"}},
		{"/srv/there", []string{"--json", "--cd=/srv/there"}},
		{"/srv/there", []string{"--json", "-C", "/srv/there"}},
		{"/there", []string{"--json", "-C", "there"}},
		{"", []string{"--json"}},
		{"", []string{"--experimental-json"}},
	} {
		g := gomega.NewWithT(t)
		_, p, e := playOf(t, execPlain)
		g.Expect(e.spawn(append([]string{"codex", "exec"}, append(c.argv, "Name three rivers.")...))).To(gomega.Succeed())
		dir := p.Started()[0].Dir
		g.Expect(dir).To(gomega.HaveSuffix(c.want), "%q", c.argv)
		e.steps()
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		e.read.Wait()
		g.Expect(e.out[1].String()).To(gomega.HavePrefix("{"), "%q: it prints text", c.argv)
		g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	}
}

func TestExecOfAnotherMessageIsUnrecorded(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, execPlain)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t, "Name four rivers.")
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	g.Expect(e.proc.Wait()).To(gomega.Equal(proc.Exit{}))
	g.Expect(p.Unrecorded()).To(gomega.ConsistOf(gomega.ContainSubstring("Name four rivers.")))
}

func TestExecRunsOnUntilItsClientStopsIt(t *testing.T) {
	for s, want := range map[proc.Signal]proc.Exit{proc.SIGTERM: {Code: -1, Signal: proc.SIGTERM}, proc.SIGINT: {Code: 1}} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, execStop)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		e.write(t, "Wait for the file.")
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		g.Expect(p.State().Finished).To(gomega.BeFalse())
		g.Expect(e.proc.Signal(s)).To(gomega.Succeed())
		g.Expect(e.proc.Wait()).To(gomega.Equal(want))
		e.read.Wait()
		same(t, e.out[1].String(), recorded(c, fixtures.Out, 1))
	}
}

func TestExecResumesOnlyThreadsOfThisPlay(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, execResume)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t, "Remember the word lantern.")
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.proc.Wait()
	g.Expect(e.spawn([]string{"codex", "exec", "--json", "resume", "01a1fd18-0000-7000-8000-000000000000"})).To(gomega.Succeed())
	g.Expect(e.proc.Wait()).To(gomega.Equal(proc.Exit{Code: 1}))
	g.Expect(p.Unrecorded()).To(gomega.HaveLen(1))
	g.Expect(e.spawn([]string{"codex", "exec", "--json", "resume", "--last"})).To(gomega.Succeed())
	e.write(t, "Which word was it?")
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.proc.Wait()
	e.read.Wait()
	g.Expect(e.out[3].String()).To(gomega.ContainSubstring("It was lantern."))
	g.Expect(p.State().Finished).To(gomega.BeTrue())
}

func TestClaudeReportsTheModeOfThisClient(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, claudePlain)
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := standin.New(c, standin.Options{Manual: true, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	e := newEchoClient(p)
	e.argv = func(argv []string) []string {
		return strings.Split(strings.Replace(strings.Join(argv, "\n"), "bypassPermissions", "plan", 1), "\n")
	}
	e.instead = func(w *fixtures.WireLine) []string {
		s := string(w.Bytes)
		if strings.Contains(s, `"type":"user"`) {
			return []string{`{"type":"control_request","request_id":"m","request":{"subtype":"set_permission_mode","mode":"dontAsk"}}`, s}
		}
		return []string{s}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	out := e.out[1].String()
	g.Expect(out).To(gomega.ContainSubstring(`"current_permission_mode":"plan"`))
	g.Expect(out).To(gomega.ContainSubstring(`"request_id":"m","response":{"mode":"dontAsk"}`))
	g.Expect(out).To(gomega.MatchRegexp(`"subtype":"init".*"permissionMode":"dontAsk"`))
	g.Expect(out).NotTo(gomega.ContainSubstring("bypassPermissions"))
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
}

// TestClaudeRefusesToRaiseTheMode checks that a session that asks cannot be set to ask
// nothing if its case does not say so, unless its command line allows that.
func TestClaudeRefusesToRaiseTheMode(t *testing.T) {
	for options, want := range map[string]string{
		"":                                     `{"subtype":"error","request_id":"m",`,
		"--allow-dangerously-skip-permissions": `{"subtype":"success","request_id":"m","response":{"mode":"bypassPermissions"}}`,
	} {
		g := gomega.NewWithT(t)
		c := load(t, "claude/newest/permission/allow")
		life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := standin.New(c, standin.Options{Manual: true, ReadReplies: life})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		defer p.Close()
		e := newEchoClient(p)
		e.argv = func(argv []string) []string { return append(slices.Clone(argv), strings.Fields(options)...) }
		e.instead = func(w *fixtures.WireLine) []string {
			s := string(w.Bytes)
			if strings.Contains(s, `"type":"user"`) {
				return []string{`{"type":"control_request","request_id":"m","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}`, s}
			}
			return []string{s}
		}
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(e.out[1].String()).To(gomega.ContainSubstring(want), options)
		g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	}
}

func TestClaudeRepeatsTheReasonOfThisClient(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, claudeDeny)
	e.text = strings.NewReplacer("The user said no.", `Not \"now\".`).Replace
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(e.out[1].String()).To(gomega.ContainSubstring(`"content":"Not \"now\"."`))
	g.Expect(e.out[1].String()).NotTo(gomega.ContainSubstring("The user said no."))
	g.Expect(p.Violations()).To(gomega.BeEmpty())
}

func TestCodexOpensASecondThread(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexPlain)
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	var side struct {
		Thread struct {
			ID string `json:"id"`
		} `json:"thread"`
	}
	result, _, ok := life.Result("thread/start")
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(json.Unmarshal(result, &side)).To(gomega.Succeed())
	e := newEchoClient(p)
	e.instead = func(w *fixtures.WireLine) []string {
		s := string(w.Bytes)
		if strings.Contains(s, "turn/start") {
			return []string{
				`{"id":"s","method":"thread/start","params":{"cwd":"/x","ephemeral":true}}`,
				`{"id":"t","method":"turn/start","params":{"threadId":"` + side.Thread.ID + `","input":[{"type":"text","text":"A name, please."}]}}`,
				`{"id":"n","method":"thread/name/set","params":{"threadId":"` + p.ProviderSessionID() + `","name":"Of water"}}`, s,
			}
		}
		return []string{s}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	out := e.out[1].String()
	g.Expect(out).To(gomega.ContainSubstring(`"text":"A name, please."`), "what the client asked is repeated")
	g.Expect(out).To(gomega.ContainSubstring(`{\"title\":\"Three rivers\"}`))
	g.Expect(out).To(gomega.MatchRegexp(`"thread/name/updated".*"threadName":"Of water"`))
	g.Expect(out).To(gomega.ContainSubstring("the Nile"), "and the session goes on")
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	g.Expect(p.State().Finished).To(gomega.BeTrue())
}

func TestOnlyHooksOfThisClientAreCalled(t *testing.T) {
	const id = "claude/newest/hook/after-each-command"
	for own, want := range map[string]int{
		`"hooks":{"PostToolUse":[{"matcher":"Read","hookCallbackIds":["mine"]}]}`: 2,
		`"hooks":{"PreToolUse":[{"hookCallbackIds":["mine"]}]}`:                   0,
		`"hooks":null`: 0,
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		e.instead = func(w *fixtures.WireLine) []string {
			s := string(w.Bytes)
			switch {
			case strings.Contains(s, `"response":{}`) && want == 0:
				return nil
			case strings.Contains(s, `"response":{}`):
				return []string{strings.Replace(s, `"response":{}`, `"response":{"continue":true}`, 1)}
			}
			return []string{strings.Replace(s, `"hooks":{"PostToolUse":[{"hookCallbackIds":["hook_0"]}]}`, own, 1)}
		}
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.State().Finished).To(gomega.BeTrue())
		g.Expect(p.Violations()).To(gomega.BeEmpty())
		g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
		g.Expect(strings.Count(e.out[1].String(), `"callback_id":"mine"`)).To(gomega.Equal(want), own)
		g.Expect(e.out[1].String()).NotTo(gomega.ContainSubstring("hook_0"))
	}
}
