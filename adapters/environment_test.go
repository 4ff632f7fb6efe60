//go:build unix

package adapters_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/reference"
)

// TestChildrenInheritNoSettings lets each adapter start a real program, with options for which
// some add variables, and reads the environment of that program.
func TestChildrenInheritNoSettings(t *testing.T) {
	for name, value := range map[string]string{
		"TURNSPEC_TOKEN": "secret", "TURNSPEC_LATER": "secret", "PGPASSWORD": "secret", "PGHOST": "secret", "PORT": "secret",
		"TURNSPEC_CASE": "for the stand-in", "SOME_KEY": "for the runtime",
	} {
		t.Setenv(name, value)
	}
	for _, name := range reference.Names() {
		for what, o := range map[string]adapters.Options{
			"plain":       {},
			"checkpoints": {Opening: op.Opening{Checkpoints: true}},
			"mode":        {Opening: op.Opening{Mode: adapters.ModeAsk}},
			"servers":     {MCP: []adapters.MCPServer{{Name: "one", Command: "none"}}},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				g := gomega.NewWithT(t)
				dir := t.TempDir()
				file := filepath.Join(dir, "environment")
				program := filepath.Join(dir, "program")
				g.Expect(os.WriteFile(program, []byte("#!/bin/sh\nenv > "+file+"\nexit 3\n"), 0o755)).To(gomega.Succeed())
				o.Command, o.Dir = []string{program}, dir
				o.Limits = adapters.Limits{Handshake: 10 * time.Second}
				s, err := reference.Of(name).Open(t.Context(), o)
				if errors.Is(err, adapters.ErrUnsupported) && what != "plain" {
					return
				}
				if err == nil { // it starts its program with the first message
					_ = s.Send(t.Context(), adapters.Message{ID: "m1", Text: "hello"}) // fails: the program exits
					g.Eventually(func() string { b, _ := os.ReadFile(file); return string(b) }).WithTimeout(10 * time.Second).Should(gomega.ContainSubstring("SOME_KEY"))
					g.Expect(s.Close(t.Context())).To(gomega.Succeed())
				}
				b, err := os.ReadFile(file)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				lines := strings.Split(string(b), "\n")
				g.Expect(lines).To(gomega.ContainElements("SOME_KEY=for the runtime", "TURNSPEC_CASE=for the stand-in"))
				g.Expect(slices.DeleteFunc(lines, func(l string) bool { return !strings.HasSuffix(l, "=secret") })).To(gomega.BeEmpty())
			})
		}
	}
}
