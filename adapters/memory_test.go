package adapters_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/claude"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func transcribe(name string, emit func(event.Event)) adapters.Transcript {
	if name == "codex" {
		return codex.New().Transcribe("s", emit)
	}
	return claude.New().Transcribe("s", emit)
}

// heapGrowth normalizes a transcript that it reads from a pipe, and returns by how
// much the live heap grew between the first tenth of it and its end.
func heapGrowth(t *testing.T, name string, rounds int, round func(w io.Writer, i int), emit func(event.Event)) int64 {
	t.Helper()
	n := transcribe(name, emit)
	var at [2]int64
	for part, from := range []int{0, rounds / 10} {
		r, w := io.Pipe()
		go func() {
			b := bufio.NewWriter(w)
			to := []int{rounds / 10, rounds}[part]
			for i := from; i < to; i++ {
				round(b, i)
			}
			_ = b.Flush()
			_ = w.Close()
		}()
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			n.Line(time.Unix(0, 0), lines.Bytes())
		}
		if lines.Err() != nil {
			t.Fatal(lines.Err())
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		at[part] = int64(m.HeapAlloc)
	}
	n.End()
	return at[1] - at[0]
}

// maxGrowth is by how much the heap may grow with a transcript of any length: room
// for bounded state (rings of ids) and for noise of the test itself.
const maxGrowth = 512 << 10

// manyDeltas are enough that the heap grows by more than maxGrowth if three bytes of each are
// kept, and the shortest of their words has six.
const manyDeltas = 200_000

// endless holds the shapes of a transcript that never ends. Each round uses new
// ids.
var endless = []struct {
	runtime, name string
	rounds        int
	head          string
	round         string // %[1]d is the round
}{
	{"codex", "deltas", manyDeltas, codexTurn, `{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"t","itemId":"m","delta":"word %[1]d "}}`},
	{"codex", "messages in a turn", 20_000, codexTurn, `{"method":"item/started","params":{"threadId":"T","turnId":"t","item":{"type":"agentMessage","id":"m%[1]d","text":""}}}
{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"t","itemId":"m%[1]d","delta":"a"}}
{"method":"item/completed","params":{"threadId":"T","turnId":"t","item":{"type":"agentMessage","id":"m%[1]d","text":"a"}}}`},
	{"codex", "parts of reasoning", 20_000, codexTurn, `{"method":"item/reasoning/summaryTextDelta","params":{"threadId":"T","turnId":"t","itemId":"r","summaryIndex":%[1]d,"delta":"hm"}}`},
	{"codex", "tools in a turn", 20_000, codexTurn, `{"method":"item/started","params":{"threadId":"T","turnId":"t","item":{"type":"commandExecution","id":"c%[1]d","command":"ls","status":"inProgress"}}}
{"method":"item/commandExecution/outputDelta","params":{"threadId":"T","turnId":"t","itemId":"c%[1]d","delta":"x"}}
{"method":"item/completed","params":{"threadId":"T","turnId":"t","item":{"type":"commandExecution","id":"c%[1]d","command":"ls","status":"completed","aggregatedOutput":"x","exitCode":0}}}`},
	{"codex", "permissions in a turn", 20_000, codexTurn, `{"method":"item/started","params":{"threadId":"T","turnId":"t","item":{"type":"commandExecution","id":"c%[1]d","command":"ls","status":"inProgress"}}}
{"id":%[1]d,"method":"item/commandExecution/requestApproval","params":{"threadId":"T","turnId":"t","itemId":"c%[1]d","command":"ls"}}
{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":%[1]d}}
{"method":"item/completed","params":{"threadId":"T","turnId":"t","item":{"type":"commandExecution","id":"c%[1]d","command":"ls","status":"completed","aggregatedOutput":"x","exitCode":0}}}`},
	{"codex", "turns", 20_000, codexTurn, `{"id":%[1]d,"result":{"turn":{"id":"t%[1]d"}}}
{"method":"turn/started","params":{"threadId":"T","turn":{"id":"t%[1]d"}}}
{"method":"item/started","params":{"threadId":"T","turnId":"t%[1]d","item":{"type":"agentMessage","id":"m%[1]d","text":""}}}
{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"t%[1]d","itemId":"m%[1]d","delta":"a"}}
{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"t%[1]d","status":"interrupted"}}}`},
	{"codex", "names of a turn", 20_000, codexTurn, `{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"other%[1]d","itemId":"m","delta":"word %[1]d "}}`},
	{"codex", "sub-agents", 20_000, codexTurn, `{"method":"item/started","params":{"threadId":"T","turnId":"t","item":{"type":"subAgentActivity","id":"s%[1]d","kind":"started","agentThreadId":"T%[1]d","agentPath":"/root/a%[1]d"}}}
{"method":"item/completed","params":{"threadId":"T","turnId":"t","item":{"type":"subAgentActivity","id":"s%[1]d","kind":"started","agentThreadId":"T%[1]d","agentPath":"/root/a%[1]d"}}}
{"method":"turn/started","params":{"threadId":"T%[1]d","turn":{"id":"t%[1]d","rootTurnId":"t"}}}
{"method":"item/agentMessage/delta","params":{"threadId":"T%[1]d","turnId":"t%[1]d","itemId":"m","delta":"a"}}
{"method":"turn/completed","params":{"threadId":"T%[1]d","turn":{"id":"t%[1]d","status":"completed"}}}
{"method":"item/completed","params":{"threadId":"T","turnId":"t","item":{"type":"subAgentActivity","id":"e%[1]d","kind":"completed","agentThreadId":"T%[1]d"}}}`},
	{"codex", "warnings of threads that do nothing", 20_000, codexTurn, `{"method":"warning","params":{"threadId":"W%[1]d","message":"w"}}`},
	{"codex", "unknown messages", 20_000, codexTurn, `{"method":"unheard/of%[1]d","params":{"threadId":"T","turnId":"t","x":"%[1]d"}}`},
	{"codex", "garbage", 20_000, codexTurn, `not JSON %[1]d`},

	{"claude", "deltas", manyDeltas, claudeTurn, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word %[1]d "}},"session_id":"S","parent_tool_use_id":null,"uuid":"u%[1]d"}`},
	{"claude", "messages in a turn", 20_000, claudeTurn, `{"type":"assistant","message":{"id":"m%[1]d","model":"x","content":[{"type":"text","text":"a"}]},"session_id":"S","parent_tool_use_id":null,"uuid":"u%[1]d"}`},
	{"claude", "streamed messages in a turn", 20_000, claudeTurn, `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m%[1]d"}},"session_id":"S","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":%[1]d,"content_block":{"type":"text","text":""}},"session_id":"S","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_delta","index":%[1]d,"delta":{"type":"text_delta","text":"a"}},"session_id":"S","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_stop","index":%[1]d},"session_id":"S","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"message_stop"},"session_id":"S","parent_tool_use_id":null}`},
	{"claude", "tools in a turn", 20_000, claudeTurn, claudeTool + `
` + claudeToolEnd},
	{"claude", "permissions in a turn", 20_000, claudeTurn, claudeTool + `
{"type":"control_request","request_id":"q%[1]d","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"c%[1]d"}}
{"type":"system","subtype":"permission_denied","tool_name":"Bash","tool_use_id":"c%[1]d","session_id":"S"}
` + claudeToolEnd},
	{"claude", "turns", 20_000, claudeTurn, `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"a","session_id":"S","uuid":"r%[1]d"}
{"type":"command_lifecycle","command_uuid":"c%[1]d","state":"queued","session_id":"S","uuid":"v%[1]d"}
{"type":"command_lifecycle","command_uuid":"c%[1]d","state":"started","session_id":"S","uuid":"w%[1]d"}
{"type":"system","subtype":"init","session_id":"S","model":"x","uuid":"i%[1]d"}
{"type":"assistant","message":{"id":"m%[1]d","model":"x","content":[{"type":"text","text":"a"}]},"session_id":"S","parent_tool_use_id":null,"uuid":"u%[1]d"}`},
	{"claude", "messages of the user in a turn", 20_000, `{"type":"command_lifecycle","command_uuid":"h","state":"started","session_id":"S"}
` + claudeTurn, `{"type":"command_lifecycle","command_uuid":"c%[1]d","state":"queued","session_id":"S","uuid":"v%[1]d"}
{"type":"command_lifecycle","command_uuid":"c%[1]d","state":"started","session_id":"S","uuid":"w%[1]d"}
{"type":"command_lifecycle","command_uuid":"c%[1]d","state":"completed","session_id":"S","uuid":"x%[1]d"}`},
	{"claude", "sub-agents in the foreground", 20_000, claudeTurn, claudeAgent + `
{"type":"assistant","message":{"id":"s%[1]d","model":"x","content":[{"type":"text","text":"a"}]},"session_id":"S","parent_tool_use_id":"c%[1]d","uuid":"t%[1]d"}
` + claudeToolEnd},
	{"claude", "sub-agents in the background", 20_000, claudeTurn, claudeAgent + `
{"type":"system","subtype":"task_started","task_id":"k%[1]d","tool_use_id":"c%[1]d","is_backgrounded":true,"task_type":"local_agent","session_id":"S"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":"launched"}]},"tool_use_result":{"isAsync":true,"status":"async_launched","agentId":"k%[1]d"},"session_id":"S","parent_tool_use_id":null}
{"type":"assistant","message":{"id":"s%[1]d","model":"x","content":[{"type":"text","text":"a"}]},"session_id":"S","parent_tool_use_id":"c%[1]d","agent_id":"k%[1]d","uuid":"t%[1]d"}
{"type":"system","subtype":"task_updated","task_id":"k%[1]d","patch":{"status":"completed"},"session_id":"S"}
{"type":"system","subtype":"task_notification","task_id":"k%[1]d","tool_use_id":"c%[1]d","status":"completed","session_id":"S"}
{"type":"assistant","message":{"id":"l%[1]d","model":"x","content":[{"type":"text","text":"late"}]},"session_id":"S","parent_tool_use_id":"c%[1]d","agent_id":"k%[1]d","uuid":"l%[1]d"}`},
	{"claude", "unknown messages", 20_000, claudeTurn, `{"type":"unheard_of_%[1]d","session_id":"S","uuid":"u%[1]d"}
{"type":"system","subtype":"unheard_of_%[1]d","session_id":"S","uuid":"u%[1]d"}`},
	{"claude", "garbage", 20_000, claudeTurn, `not JSON %[1]d`},
}

const (
	codexTurn  = `{"method":"turn/started","params":{"threadId":"T","turn":{"id":"t"}}}`
	claudeTurn = `{"type":"system","subtype":"init","session_id":"S","model":"x"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}},"session_id":"S","parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"S","parent_tool_use_id":null}`
	claudeTool    = `{"type":"assistant","message":{"id":"m%[1]d","model":"x","content":[{"type":"tool_use","id":"c%[1]d","name":"Bash","input":{"command":"ls"}}]},"session_id":"S","parent_tool_use_id":null}`
	claudeAgent   = `{"type":"assistant","message":{"id":"m%[1]d","model":"x","content":[{"type":"tool_use","id":"c%[1]d","name":"Agent","input":{"prompt":"go"}}]},"session_id":"S","parent_tool_use_id":null}`
	claudeToolEnd = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[1]d","content":"x"}]},"session_id":"S","parent_tool_use_id":null}`
)

// fewer divides the rounds of long tests: the race detector is slow.
var fewer = map[bool]int{false: 1, true: 20}[racesample.Enabled]

func TestMemoryDoesNotGrowWithTranscript(t *testing.T) {
	for _, e := range endless {
		t.Run(e.runtime+"/"+e.name, func(t *testing.T) {
			events := 0
			rounds := e.rounds / fewer
			got := heapGrowth(t, e.runtime, rounds, func(w io.Writer, i int) {
				if i == 0 {
					_, _ = io.WriteString(w, e.head+"\n")
				}
				_, _ = fmt.Fprintf(w, e.round+"\n", i)
			}, func(event.Event) { events++ })
			if events < rounds/2 {
				t.Fatalf("%d rounds emitted only %d events: the adapter ignores these lines", rounds, events)
			}
			if got > maxGrowth {
				t.Errorf("the heap grew by %d KiB from a tenth of the transcript to its end, want at most %d", got>>10, maxGrowth>>10)
			}
		})
	}
}

// numbered matches the turn ids of a version that counts turns: "0", "1" ….
var numbered = regexp.MustCompile(`"(?:turnId|turn_id|id)":"[0-9]{1,3}`)

// ids matches the ids of recorded lines that are new in each turn of a real
// session.
var ids = regexp.MustCompile(`\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(msg|call|toolu|rs)_[0-9A-Za-z_]+|a[0-9a-f]{16})\b`)

var sessionID = regexp.MustCompile(`"session_id":"([^"]+)"|"result":\{"thread":\{"id":"([^"]+)"`)

// TestRepeatedCorpusKeepsText plays each case several times in one session, with
// new ids each time: no round may lose text.
func TestRepeatedCorpusKeepsText(t *testing.T) {
	all, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	rounds := max(12/fewer, 5)
	all = slices.DeleteFunc(fixtures.Newest(all), func(id string) bool {
		runtime, _, _ := fixtures.SplitCaseID(id)
		return runtime != "codex" && runtime != "claude" // transcribe reads no other
	})
	if !racesample.Whole() {
		all = fixtures.OneOfEachTopic(all)
	}
	for i, id := range all {
		if i%min(fewer, 4) != 0 {
			continue
		}
		c, err := fixtures.LoadCase(id)
		if err != nil {
			t.Fatal(err)
		}
		if c.Scenario == "text/500-tiny-deltas" {
			continue // endless covers deltas
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			textBytes := make([]int, rounds)
			i := 0
			n := transcribe(c.Runtime, func(e event.Event) {
				if d, ok := e.Data.(event.Delta); ok {
					textBytes[i] += len(d.Text)
				}
			})
			lines := renumbered(c)
			for ; i < rounds; i++ {
				for _, l := range lines {
					n.Line(time.Unix(0, 0), l.with(i))
				}
			}
			for i, got := range textBytes {
				if got != textBytes[0] {
					t.Fatalf("round %d emitted %d bytes of text, want %d as in the first", i, got, textBytes[0])
				}
			}
		})
	}
}

// numberedLine is a line of output, cut after each id that is new in each turn.
type numberedLine [][]byte

// with returns the line with the number of a round after each of its ids.
func (l numberedLine) with(round int) []byte {
	return bytes.Join(l, fmt.Appendf(nil, "%04x", round))
}

// renumbered returns the lines of output of a case. Finding the ids takes much longer than
// reading the lines, so it is done once and not in each round.
func renumbered(c *fixtures.Case) (out []numberedLine) {
	session := ""
	for _, w := range c.Wire {
		if w.Dir != fixtures.Out {
			continue
		}
		if m := sessionID.FindSubmatch(w.Bytes); m != nil && session == "" {
			session = string(append(m[1], m[2]...))
		}
		first := cutAfter(w.Bytes, numbered.FindAllIndex(w.Bytes, -1))
		line := first.with(0)
		others := ids.FindAllIndex(line, -1)
		others = slices.DeleteFunc(others, func(at []int) bool { return string(line[at[0]:at[1]]) == session })
		// The numbers of the first cuts are in line too, and are cut out.
		var cuts [][2]int // from and to
		at := 0
		for _, part := range first[:len(first)-1] {
			at += len(part)
			cuts = append(cuts, [2]int{at, at + len("0000")})
			at += len("0000")
		}
		for _, id := range others {
			cuts = append(cuts, [2]int{id[1], id[1]})
		}
		slices.SortFunc(cuts, func(a, b [2]int) int { return a[0] - b[0] })
		l, from := numberedLine{}, 0
		for _, cut := range cuts {
			l, from = append(l, line[from:cut[0]]), cut[1]
		}
		out = append(out, append(l, line[from:]))
	}
	return out
}

func cutAfter(b []byte, matches [][]int) numberedLine {
	l, from := numberedLine{}, 0
	for _, at := range matches {
		l, from = append(l, b[from:at[1]]), at[1]
	}
	return append(l, b[from:])
}
