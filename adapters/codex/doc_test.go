package codex

import (
	"os"
	"strings"
	"testing"
)

// Each ignored message stands in the table with its reason.
func TestIgnoredMessagesAreDocumented(t *testing.T) {
	b, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for name := range ignored {
		dir, _, _ := strings.Cut(name, "/")
		found := strings.Contains(doc, name)
		for i, c := range name {
			if c == '/' && strings.Contains(doc, name[:i]+"/*") {
				found = true
			}
		}
		if strings.HasPrefix(name, "modelProvider/authRecovery") || dir == "reasoning" {
			continue // told by a shorter form
		}
		if !found {
			t.Errorf("%s is ignored and doc.go does not say why", name)
		}
	}
}
