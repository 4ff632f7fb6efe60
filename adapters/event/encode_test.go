package event

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

// encodeByReflection encodes as AppendJSON does for all other events.
func encodeByReflection(t *testing.T, e Event) string {
	t.Helper()
	data, err := json.Marshal(e.Data, lenientText)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"type":"%s","data":%s,"ts":"1970-01-01T00:00:01Z","seq":1,"session_id":"s"}`, e.Type(), data)
}

// FuzzAppendFrequent compares the hand-written encoding with the encoder.
func FuzzAppendFrequent(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\t\r\b\f", "<&>\u2028\u2029", "\x00\x1f\x7f", "\xff\xed\xa0\xbd", "é 😀"} {
		f.Add(s, "m", "b", true)
		f.Add("x", s, s, false)
	}
	f.Fuzz(func(t *testing.T, text, one, two string, done bool) {
		for _, d := range []Data{Delta{text, one, two}, Thinking{text, done, two}, Thinking{Text: text, Done: done}, ToolOutput{one, text}, ToolInput{one, two, text, done}} {
			e := Event{Data: d, TS: time.Unix(1, 0), Seq: 1, SessionID: "s"}
			got, err := e.AppendJSON([]byte("kept "))
			if want := "kept " + encodeByReflection(t, e); err != nil || string(got) != want {
				t.Errorf("%#v:\n%s (%v), want\n%s", d, got, err, want)
			}
		}
	})
}

// FuzzTimeText compares the times of an encoder with those of package time.
func FuzzTimeText(f *testing.F) {
	for _, n := range []int64{0, 1, 999_999_999, 500_000_000, 123_456_780} {
		f.Add(int64(1_700_000_000), n, int64(1_700_000_000), n/7)
		f.Add(int64(-62_200_000_000), n, int64(253_402_300_800), n) // before the year 0, after 9999
	}
	f.Fuzz(func(t *testing.T, second, nanos, second2, nanos2 int64) {
		var times timeText
		for _, at := range []time.Time{time.Unix(second, nanos), time.Unix(second2, nanos2), time.Unix(second2, nanos)} {
			want, wantErr := at.UTC().AppendText([]byte("kept "))
			got, err := times.append([]byte("kept "), at)
			if (err == nil) != (wantErr == nil) || err == nil && string(got) != string(want) {
				t.Errorf("%v: %q (%v), want %q (%v)", at, got, err, want, wantErr)
			}
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	e := Event{Data: Delta{"some words", "msg_1", "1.1"}, TS: time.Unix(1, 123456789), Seq: 1, SessionID: "s"}
	enc := NewEncoder(io.Discard)
	b.ReportAllocs()
	for b.Loop() {
		_ = enc.Encode(e)
	}
	b.SetBytes(int64(len(enc.buf)))
}
