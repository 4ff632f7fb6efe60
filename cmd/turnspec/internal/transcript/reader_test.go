package transcript

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	. "github.com/onsi/gomega"
)

func utf16Of(text string, mark, big bool) string {
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	var b strings.Builder
	for _, u := range units {
		if big {
			b.WriteByte(byte(u >> 8))
		}
		b.WriteByte(byte(u))
		if !big {
			b.WriteByte(byte(u >> 8))
		}
	}
	return b.String()
}

func TestMessages(t *testing.T) {
	one, two := `{"a":1}`, `{"b":"ü 𝄞"}`
	both := []string{one, two}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                            {"", nil},
		"empty lines":                        {"\n\r\n \t\n", nil},
		"lines":                              {one + "\n" + two + "\n", both},
		"lines with empty ones between":      {"\n" + one + "\r\n\r\n\n" + two, both},
		"lines that are indented":            {"  " + one + "\n\t" + two + "  \n", both},
		"lines with commas":                  {one + ",\n" + two + ",\n", both},
		"a mark":                             {"\uFEFF" + one + "\n" + two, both},
		"two files with marks":               {"\uFEFF" + one + "\n\uFEFF" + two, both},
		"UTF-16, small end first":            {utf16Of(one+"\r\n"+two+"\r\n", true, false), both},
		"UTF-16, big end first":              {utf16Of(one+"\n"+two+"\n", true, true), both},
		"UTF-16 without a mark":              {utf16Of(one+"\n"+two+"\n", false, false), both},
		"UTF-16, cut within a unit":          {utf16Of(one+"\n"+two+"\n", true, false) + "x", both},
		"UTF-16, half of a pair":             {"\xFF\xFE{\x00}\x00\x34\xD8\n\x00", []string{"{}", "\uFFFD"}},
		"events":                             {"data: " + one + "\n\ndata: " + two + "\n\ndata: [DONE]\n\n", []string{one, two, "[DONE]"}},
		"events with names and comments":     {": hello\n\nevent: message\nid: 7\nretry: 10\ndata:" + one + "\n\n: ping\n\nevent: x\ndata: " + two, both},
		"events with CRLF":                   {"data: " + one + "\r\n\r\ndata: " + two + "\r\n\r\n", both},
		"events without lines between":       {"data: " + one + "\ndata: " + two + "\n", both},
		"an event over two lines":            {"data: {\"a\":\ndata: 1}\n\n" + two, both},
		"an event with an array":             {"data: [" + one + "," + two + "]\n\n", both},
		"events in UTF-16":                   {utf16Of("data: "+one+"\r\n\r\ndata: "+two+"\r\n\r\n", true, false), both},
		"events and lines":                   {"data: " + one + "\n" + two + "\n", both},
		"an array on a line":                 {"[" + one + "," + two + "]", both},
		"an array over lines":                {"[\n  " + one + ",\n  " + two + "\n]\n", both},
		"an array of one":                    {"[\n" + one + "\n]\n" + two, both},
		"an array that is printed":           {"[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": \"ü 𝄞\"\n  }\n]\n", both},
		"an object over lines":               {"{\n  \"a\": 1\n}\n{\n  \"b\": \"ü 𝄞\"\n}", both},
		"an object over lines, an empty one": {"{\n\n  \"a\":\r\n 1\n\n}\n" + two, both},
		"an object after another on a line":  {"{\n\"a\": 1 } " + two, both},
		"an array that is cut":               {"[\n" + one + ",\n" + two + ",\n{\"c\":", []string{"[", one, two, `{"c":`}},
		"a printed array that is cut":        {"[\n{\n\"a\": 1\n},\n{\n\"b\"", []string{"[", one, "{", `"b"`}},
		"a line that is cut":                 {`{"c":{"d":` + "\n" + one + "\n" + two, []string{`{"c":{"d":`, one, two}},
		"a line that is cut after a comma":   {`{"c":1,` + "\n" + one + "\n" + two, []string{`{"c":1,`, one, two}},
		"a line that is cut within a word":   {`{"c":"wo` + "\n" + one, []string{`{"c":"wo`, one}},
		"a line of a log":                    {"[12:30:01] started\n" + one, []string{"[12:30:01] started", one}},
		"an array of words":                  {`["a","b"]`, []string{`["a","b"]`}},
		"an empty array":                     {"[]", []string{"[]"}},
		"words":                              {"npm warn: no JSON\n" + one, []string{"npm warn: no JSON", one}},
	} {
		t.Run(name, func(t *testing.T) {
			for form, in := range map[string]io.Reader{
				"at once": strings.NewReader(c.text), "by bytes": iotest.OneByteReader(strings.NewReader(c.text)), "with the end": iotest.DataErrReader(strings.NewReader(c.text)),
			} {
				g := NewWithT(t)
				var got []string
				r := NewReader(in)
				for {
					b, err := r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					g.Expect(err).NotTo(HaveOccurred())
					got = append(got, string(b))
				}
				g.Expect(got).To(Equal(c.want), form)
			}
		})
	}
}

// A message is returned when its line has come, and not with the next one.
func TestMessagesComeAtOnce(t *testing.T) {
	g := NewWithT(t)
	in, out := io.Pipe()
	r := NewReader(in)
	for _, text := range []string{"{\"a\":1}\n", "data: {\"a\":1}\n\n", "{\n\"a\":1\n}\n"} {
		go func() { _, _ = io.WriteString(out, text) }()
		b, err := r.Next()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(b)).To(Equal(`{"a":1}`))
	}
}

func TestLineOfAMessage(t *testing.T) {
	g := NewWithT(t)
	r := NewReader(io.MultiReader(strings.NewReader("{}\n\n{\"a\":\nrain\n"), iotest.ErrReader(io.ErrNoProgress)))
	var got []int
	for range 4 {
		_, err := r.Next()
		if err != nil {
			g.Expect(err).To(MatchError(io.ErrNoProgress))
		}
		got = append(got, r.Line())
	}
	g.Expect(got).To(Equal([]int{1, 3, 4, 5}))
}

// A value that never ends is not read without a limit.
func TestValuesAreBounded(t *testing.T) {
	g := NewWithT(t)
	text := strings.NewReader("[\n" + strings.Repeat("0,\n", 1000))
	r := NewReader(iotest.OneByteReader(text))
	r.limit = 300
	b, err := r.Next()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(b)).To(Equal("["))
	g.Expect(text.Len()).To(BeNumerically(">", 2000), "how much was not read")
}
