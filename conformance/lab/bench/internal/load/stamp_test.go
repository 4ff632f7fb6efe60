package load

import (
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestStampsAreFoundInAnyPieces(t *testing.T) {
	g := NewWithT(t)
	want := []Stamp{{0, 1, 1}, {7, 1 << 52, 1<<52 + 999}, {1_000_000, 36*36*36 - 1, 36 * 36 * 36}}
	var text []byte
	for _, s := range want {
		text = append(text, "an @ of a mail@example.org, and @1,2; too "...)
		text = s.Append(text)
		text = append(text, "xxxx"...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var got []Stamp
		var r Stamps
		for rest := text; len(rest) > 0; {
			n := 1 + random.IntN(min(len(rest), 60))
			r.Feed(rest[:n], func(s Stamp) { got = append(got, s) })
			rest = rest[n:]
		}
		g.Expect(got).To(Equal(want))
	}
}

// TestNoStamps: other text gives no stamp and is not kept.
func TestOtherTextGivesNoStamp(t *testing.T) {
	g := NewWithT(t)
	for _, text := range []string{"@", "@,,;", "@1,2,;", "@1,2,3,4;", "@A,1,1;", "@1,2,3", strings.Repeat("@", 1000), strings.Repeat("@1,2,", 1000)} {
		var r Stamps
		r.Feed([]byte(text), func(s Stamp) { t.Errorf("%q: found %v", text, s) })
		g.Expect(len(r.rest)).To(BeNumerically("<", longest))
	}
}

func BenchmarkStamps(b *testing.B) {
	text := Stamp{123, 1 << 50, 1<<50 + 60_000}.Append(nil)
	var r Stamps
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.Feed(text, func(Stamp) {})
	}
}
