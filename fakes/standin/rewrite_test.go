package standin_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

// without is argv without some flags.
func without(flags ...string) func([]string) []string {
	return func(argv []string) []string {
		var out []string
		for _, a := range argv {
			drop := false
			for _, f := range flags {
				drop = drop || a == f
			}
			if !drop {
				out = append(out, a)
			}
		}
		return out
	}
}

func TestClaudeClientGetsOnlyLinesItAskedFor(t *testing.T) {
	streams := regexp.MustCompile(`"type":"stream_event"|"status":"requesting"`)
	replays := regexp.MustCompile(`"isReplay":true`)
	for _, x := range []struct {
		flag string
		gone *regexp.Regexp
	}{
		{"--include-partial-messages", streams},
		{"--replay-user-messages", replays},
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, claudePlain)
		e.argv = without(x.flag)
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.State().Finished).To(gomega.BeTrue())
		var want []string
		dropped := 0
		for line := range strings.SplitSeq(recorded(c, fixtures.Out, 1), "\n") {
			if x.gone.MatchString(line) {
				dropped++
				continue
			}
			want = append(want, line)
		}
		g.Expect(dropped).To(gomega.BeNumerically(">", 0), x.flag)
		same(t, e.out[1].String(), strings.Join(want, "\n"))
	}
}

func TestEchoedResponsesAreLeftOut(t *testing.T) {
	g := gomega.NewWithT(t)
	c, _, e := playOf(t, claudeDeny)
	e.argv = without("--replay-user-messages")
	g.Expect(recorded(c, fixtures.Out, 1)).To(gomega.ContainSubstring(`"behavior":"deny"`), "the recording holds no echo")
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(e.out[1].String()).NotTo(gomega.ContainSubstring(`"behavior":"deny"`))
}

func TestMessageWithoutUUIDHasNoLifecycle(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, claudePlain)
	uuid := regexp.MustCompile(`"uuid":"[^"]*",`)
	e.instead = func(w *fixtures.WireLine) []string { return []string{uuid.ReplaceAllString(string(w.Bytes), "")} }
	want := recorded(c, fixtures.Out, 1)
	g.Expect(want).To(gomega.ContainSubstring("command_lifecycle"))
	g.Expect(want).To(gomega.ContainSubstring("user_message_uuid"))
	g.Expect(e.perform(c)).To(gomega.Succeed())
	got := e.out[1].String()
	g.Expect(p.State().Finished).To(gomega.BeTrue())
	g.Expect(got).NotTo(gomega.ContainSubstring("command_lifecycle"))
	g.Expect(got).NotTo(gomega.ContainSubstring("user_message_uuid"))
	want = regexp.MustCompile(`(?m)^.*"type":"command_lifecycle".*\n`).ReplaceAllString(want, "")
	want = regexp.MustCompile(`,"user_message_uuids?":("[^"]*"|\[[^\]]*\])`).ReplaceAllString(want, "")
	want = regexp.MustCompile(`,"(owed_rows|first_request_input_tokens|first_request_cache_read_input_tokens|request_sent_wall_ms)":(\d+|\[\])`).ReplaceAllString(want, "")
	same(t, got, want)
}

func TestClaudeIDsOfTheClientReplaceRecordedOnes(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, claudeResume)
	const session, message = "aaaaaaaa-1111-4222-8333-444444444444", "bbbbbbbb-1111-4222-8333-444444444444"
	change := strings.NewReplacer(
		"00000000-0000-4000-8000-5e5510000001", session,
		"00000000-0000-4000-8000-000000006d31", message,
		`"request_id":"r1"`, `"request_id":"call-1"`,
	)
	e.text = change.Replace
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(p.Violations()).To(gomega.BeEmpty())
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	for n := 1; n <= 2; n++ {
		same(t, e.out[n].String(), change.Replace(recorded(c, fixtures.Out, n)))
	}
	g.Expect(p.ProviderSessionID()).To(gomega.Equal(session))
}

func TestCodexIDsOfTheClientReplaceRecordedOnes(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	id := regexp.MustCompile(`^\{"id":(\d+),`)
	e.instead = func(w *fixtures.WireLine) []string {
		s := id.ReplaceAllString(string(w.Bytes), `{"id":"req-$1",`)
		return []string{strings.Replace(s, `"clientUserMessageId":"m1"`, `"clientUserMessageId":"say \"x\""`, 1)}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(p.State().Finished).To(gomega.BeTrue())
	want := regexp.MustCompile(`(?m)^\{"id":(\d+),`).ReplaceAllString(recorded(c, fixtures.Out, 1), `{"id":"req-$1",`)
	same(t, e.out[1].String(), strings.ReplaceAll(want, `"clientId":"m1"`, `"clientId":"say \"x\""`))

	c, _, e = playOf(t, codexPlain)
	e.instead = func(w *fixtures.WireLine) []string {
		return []string{strings.Replace(string(w.Bytes), `,"clientUserMessageId":"m1"`, "", 1)}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	same(t, e.out[1].String(), strings.ReplaceAll(recorded(c, fixtures.Out, 1), `"clientId":"m1"`, `"clientId":null`))
}

func TestCodexClientGetsOnlyTheMethodsItAskedFor(t *testing.T) {
	for _, x := range []struct {
		caps string
		gone []string
	}{
		{`{"experimentalApi":true,"optOutNotificationMethods":["item/agentMessage/delta","account/rateLimits/updated"]}`,
			[]string{"item/agentMessage/delta", "account/rateLimits/updated"}},
		{`{}`, []string{"thread/readState/changed"}},
	} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, codexPlain)
		e.instead = func(w *fixtures.WireLine) []string {
			return []string{strings.Replace(string(w.Bytes), `{"experimentalApi":true}`, x.caps, 1)}
		}
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.State().Finished).To(gomega.BeTrue())
		want := recorded(c, fixtures.Out, 1)
		for _, m := range x.gone {
			re := regexp.MustCompile(fmt.Sprintf(`(?m)^\{"method":%q.*\n`, m))
			g.Expect(want).To(gomega.MatchRegexp(re.String()), "the recording has none")
			want = re.ReplaceAllString(want, "")
		}
		same(t, e.out[1].String(), want)
	}
}

func TestSeedsGiveDifferentIDsAndTheSameOneTheSame(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexPlain)
	ids := map[string]bool{}
	for _, seed := range []uint64{1, 2, 1} {
		p, err := standin.New(c, standin.Options{Manual: true, Seed: seed})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		e := newEchoClient(p)
		e.text = p.Played
		g.Expect(e.perform(c)).To(gomega.Succeed())
		g.Expect(p.Violations()).To(gomega.BeEmpty())
		g.Expect(p.ProviderSessionID()).To(gomega.MatchRegexp(`^01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`))
		ids[p.ProviderSessionID()] = true
		p.Close()
	}
	g.Expect(ids).To(gomega.HaveLen(2))
}

func TestUnplayableCaseIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := standin.New(&fixtures.Case{File: "x.txtar", Runtime: "none"}, standin.Options{})
	g.Expect(err).To(gomega.MatchError(gomega.HavePrefix(`x.txtar: no runtime "none", want one of claude, codex, codexexec`)))
	_, err = standin.New(load(t, codexPlain), standin.Options{First: 2})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no process 2")))
}

func TestLaunchBeyondTheCaseFails(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	g.Expect(e.perform(c)).To(gomega.Succeed())
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	g.Expect(e.proc.Wait()).To(gomega.Equal(proc.Exit{Code: 1}))
	g.Expect(p.Unrecorded()).To(gomega.HaveLen(1))
}
