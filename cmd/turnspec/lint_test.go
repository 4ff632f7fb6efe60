package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/fixtures"
)

// Each rule reports its bad case, and no rule reports the good one.
func TestEachRuleOfTheLintIsProvenByABadCase(t *testing.T) {
	wire := func(lines ...string) string { return strings.Join(lines, "\n") + "\n" }
	file := func(head, wire string) string {
		sum := fixtures.WireSum([]byte(wire))
		return "-- case --\nscenario: x/y\nruntime: claude 1.0.0\n" + head + "wire-sha256: " + sum + "\n-- wire --\n" + wire + "-- witness --\n"
	}
	const recorded = "recorded: 2026-11-21 by a test\n"
	out := func(t, text string) string { return `{"t":"` + t + `","p":1,"out":{"type":"x","text":"` + text + `"}}` }
	prose := strings.Repeat("You are a helpful assistant that never forgets to answer in a polite way. ", 4)
	good := file(recorded, wire(out("1s", "Hello."), out("2s", "Again.")))
	g := gomega.NewWithT(t)
	dir, files, want := t.TempDir(), []string(nil), map[string]string{}
	for name, c := range map[string]struct{ file, want string }{
		"nothing":       {good, ""},
		"a secret":      {file(recorded, wire(out("1s", "gh"+"p_x7Kq2mZ9vB4nR8tY1wE6uI3oP5aS0dFgH2jK"))), "secret"},
		"in base64":     {file(recorded, wire(out("1s", "a2V5OiBnaHBf"+"eDdLcTJtWjl2QjRuUjh0WTF3RTZ1STNvUDVhUzBkRmdIMmpL"))), "secret"},
		"a home":        {file(recorded, wire(out("1s", "/home/ann/x"))), "path"},
		"a Mac's home":  {file(recorded, wire(out("1s", "/Users/ann/x"))), "path"},
		"root's home":   {file(recorded, wire(out("1s", "see /root/.config/x"))), "path"},
		"a temp folder": {file(recorded, wire(out("1s", "/tmp/x-7/y"))), "path"},
		"prose":         {file(recorded, wire(out("1s", prose))), "prose"},
		"no provenance": {file("", wire(out("1s", "Hello."))), "no `recorded:` line"},
		"edited":        {strings.Replace(good, "Hello.", "Howdy.", 1), "never edited"},
		"time back":     {file(recorded, wire(out("2s", "Hello."), out("1s", "Again."))), "before previous"},
		"too large":     {file(recorded, wire(slicesOf(out("1s", "Hello."), fixtures.MaxCase/30)...)), "more than 65536"},
		"no witness":    {strings.Replace(good, "-- witness --\n", "", 1), "no section"},
		"two witnesses": {strings.Replace(good, recorded, recorded+"witness: none\n", 1), "there is a section witness"},
	} {
		// The name is that of a scenario, so that the texts of all others are not read.
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"), "text", "plain.txtar")
		files, want[file] = append(files, file), c.want
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(gomega.Succeed())
		g.Expect(os.WriteFile(file, []byte(c.file), 0o600)).To(gomega.Succeed())
	}
	rep, err := lint("", files)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(rep.Files).To(gomega.Equal(len(files)))
	for file, text := range want {
		one := linted{Problems: slices.DeleteFunc(slices.Clone(rep.Problems), func(p problem) bool { return p.File != file })}
		var said bytes.Buffer
		one.text(&said)
		if text == "" {
			g.Expect(one.Problems).To(gomega.BeEmpty())
			continue
		}
		g.Expect(said.String()).To(gomega.ContainSubstring(text), file)
	}
}

func slicesOf(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}
