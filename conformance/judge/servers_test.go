package judge_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/judge"
	"github.com/turnspec/turnspec/conformance/perform"
	"github.com/turnspec/turnspec/fakes/servers"
	"github.com/turnspec/turnspec/fixtures"
)

// This test program does not import what runs MCP servers.
func TestNoServersToStart(t *testing.T) {
	g := NewWithT(t)
	c, err := fixtures.LoadCase("chat/1-plain/mcp/answers")
	g.Expect(err).NotTo(HaveOccurred())
	rec, err := (&perform.Loader{Corpus: fixtures.Embedded()}).Load(c)
	g.Expect(err).NotTo(HaveOccurred())
	run := perform.Virtual(conformance.Adapter("chat", chat.New()), rec, nil)
	g.Expect(judge.Unsupported(run)).To(ContainSubstring(servers.ErrNone.Error()))
}
