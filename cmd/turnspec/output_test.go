package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/lab/shrink"
)

// TestRerun checks that the rerun command has the same corpus, faults and tier, and
// quotes words for a shell.
func TestRerun(t *testing.T) {
	g := NewWithT(t)
	cmd := runCmd()
	g.Expect(rerun(cmd)).To(Equal("run"))
	g.Expect(cmd.ParseFlags([]string{"--corpus", "my corpus", "--runtime", "claude@2.1.329", "--tier", "witness", "--tier", "live", "--exhaustive", "--known", "k", "--shard", "1/2"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --corpus 'my corpus' --tier witness --exhaustive"))
	cmd = runCmd()
	g.Expect(cmd.ParseFlags([]string{"--runtime", "codex@0.169.0", "--seed", "7", "--acp", "--", "npx", "an agent"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --subject acp --runtime codex --seed 7 -- npx 'an agent'"))
	cmd = runCmd()
	g.Expect(cmd.ParseFlags([]string{"--runtime", "codex@0.169.0", "--http", "http://127.0.0.1:0/api", "--", "node", "server.js"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --subject http://127.0.0.1:0/api --runtime codex -- node server.js"))
	// A command after -- is a subject too: its runtime must be named again.
	cmd = runCmd()
	g.Expect(cmd.ParseFlags([]string{"--runtime", "claude@2.1.329", "--case", "text/*", "--", "python3", "x.py"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --runtime claude -- python3 x.py"))
	cmd = runCmd()
	g.Expect(cmd.ParseFlags([]string{"--runtime", "claude", "--http", "http://127.0.0.1:0", "--dialect", "uistream", "--start-limit", "40s", "--", "node", "s.js"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --subject http://127.0.0.1:0 --dialect uistream --start-limit 40s --runtime claude -- node s.js"))
	// So does the command of a smaller case.
	shrunk := shrinkFlags{out: "my bug.zip", subject: subjectFlags{runtime: "claude@2.1.329", kind: kindRunner, command: []string{"a runner"}}}
	g.Expect(shrunk.rerun(&shrink.Config{Check: &conformance.Check{ID: "text.once"}}, "claude/newest/text/plain")).To(Equal(
		"turnspec run --corpus 'my bug.zip' --case claude/newest/text/plain --check text.once --runtime claude --subject runner -- 'a runner'"))
	cmd = runCmd()
	g.Expect(cmd.ParseFlags([]string{"--runtime", "claude@2.1.329", "--dialect", "my.json", "--", "python3", "a.py"})).To(Succeed())
	g.Expect(rerun(cmd)).To(Equal("run --dialect my.json --runtime claude -- python3 a.py"))
	g.Expect(quoted("it's")).To(Equal(`'it'\''s'`))
	g.Expect(quoted("")).To(Equal("''"))
	g.Expect(quoted("codex/*")).To(Equal("'codex/*'"))
}
