package main

import (
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/report"
)

// TestCIPage checks what "Gate it in CI" asks people to copy: the inputs
// of the action, the file of known failures, the Go code.
func TestCIPage(t *testing.T) {
	g := NewWithT(t)
	b, err := os.ReadFile("../../conformance/ADAPTERS.md")
	g.Expect(err).NotTo(HaveOccurred())
	_, page, found := strings.Cut(string(b), "\n## Gate it in CI\n")
	g.Expect(found).To(BeTrue())
	count := map[string]int{}
	for _, m := range regexp.MustCompile("(?s)```([a-z]*)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		kind, text := m[1], m[2]
		count[kind]++
		switch kind {
		case "yaml":
			var v any
			g.Expect(yaml.Unmarshal([]byte(text), &v)).To(Succeed(), text)
			for _, with := range actionSteps(v) {
				for name := range with {
					g.Expect(readAction(t).Inputs).To(HaveKey(name))
				}
				count["action"]++
			}
		case "go":
			_, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, 0)
			g.Expect(err).NotTo(HaveOccurred())
		case "":
			known, err := conformance.ParseKnownFailures("known.txt", []byte(text))
			g.Expect(err).NotTo(HaveOccurred())
			for _, k := range known {
				g.Expect(checkIDs()).To(ContainElement(k.Check))
			}
		}
	}
	g.Expect(count).To(Equal(map[string]int{"yaml": 3, "action": 2, "go": 1, "console": 3, "": 1}))
	for _, f := range report.Formats() {
		g.Expect(page).To(ContainSubstring("\n| "+f+" |"), "the table of formats")
	}
}

// actionSteps returns the inputs of each step that uses our action.
func actionSteps(v any) []map[string]any {
	var out []map[string]any
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, actionSteps(x)...)
		}
	case map[string]any:
		if uses, _ := v["uses"].(string); strings.HasPrefix(uses, "turnspec/turnspec@") {
			with, _ := v["with"].(map[string]any)
			out = append(out, with)
		}
		for _, x := range v {
			out = append(out, actionSteps(x)...)
		}
	}
	return out
}
