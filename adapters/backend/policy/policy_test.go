package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/event"
)

const (
	allow = adapters.EffectAllow
	ask   = adapters.EffectAsk
	deny  = adapters.EffectDeny
)

func TestInvalidPolicyDeniesEverything(t *testing.T) {
	for name, p := range map[string]policy.Policy{
		"mode":    {Mode: "plan"},
		"preset":  {Preset: "Full"},
		"unknown": {Unknown: allow},
		"root":    {Roots: []string{"work"}},
		"home":    {Home: "~"},
		"mcp":     {MCP: []string{""}},
	} {
		g := NewWithT(t)
		d := p.Decide(adapters.Call{Tool: "TodoWrite", Dir: "/w"})
		g.Expect(d.Effect).To(Equal(deny), name)
		g.Expect(d.Reason).To(ContainSubstring(name+" \""), name)
	}
	g := NewWithT(t)
	zero := policy.Policy{}
	g.Expect(zero.Decide(adapters.Call{Tool: "TodoWrite", Dir: "/w"}).Effect).To(Equal(allow))
}

func TestJudge(t *testing.T) {
	g := NewWithT(t)
	p := policy.Policy{Mode: policy.Implementation, Unknown: ask}
	judge := p.Judge()
	for tool, want := range map[string]adapters.Verdict{
		"Sudoku":    {Effect: ask, Reason: "Sudoku: unknown tool"},
		"WebSearch": {Effect: allow, Reason: "WebSearch: mode implementation allows it"},
	} {
		g.Expect(judge(t.Context(), adapters.Call{Tool: tool, Dir: "/w"})).To(Equal(want))
	}
}

// TestSymlinks: symlinks are resolved in the part of a path that exists.
func TestSymlinks(t *testing.T) {
	g := NewWithT(t)
	base := t.TempDir()
	root, out := filepath.Join(base, "work"), filepath.Join(base, "out")
	for _, d := range []string{root, out, filepath.Join(root, "sub")} {
		g.Expect(os.Mkdir(d, 0o755)).To(Succeed())
	}
	for link, to := range map[string]string{"away": out, "up": "..", "loop": "loop", "in": "sub", "gone": "../nothing/there", "self": "/proc/self/cwd"} {
		g.Expect(os.Symlink(to, filepath.Join(root, link))).To(Succeed())
	}
	g.Expect(os.Symlink(root, filepath.Join(base, "alias"))).To(Succeed())
	for _, c := range []struct {
		dir, path string
		want      adapters.Effect
	}{
		{root, "a.txt", allow},
		{root, "new/b/c.txt", allow},
		{root, "in/a.txt", allow},
		{root, "in/../a.txt", allow},
		{root, "sub/../../work/a.txt", allow},
		{filepath.Join(base, "alias"), "a.txt", allow},
		{root, filepath.Join(base, "alias", "a.txt"), allow},
		{root, "away/a.txt", deny},
		{root, "away/../work/a.txt", allow}, // .. of where the link leads
		{root, "up/out/a.txt", deny},
		{root, "gone", deny},
		{root, "gone/x", deny},
		{root, "loop/x", deny},
		{root, "self/x", deny},
		{root, "../out/a.txt", deny},
		{root, "..", deny},
		{root, out + "/../work/a.txt", allow},
		{root, root + "x", deny},
		{"", "a.txt", deny},
	} {
		p := policy.Policy{Mode: policy.Implementation, Roots: []string{root}}
		d := p.Decide(adapters.Call{Tool: "Write", Dir: c.dir, Input: event.Raw(`{"file_path":"` + c.path + `"}`)})
		g.Expect(d.Effect).To(Equal(c.want), "%s in %q: %s", c.path, c.dir, d.Reason)
	}
}

// TestDomainRules: a pattern of subdomains ends at a dot, and a URL that readers could
// take for another host is not allowed.
func TestDomainRules(t *testing.T) {
	g := NewWithT(t)
	rule, err := policy.ParseRule("WebFetch(domain:*.example.com)")
	g.Expect(err).NotTo(HaveOccurred())
	p := policy.Policy{Rules: policy.Rules{Allow: []policy.Rule{rule}}}
	for url, want := range map[string]adapters.Effect{
		"https://docs.example.com/x":        allow,
		"https://A.B.Example.com.":          allow,
		"https://evilexample.com":           deny,
		"https://example.com":               deny,
		"https://.example.com":              deny,
		"https://docs.example.com.evil.org": deny,
		"https://docs.example.com@evil.org": deny,
		"https://evil.org/.example.com":     deny,
		"https://evil.org?.example.com":     deny,
		`https://evil.org\.example.com`:     deny,
		"https://evil.org%2f.example.com":   deny,
		"https://evil.org\t.example.com":    deny,
		"https://evilexample.com:443":       deny,
		"ftp://docs.example.com":            deny,
	} {
		in := event.Raw(fmt.Sprintf(`{"url":%q}`, url))
		g.Expect(p.Decide(adapters.Call{Tool: "WebFetch", Dir: "/w", Input: in}).Effect).To(Equal(want), url)
	}
}

// TestDeniedDomains: a host is denied in each spelling that a client accepts.
func TestDeniedDomains(t *testing.T) {
	g := NewWithT(t)
	p := policy.Policy{Mode: policy.Implementation}
	for _, domain := range []string{"evil.com", "127.0.0.1", "2001:db8::1"} {
		rule, err := policy.ParseRule("WebFetch(domain:" + domain + ")")
		g.Expect(err).NotTo(HaveOccurred())
		p.Rules.Deny = append(p.Rules.Deny, rule)
	}
	for url, want := range map[string]string{
		"http://evil.com/":                "a rule denies it",
		"http://\uff45vil.com/":           "the host is not on the list",
		"http://evil\u3002com/":           "the host is not on the list",
		"http://ev\u00adil.com/":          "the host is not on the list",
		"http://\u24d4vil.com/":           "the host is not on the list",
		"http://%EF%BD%85vil.com/":        "the host is not on the list",
		"http://127.0.0.1:80/":            "a rule denies it",
		"http://2130706433/":              "the host is not on the list",
		"http://0x7f.1/":                  "the host is not on the list",
		"http://127.1./":                  "the host is not on the list",
		"http://0177.0.0.1/":              "the host is not on the list",
		"http://0x7F000001/":              "the host is not on the list",
		"http://[::ffff:127.0.0.1]/":      "a rule denies it",
		"http://[::ffff:7f00:1]/":         "a rule denies it",
		"http://[2001:DB8:0::1]:80/":      "a rule denies it",
		"http://[2001:db8::1%25eth0]/":    "the host is not on the list",
		"http://evil.com.example/":        "",
		"http://xn--vil-bla.com:8080/":    "",
		"http://127.0.0.2/":               "",
		"http://[::1]/":                   "",
		"http://a_b.x-1.example/évil.com": "",
	} {
		d := p.Decide(adapters.Call{Tool: "WebFetch", Dir: "/w", Input: event.Raw(fmt.Sprintf(`{"url":%q}`, url))})
		if want == "" {
			g.Expect(d.Effect).To(Equal(allow), "%s: %s", url, d.Reason)
			continue
		}
		g.Expect(d.Effect).To(Equal(deny), url)
		g.Expect(d.Reason).To(ContainSubstring(want), url)
	}
}
