package table_test

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/report/table"
)

// TestSections checks that sections are read as they were written, and their Markdown.
func TestSections(t *testing.T) {
	g := NewWithT(t)
	all := []table.Section{
		{Title: "## One", Text: "A <text>."},
		{Head: []string{"name", "#n"}, Rows: [][]string{{"a", "1"}, {"`b`", "2"}}},
		{Title: "## Two", Fold: "more", Head: []string{"x"}, Rows: [][]string{{"y"}}},
	}
	var b bytes.Buffer
	g.Expect(table.WriteJSON(&b, all[:1])).To(Succeed())
	g.Expect(table.WriteJSON(&b, all[1:])).To(Succeed())
	g.Expect(b.String()).To(ContainSubstring("\n[\"`b`\",\"2\"]]}"), "a row is a line")
	got, err := table.ReadJSON(b.Bytes())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got).To(Equal(all))
	var page strings.Builder
	w := table.New(&page)
	w.Sections(got)
	g.Expect(w.Err()).NotTo(HaveOccurred())
	g.Expect(page.String()).To(Equal("## One\n\nA <text>.\n\n| name | n |\n|---|---:|\n| a | 1 |\n| `b` | 2 |\n\n## Two\n\n<details><summary>more</summary>\n\n| x |\n|---|\n| y |\n\n</details>\n"))
	for _, bad := range []string{`[{"titel":"x"}]`, `[`, `{}`} {
		_, err := table.ReadJSON([]byte(bad))
		g.Expect(err).To(HaveOccurred(), bad)
	}
}
