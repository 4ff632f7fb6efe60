package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
)

// mappingOf returns the entry of a message.
func mappingOf(kind, name string) *adapters.Mapped {
	for _, m := range Mapping() {
		prefix, many := strings.CutSuffix(m.Name, "*")
		if m.Kind == kind && (m.Name == name || many && strings.HasPrefix(name, prefix)) {
			return &m
		}
	}
	return nil
}

// Each entry has either an event or a reason, and is in doc.go.
func TestMappingAgreesWithDoc(t *testing.T) {
	b, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	seen := map[string]bool{}
	for _, m := range Mapping() {
		if (m.Event == "") == (m.Ignored == "") {
			t.Errorf("%s %s: want an event, or a reason why there is none", m.Kind, m.Name)
		}
		if seen[m.Kind+m.Name] {
			t.Errorf("%s %s is in the table twice", m.Kind, m.Name)
		}
		seen[m.Kind+m.Name] = true
		found := strings.Contains(doc, m.Name)
		for i, c := range m.Name {
			found = found || c == '/' && strings.Contains(doc, m.Name[:i]+"/*")
		}
		switch {
		case strings.HasPrefix(m.Name, "modelProvider/authRecovery"), strings.HasPrefix(m.Name, "reasoning/"), strings.HasPrefix(m.Event, "an error reply"):
			continue // doc.go has a shorter form
		case !found:
			t.Errorf("doc.go lacks %s %s", m.Kind, m.Name)
		}
	}
}

// Every notification, request and item type that a recorded version declares is
// in the table.
func TestMappingCoversEverySchema(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "fixtures", "codex", "*", "schema.txt"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(len(files)).To(BeNumerically(">=", 3), "one of each version")
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		seenKinds := map[string]int{}
		check := func(kind, name string) {
			seenKinds[kind]++
			if mappingOf(kind, name) == nil {
				t.Errorf("%s: %s %s is in no table", file, kind, name)
			}
		}
		for line := range strings.Lines(string(b)) {
			words := strings.Fields(line)
			switch {
			case len(words) > 1 && (words[0] == kindNotification || words[0] == kindRequest):
				check(words[0], words[1])
			case len(words) > 2 && words[0] == "ThreadItem" && words[1] == "=":
				for _, w := range words[2:] {
					if name, ok := strings.CutPrefix(w, "ThreadItem."); ok {
						name, _, _ = strings.Cut(name, ".")
						check(kindItem, name)
					}
				}
			}
		}
		for _, kind := range []string{kindNotification, kindRequest, kindItem} {
			if seenKinds[kind] == 0 {
				t.Errorf("%s declares no %s: is it parsed correctly?", file, kind)
			}
		}
	}
}

// Ignored notifications become no event; an unknown one becomes a notice.
func TestMappingAgreesWithTheTranslator(t *testing.T) {
	g := NewWithT(t)
	noticesOf := func(method string) (out []event.Type) {
		n := New().Transcribe("s", func(e event.Event) {
			if _, ok := e.Data.(event.Notice); ok {
				out = append(out, e.Type())
			}
		})
		n.Line(time.Unix(0, 0), []byte(`{"method":"thread/started","params":{"thread":{"id":"T"}}}`))
		n.Line(time.Unix(0, 0), fmt.Appendf(nil, `{"method":%q,"params":{}}`, method))
		return out
	}
	for _, m := range Mapping() {
		if m.Kind == kindNotification && m.Ignored != "" {
			g.Expect(noticesOf(strings.Replace(m.Name, "*", "any", 1))).To(BeEmpty(), m.Name)
		}
	}
	g.Expect(noticesOf("item/wonder")).To(HaveLen(1))
}
