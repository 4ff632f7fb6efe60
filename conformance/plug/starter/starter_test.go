package starter_test

import (
	"go/format"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/starter"
)

// Each project is complete: nothing is left to fill in, the workflow and the known
// failures can be read, and versions are pinned if the program is a release.
func TestFiles(t *testing.T) {
	for _, language := range starter.Languages() {
		for _, runtime := range []string{"claude", "codex"} {
			g := NewWithT(t)
			files, next, err := starter.Project{Language: language, Runtime: runtime, Version: "1.2.3"}.Files()
			g.Expect(err).NotTo(HaveOccurred())
			kinds := map[string]string{}
			for _, f := range files {
				g.Expect(f.Content).NotTo(ContainSubstring("{{"), f.Name)
				switch {
				case strings.HasSuffix(f.Name, ".yml"):
					kinds["workflow"] = f.Content
				case strings.HasSuffix(f.Name, "known-failures.txt"):
					kinds["known"] = f.Content
				case strings.Contains(f.Name, "test"), strings.Contains(f.Name, "checks"):
					kinds["test"] = f.Content
				case strings.Contains(f.Name, "/plug."), strings.HasSuffix(f.Name, "/main.rs"):
					kinds["plug"] = f.Content
				}
			}
			var workflow struct{ Jobs map[string]any }
			g.Expect(yaml.Unmarshal([]byte(kinds["workflow"]), &workflow)).To(Succeed())
			g.Expect(workflow.Jobs).To(HaveLen(1))
			g.Expect(conformance.ParseKnownFailures("known", []byte(kinds["known"]))).To(BeEmpty())
			g.Expect(kinds["test"]).To(ContainSubstring(runtime))
			if language == "go" {
				formatted, err := format.Source([]byte(kinds["test"]))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(kinds["test"]).To(Equal(string(formatted)))
			}
			if language != "go" {
				g.Expect(kinds["plug"]).To(ContainSubstring(runtime))
			}
			g.Expect(strings.Join(next, "\n")).To(ContainSubstring("1.2.3"))
		}
	}
}

// TestReadable checks that no line of a starter is longer than 100 characters, and that the ones in
// TypeScript have types.
func TestReadable(t *testing.T) {
	for _, language := range starter.Languages() {
		for _, runtime := range []string{"claude", "codex", "opencode"} {
			files, _, err := starter.Project{Language: language, Runtime: runtime}.Files()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				for i, line := range strings.Split(f.Content, "\n") {
					if n := utf8.RuneCountInString(line); n > 100 && (language == "typescript" || language == "python") {
						t.Errorf("%s: %s:%d has %d characters", language, f.Name, i+1, n)
					}
					if language == "typescript" && regexp.MustCompile(`\bany\b[,;>)\]]|as any`).MatchString(line) {
						t.Errorf("%s:%d: %s", f.Name, i+1, line)
					}
				}
			}
		}
	}
}

func TestUnknownLanguage(t *testing.T) {
	g := NewWithT(t)
	_, _, err := starter.Project{Language: "cobol", Runtime: "claude"}.Files()
	g.Expect(err).To(MatchError(ContainSubstring("want one of typescript, python, go, rust")))
}
