package main

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// transcripts holds, per runtime, the wire lines of a turn with many deltas.
var transcripts = map[string]struct{ head, delta string }{
	"codex": {
		head: `{"id":1,"result":{"userAgent":"turnspec/0.169.0"}}
{"id":2,"result":{"thread":{"id":"th1"},"model":"m"}}
{"method":"turn/started","params":{"threadId":"th1","turn":{"id":"tu1","items":[],"status":"inProgress"}}}
{"method":"item/started","params":{"threadId":"th1","turnId":"tu1","item":{"type":"agentMessage","id":"msg_1","text":""}}}
`,
		delta: `{"method":"item/agentMessage/delta","params":{"threadId":"th1","turnId":"tu1","itemId":"msg_1","delta":"%d "}}` + "\n",
	},
	"claude": {
		head: `{"type":"system","subtype":"init","session_id":"s","cwd":"/w","model":"m","tools":[],"claude_code_version":"2.1.329","uuid":"u1"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[]}},"session_id":"s","parent_tool_use_id":null,"uuid":"u2"}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"s","parent_tool_use_id":null,"uuid":"u3"}
`,
		delta: `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%d "}},"session_id":"s","parent_tool_use_id":null,"uuid":"u4"}` + "\n",
	},
}

// events counts the written lines and passes each write on.
type events struct {
	deltas int
	wrote  chan string // nil: no test reads it
}

func (e *events) Write(b []byte) (int, error) {
	e.deltas += bytes.Count(b, []byte(`"type":"delta"`))
	if e.wrote != nil {
		e.wrote <- string(b)
	}
	return len(b), nil
}

// Memory does not grow with the transcript, except for the text of the turn, which
// the result repeats.
func TestNormalizeOfALongTranscriptNeedsNoMemory(t *testing.T) {
	const n = 40_000
	for name, wire := range transcripts {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			var before, after runtime.MemStats
			go func() {
				_, _ = io.WriteString(w, wire.head)
				for i := range n {
					if i == n/10 {
						runtime.GC()
						runtime.ReadMemStats(&before)
					}
					_, _ = fmt.Fprintf(w, wire.delta, i)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				_ = w.Close()
			}()
			var out events
			if err := normalize(name, "s1", r, "stdin", &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			if out.deltas != n {
				t.Errorf("%d deltas came out, want %d", out.deltas, n)
			}
			grown := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			if text := int64(n * 7); grown > 4*text {
				t.Errorf("the heap grew by %d bytes over %d deltas", grown, n)
			}
		})
	}
}

// The events of a line are written before the next line is read, so that a tail of a
// live transcript is up to date.
func TestNormalizeFlushesPerLine(t *testing.T) {
	for name, wire := range transcripts {
		t.Run(name, func(t *testing.T) {
			r, w := io.Pipe()
			out := &events{wrote: make(chan string)}
			ended := make(chan error, 1)
			go func() {
				ended <- normalize(name, "s1", r, "stdin", out, io.Discard)
				close(out.wrote)
			}()
			go func() { _, _ = fmt.Fprintf(w, wire.head+wire.delta, 0) }()
			for i := range 3 {
				wait(t, out.wrote, fmt.Sprintf(`"%d "`, i))
				if i < 2 {
					go func() { _, _ = fmt.Fprintf(w, wire.delta, i+1) }()
				}
			}
			_ = w.Close()
			for range out.wrote { // the closings
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
		})
	}
}

// wait reads until the text arrives.
func wait(t *testing.T, from <-chan string, want string) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		select {
		case s := <-from:
			if strings.Contains(s, want) {
				return
			}
		case <-limit:
			t.Fatalf("%s was not written while the input was open", want)
		}
	}
}

// A read error is reported with its line; a write error ends the command.
func TestNormalizeTellsWhatBroke(t *testing.T) {
	wire := transcripts["codex"]
	broken := io.MultiReader(strings.NewReader(wire.head), failing{})
	err := normalize("codex", "s1", broken, "wire.jsonl", io.Discard, io.Discard)
	if err == nil || !strings.HasPrefix(err.Error(), "wire.jsonl:5: ") {
		t.Errorf("got %v, want the file and line 5", err)
	}
	r, w := io.Pipe()
	_ = r.Close()
	if err := normalize("codex", "s1", strings.NewReader(wire.head), "stdin", w, io.Discard); err == nil {
		t.Error("the output was closed, and the command returned no error")
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrNoProgress }
