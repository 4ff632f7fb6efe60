package standin

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// TestReplacerEqualsStringsReplacer: over random texts, which hold what is to be replaced
// whole, cut, glued and within each other, swap gives what strings.Replacer gives.
func TestReplacerEqualsStringsReplacer(t *testing.T) {
	g := gomega.NewWithT(t)
	const a, b = "01234567-89ab-4cde-8f01-23456789abcd", "11234567-89ab-7cde-8f01-23456789abcd"
	pairs := []pair{
		{a, b}, {b, "B"}, {strings.Repeat("not-a-uuid", 4)[:uuidLen], "other"},
		{"/home/user/work", "<work>"}, {"-home-user-work", "<work:slug>"}, {"/home/user", "<home>"}, {"-home-user", "<home:slug>"},
	}
	var w replacer
	var flat, pieces []string
	for _, p := range pairs {
		w.addPair(p.from, p.to)
		flat = append(flat, p.from, p.to)
		pieces = append(pieces, p.from, p.from[1:], p.from[:len(p.from)-1])
	}
	g.Expect(w.ids).To(gomega.HaveLen(2))
	pieces = append(pieces, "-", "x", `"`, "\n", "01234567", "01234567-", a+"-89ab", "/home")
	want := strings.NewReplacer(flat...)
	r := rand.New(rand.NewPCG(1, 2))
	swapped := 0
	for range 20_000 {
		var text strings.Builder
		for range r.IntN(8) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		s := text.String()
		got := w.replace(s)
		if got != s {
			swapped++
		}
		if got != want.Replace(s) {
			t.Fatalf("%q\n got %q\nwant %q", s, got, want.Replace(s))
		}
	}
	g.Expect(swapped).To(gomega.BeNumerically(">", 10_000))
	g.Expect((&replacer{}).replace(a)).To(gomega.Equal(a))
}

func BenchmarkReplacer(b *testing.B) {
	var w replacer
	var text strings.Builder
	for i := range 50 {
		id := fmt.Sprintf("%08x-89ab-4cde-8f01-23456789abcd", i)
		w.addPair(id, strings.Repeat("r", uuidLen))
		for range 10 {
			fmt.Fprintf(&text, `{"type":"delta","turn":1,"data":{"text":"some words of text","message_id":"%s"}}`+"\n", id)
		}
	}
	w.addPair("/play/work", "<work>")
	w.addPair("-play-work", "<work:slug>")
	s := text.String()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		w.replace(s)
	}
}
