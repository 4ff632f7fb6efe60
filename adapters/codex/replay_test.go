package codex_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	. "github.com/onsi/gomega"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/codex"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// runtime is a process in memory that exits at the end of stdin.
type runtime struct {
	*fakeproc.Process
	lines chan string // lines written by the client
}

func newRuntime() *runtime {
	r := &runtime{fakeproc.New(), make(chan string, 1000)}
	go func() {
		sc := bufio.NewScanner(r.In)
		for sc.Scan() {
			r.lines <- sc.Text()
		}
		close(r.lines)
		r.Exit(proc.Exit{})
	}()
	return r
}

type wireLine struct {
	P   int            `json:"p"`
	In  jsontext.Value `json:"in"`
	Out jsontext.Value `json:"out"`
	EOF bool           `json:"eof"`
	Sig string         `json:"signal"`
}

type clientLine struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Thread  string `json:"threadId"`
		Process string `json:"processId"`
		ID      string `json:"clientUserMessageId"`
		Input   []struct {
			Text string `json:"text"`
		} `json:"input"`
	} `json:"params"`
	Result jsontext.Value `json:"result"`
}

// replayLive runs the live adapter against a recording and repeats the recorded
// client's steps at their places. It kills the runtime before the line kill. It
// returns the events, and each line of the adapter that differs from the
// recorded client's.
func replayLive(t *testing.T, file string, kill int) (evs []event.Event, differences []string) {
	t.Helper()
	b, err := readCase(file)
	if err != nil {
		t.Fatal(err)
	}
	var wire []wireLine
	for _, f := range txtar.Parse(b).Files {
		if f.Name != "wire" {
			continue
		}
		for l := range bytes.SplitSeq(bytes.TrimSpace(f.Data), []byte("\n")) {
			var w wireLine
			if err := json.Unmarshal(l, &w, jsontext.AllowInvalidUTF8(true)); err != nil {
				t.Fatal(err)
			}
			wire = append(wire, w)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		p := &player{evs: &evs}
		for i, w := range wire {
			synctest.Wait()
			if i == kill && p.s != nil {
				p.r.Exit(proc.Exit{Code: -1, Signal: proc.SIGKILL})
				break
			}
			p.handleLine(w)
		}
		synctest.Wait()
		p.closeSession()
		differences = p.differences
	})
	return evs, differences
}

type player struct {
	evs         *[]event.Event
	r           *runtime
	s           adapters.Session
	read        chan struct{}
	p           int
	differences []string
	others      map[string]bool // requests about another thread, which this client does not send
	sess        chan adapters.Session
}

func (p *player) closeSession() {
	if p.s != nil {
		_ = p.s.Close(context.Background())
		<-p.read
		p.s = nil
	}
}

func (p *player) openSession() {
	p.closeSession()
	p.r = newRuntime()
	o := adapters.Options{Opening: op.Opening{SessionID: "s", Mode: "never"}, Launch: p.r}
	for _, e := range *p.evs {
		if d, ok := e.Data.(event.SessionReady); ok {
			o.Resume = d.ProviderSessionID
		}
		o.After.Seq = e.Seq
		o.After.Turn = max(o.After.Turn, e.Turn)
	}
	p.sess = make(chan adapters.Session, 1)
	go func() {
		s, err := codex.New().Open(context.Background(), o)
		if err != nil {
			panic(err)
		}
		p.sess <- s
	}()
}

func (p *player) handleLine(w wireLine) {
	if w.P != p.p {
		p.p = w.P
		p.openSession()
	}
	if p.s == nil {
		select {
		case p.s = <-p.sess:
			p.read = make(chan struct{})
			go func(s adapters.Session, done chan struct{}) {
				for e := range s.Events() {
					*p.evs = append(*p.evs, e)
				}
				close(done)
			}(p.s, p.read)
			synctest.Wait()
		default:
		}
	}
	switch {
	case w.Out != nil:
		var c clientLine
		_ = json.Unmarshal(w.Out, &c, jsontext.AllowInvalidUTF8(true))
		switch {
		case c.Method != "":
			p.r.Print(string(w.Out))
		case !p.others[string(c.ID)]: // this client's ids do not count those requests
			n, _ := strconv.Atoi(string(c.ID))
			p.r.Print(strings.Replace(string(w.Out), fmt.Sprintf(`"id":%d`, n), fmt.Sprintf(`"id":%d`, n-len(p.others)), 1))
		}
	case w.In != nil:
		p.repeatStep(w.In)
	case w.EOF:
		p.closeSession()
	}
}

func (p *player) repeatStep(line jsontext.Value) {
	var c clientLine
	_ = json.Unmarshal(line, &c, jsontext.AllowInvalidUTF8(true))
	m := adapters.Message{ID: c.Params.ID}
	for _, i := range c.Params.Input {
		m.Text += i.Text
	}
	ctx := context.Background()
	own := p.provider()
	if c.Method == "thread/start" && own != "" || c.Method == "turn/start" && c.Params.Thread != own {
		if p.others == nil {
			p.others = map[string]bool{}
		}
		p.others[string(c.ID)] = true
		return
	}
	switch {
	case c.Method == "thread/backgroundTerminals/terminate", c.Method == "turn/interrupt" && c.Params.Thread != own:
		go func(task string) { _ = p.s.(adapters.TaskStopper).StopTask(ctx, task) }(p.taskOf(c.Params.Thread))
		p.compareWritten(c, line)
		return
	}
	switch c.Method {
	case "turn/start":
		_ = p.s.Send(ctx, m)
	case "turn/steer":
		go func() { _ = p.s.(adapters.Steerer).Steer(ctx, m) }()
	case "turn/interrupt":
		_ = p.s.Stop(ctx)
	case "":
		var d struct {
			Decision string         `json:"decision"`
			Action   string         `json:"action"`
			Content  jsontext.Value `json:"content"`
			Meta     struct {
				Persist adapters.Scope `json:"persist"`
			} `json:"_meta"`
		}
		_ = json.Unmarshal(c.Result, &d)
		decisions := map[string]event.Decision{"accept": "allow", "decline": "deny", "cancel": "cancel"}
		for i := range slices.Backward(*p.evs) {
			switch q := (*p.evs)[i].Data.(type) {
			case event.PermissionRequest:
				_ = p.s.Answer(ctx, q.RequestID, adapters.Answer{Decision: decisions[d.Decision+d.Action], Scope: d.Meta.Persist})
			case event.Interrupt:
				_ = p.s.Answer(ctx, q.InterruptID, adapters.Answer{Decision: decisions[d.Action], Value: d.Content})
			default:
				continue
			}
			break
		}
	}
	synctest.Wait()
	p.compareWritten(c, line)
}

// provider returns the thread of the session, once it is open.
func (p *player) provider() string {
	for _, e := range slices.Backward(*p.evs) {
		if d, ok := e.Data.(event.SessionReady); ok {
			return d.ProviderSessionID
		}
	}
	return ""
}

// taskOf returns the sub-agent of that thread, or else the last background
// command.
func (p *player) taskOf(thread string) string {
	for _, e := range slices.Backward(*p.evs) {
		if d, ok := e.Data.(event.Task); ok && (d.TaskID == thread || d.Kind == event.TaskCommand) {
			return d.TaskID
		}
	}
	return thread
}

// compareWritten compares the next line of the adapter with the recorded one.
// Questions that are open when their turn ends are declined, which no recording
// contains.
func (p *player) compareWritten(c clientLine, line jsontext.Value) {
	synctest.Wait()
	select {
	case got := <-p.r.lines:
		var g clientLine
		_ = json.Unmarshal([]byte(got), &g)
		refused := slices.ContainsFunc([]string{`{"decision":"cancel"}`, `{"decision":"decline"}`, `{"action":"cancel"}`, `{"action":"decline"}`, `{"permissions":{},"scope":"turn"}`}, func(r string) bool {
			return sameResult(g.Result, jsontext.Value(r))
		})
		if c.Method != "" && refused {
			p.compareWritten(c, line)
			return
		}
		if g.Method != c.Method || (string(g.ID) != string(c.ID) && len(p.others) == 0) || g.Params.ID != c.Params.ID || (c.Method == "" && !sameResult(g.Result, c.Result)) {
			p.differences = append(p.differences, fmt.Sprintf("got %s, recorded %.300s", got, line))
		}
	default:
		p.differences = append(p.differences, "nothing was written; recorded "+string(line))
	}
}

// sameResult compares two results. An answer to a question may have empty
// members instead of missing ones.
func sameResult(a, b jsontext.Value) bool {
	type answer struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
		Meta    map[string]any `json:"_meta"`
	}
	var x, y answer
	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && x.Action != "" {
		return x.Action == y.Action && maps.EqualFunc(x.Content, y.Content, reflect.DeepEqual) && maps.EqualFunc(x.Meta, y.Meta, reflect.DeepEqual)
	}
	return string(a) == string(b)
}

// A live session emits the same events as its transcript, and writes what the
// recorded client wrote.
func TestLiveEqualsTranscript(t *testing.T) {
	for _, file := range turnRecordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if why := notReplayable(t, file); why != "" {
				t.Skip(why)
			}
			g := NewWithT(t)
			b, err := readCase(file)
			g.Expect(err).NotTo(HaveOccurred())
			if bytes.Contains(b, []byte(`"method":"item/tool/call"`)) {
				return // a transcript does not contain the replies of the client's tools: the suite replays them
			}
			evs, differences := replayLive(t, file, -1)
			g.Expect(differences).To(BeEmpty())
			out, _ := load(t, file)
			transcript := slices.DeleteFunc(normalize(out), func(e event.Event) bool { // a live session leaves it out silently
				n, ok := e.Data.(event.Notice)
				return ok && strings.Contains(n.Text, "is another conversation on this connection")
			})
			g.Expect(essence(evs)).To(Equal(essence(transcript)))
		})
	}
}

// notReplayable returns what the recorded client did that its transcript does
// not show, or that this test's client cannot repeat; else "". Goldens cover
// those cases.
func notReplayable(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, sign := range map[string]string{
		"it changes settings":                   `"in":{"id":\d+,"method":"thread/settings/update"`,
		"it changes settings with a turn":       `"method":"turn/start","params":{[^\n]*"(approvalPolicy|collaborationMode|model)":`,
		"it answers by more than yes or no":     `"in":{"id":\d+,"result":{("decision":("acceptForSession"|"approve"|{)|"answers"|"permissions")`,
		"it stops by its answer":                `"in":{"id":\d+,"result":{"decision":"cancel"`,
		"it answers before it closes":           `"in":{"id":\d+,"result":{"decision":"decline"}}}\n(?:[^\n]*"(?:out|err)":[^\n]*\n)*[^\n]*"eof":true`,
		"it closes in mid-turn":                 `requestApproval[^\n]*\n(?:[^\n]*"(?:out|err)":[^\n]*\n)*[^\n]*"eof":true`,
		"it answers with an error":              `"in":{"id":\d+,"error":`,
		"it answers when it is too late":        `"method":"turn/completed"[^\n]*"status":"interrupted"[^\n]*\n(?:[^\n]*"(?:out|err)":[^\n]*\n)*[^\n]*"in":{"id":0,"result"`,
		"two of its questions are open at once": `requestApproval[^\n]*\n(?:[^\n]*"(?:out|err)":[^\n]*\n)*[^\n]*requestApproval`,
	} {
		if regexp.MustCompile(sign).Match(b) {
			return what
		}
	}
	return ""
}

// essence omits what a transcript cannot contain.
func essence(evs []event.Event) (out []string) {
	for _, e := range evs {
		switch d := e.Data.(type) {
		case event.SessionReady, event.SessionEnd:
			continue
		case event.TurnStart:
			d.MessageIDs = nil
			e.Data = d
		case event.InterruptResolved: // nor the answer
			d.Value = nil
			e.Data = d
		case event.PermissionResolved: // nor who decided
			d.By = ""
			e.Data = d
		case event.UserMessage: // nor the request that brought it, nor always its id
			d.MessageID = ""
			if d.Via == event.ViaMerge {
				d.Via = event.ViaSteer
			}
			e.Data = d
		}
		e.TS = e.TS.Truncate(1 << 62)
		e.Seq = 1
		b, _ := e.AppendJSON(nil)
		before, _, _ := strings.Cut(string(b), `,"ts"`)
		out = append(out, before)
	}
	return out
}

// A session that is killed at any line has emitted a prefix of its events,
// closes what is open, and ends a running turn in one error.
func TestKilledAnywhere(t *testing.T) {
	for n, file := range turnRecordings(t) {
		whole, _ := replayLive(t, file, -1)
		b, _ := readCase(file)
		lines := bytes.Count(b, []byte("\n"))
		step := max(1, lines/4)
		for i := n % step; i < lines; i += step { // another position in each recording
			evs, _ := replayLive(t, file, i)
			if len(evs) == 0 {
				continue // killed before it was open
			}
			checkStream(t, evs)
			g := NewWithT(t)
			a, b := essence(whole), essence(evs)
			n := 0
			for n < len(a) && n < len(b) && a[n] == b[n] {
				n++
			}
			for _, s := range b[n:] {
				g.Expect(s).To(MatchRegexp(`"type":"(block_end|thinking|tool_result|permission_resolved|interrupt_resolved|task|error)"`), "%s killed at %d", file, i)
			}
		}
	}
}
