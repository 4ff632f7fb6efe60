package standin_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fakes/standin"
	"github.com/turnspec/turnspec/fixtures"
)

func TestReadsAreAnsweredFromTheLifecycleWithoutMovingThePlay(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, claudePlain)
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := standin.New(c, standin.Options{Manual: true, KeepIDs: true, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	e := newEchoClient(p)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t,
		`{"type":"control_request","request_id":"q1","request":{"subtype":"mcp_status"}}`,
		`{"type":"control_request","request_id":"q2","request":{"subtype":"account_info"}}`,
		`{"type":"control_request","request_id":"q3","request":{"subtype":"interrupt"}}`, // idle: harmless
		`{"type":"control_request","request_id":"q4","request":{"subtype":"set_max_thinking_tokens","max_thinking_tokens":1024}}`,
	)
	g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
	e.steps()
	e.read.Wait()
	g.Expect(strings.Split(e.out[1].String(), "\n")[:4]).To(gomega.Equal([]string{
		`{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"mcpServers":[]}}}`,
		`{"type":"control_response","response":{"subtype":"error","request_id":"q2","error":"Unsupported control request subtype: account_info","error_code":"unsupported_request"}}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":"q3","response":{"still_queued":[]}}}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":"q4"}}`,
	}))
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
}

// A read of a thread that does not exist fails as in the runtime. A read of a thread of this
// play is answered.
func TestReadOfAnUnknownThreadFails(t *testing.T) {
	for _, version := range []string{"newest", "0.120.0", "0.98.0"} {
		g := gomega.NewWithT(t)
		c := load(t, "codex/"+version+"/text/plain")
		life, err := fixtures.LoadReadReplies("codex", version)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := standin.New(c, standin.Options{Manual: true, ReadReplies: life})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		e := newEchoClient(p)
		g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
		for _, w := range acts(c)[:3] { // initialize, initialized, thread/start
			e.write(t, string(w.Bytes))
			e.steps()
		}
		thread := p.ProviderSessionID()
		e.write(t,
			`{"id":"q1","method":"thread/read","params":{"threadId":"11111111-2222-4333-8444-555555555555"}}`,
			`{"id":"q2","method":"thread/read","params":{"threadId":"`+thread+`"}}`,
		)
		g.Expect(e.proc.Stdin().Close()).To(gomega.Succeed())
		e.steps()
		e.read.Wait()
		got := e.out[1].String()
		g.Expect(got).To(gomega.ContainSubstring(`{"error":{"code":-32600,"message":"thread not loaded: 11111111-2222-4333-8444-555555555555"},"id":"q1"}`), version)
		g.Expect(got).To(gomega.ContainSubstring(`{"id":"q2","result":{"thread":{"id":"`+thread), version)
		g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
		p.Close()
	}
}

// The folder of a session of codex is the one that its client asks for, wherever
// the process was started.
func TestSessionUsesTheClientsFolder(t *testing.T) {
	g := gomega.NewWithT(t)
	c, p, e := playOf(t, codexPlain)
	e.instead = func(w *fixtures.WireLine) []string {
		return []string{strings.ReplaceAll(string(w.Bytes), "<work>", "/srv/else/where")}
	}
	_ = e.perform(c)
	g.Expect(e.out[1].String()).To(gomega.ContainSubstring(`"cwd":"/srv/else/where"`))
	g.Expect(p.Recorded("in /srv/else/where")).To(gomega.Equal("in <work>"))
}

// Codex names its sub-agents /root/NAME. Where HOME is /root, as in most containers, such a name
// is no folder of the user.
func TestNamesAreNoFolders(t *testing.T) {
	for id, want := range map[string]string{"codex/newest/subagent/waited-for": "/root/scout", codexPlain: "<home>/scout"} {
		g := gomega.NewWithT(t)
		c, p, e := playOf(t, id)
		e.home = "/root"
		_ = e.perform(c)
		g.Expect(p.Recorded("/root/scout")).To(gomega.Equal(want), id)
		p.Close()
	}
}

func TestLifecycleIsNotModified(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, claudePlain)
	line := []byte(`{"type":"keep_alive"}and more`)
	life := &fixtures.ReadReplies{Replies: []fixtures.ReadReply{{
		Method: "mcp_status", Before: []jsontext.Value{line[:len(line)-len("and more")]}, Result: jsontext.Value(`{}`),
	}}}
	p, err := standin.New(c, standin.Options{Manual: true, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	e := newEchoClient(p)
	g.Expect(e.spawn(c.Wire[0].Argv)).To(gomega.Succeed())
	e.write(t, `{"type":"control_request","request_id":"q1","request":{"subtype":"mcp_status"}}`)
	p.Close()
	e.read.Wait()
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	g.Expect(string(line)).To(gomega.HaveSuffix("}and more"))
}

func TestLifecycleNamesTheThreadOfThisPlay(t *testing.T) {
	g := gomega.NewWithT(t)
	c := load(t, codexPlain)
	life, err := fixtures.LoadReadReplies(c.Runtime, c.Version)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := standin.New(c, standin.Options{Manual: true, Seed: 3, ReadReplies: life})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer p.Close()
	e := newEchoClient(p)
	e.dir = "/srv/x"
	e.instead = func(w *fixtures.WireLine) []string {
		s := p.Played(string(w.Bytes))
		if strings.Contains(s, "turn/start") {
			return []string{
				`{"id":"l","method":"thread/loaded/list","params":{}}`,
				`{"id":"x","method":"account/rateLimits/read"}`,
				`{"id":"i","method":"turn/interrupt","params":{"threadId":"` + p.ProviderSessionID() + `","turnId":"t"}}`, s,
			}
		}
		return []string{s}
	}
	g.Expect(e.perform(c)).To(gomega.Succeed())
	out := e.out[1].String()
	g.Expect(out).To(gomega.ContainSubstring(`{"id":"l","result":{"data":["` + p.ProviderSessionID() + `"],"nextCursor":null}}`))
	g.Expect(out).To(gomega.MatchRegexp(`\{"error":\{"code":-32600,.*\},"id":"x"\}`))
	g.Expect(out).To(gomega.ContainSubstring(`"no active turn to interrupt"},"id":"i"}`))
	g.Expect(p.Unrecorded()).To(gomega.BeEmpty())
	g.Expect(p.State().Finished).To(gomega.BeTrue())
}
