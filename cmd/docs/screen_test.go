package main

import (
	"strings"
	"testing"
)

func TestScreenShowsWhatATerminalShows(t *testing.T) {
	for _, x := range []struct{ name, output, want string }{
		{"lines", "one\r\n\r\nthree\r\n", "one\n\nthree\n"},
		{"a line of progress is overwritten", "1/9 a\r     \r2/9\r", "2/9\n"},
		{"erased to the end of the line", "1/9 long\r2\x1b[K\r\n", "2\n"},
		{"cleared", "before\r\n\x1b[2J\x1b[Hafter\r\n", "after\n"},
		{"one line up", "a\r\nb\r\n\x1b[1Ac\r\n", "a\nc\n"},
		{"wrapped", "0123456789ab", "0123456789\nab\n"},
		{"styles take no place", "\x1b[31;1mFAIL\x1b[0m x", "FAIL x\n"},
	} {
		if got := show(x.output, 10).text(); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

func TestScreenAsAPage(t *testing.T) {
	page, err := show("\r\n\x1b[31;1mFAIL\x1b[0m <b>\r\n", 20).html(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<span class="s31 s1">FAIL</span><span class=""> &lt;b&gt;</span>`, `class="dark"`, `width:20ch`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s: %s", want, page)
		}
	}
}
