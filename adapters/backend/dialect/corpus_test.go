package dialect_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/backend/replay"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/streamgolden"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// sessionsOf returns the stored events of a case, by session.
func sessionsOf(t *testing.T, id string) map[string][]event.Event {
	t.Helper()
	return bySession(streamgolden.Events(t, fixtures.Embedded(), id))
}

func bySession(events []event.Event) map[string][]event.Event {
	out := map[string][]event.Event{}
	for _, e := range events {
		out[e.SessionID] = append(out[e.SessionID], e)
	}
	return out
}

// vocabulary is what the tests need of a dialect.
type vocabulary struct {
	name string
	// emit is the name of the dialect for turnspec emit; "" if it is that of the vocabulary.
	emit string
	// translator returns a function that returns the messages of each event, as lines.
	translator func() func(event.Event) [][]byte
	// check returns the problems of a stream.
	check func(lines [][]byte) []string
	// read returns what a front end shows of each turn, by the turn's number.
	read func(lines [][]byte) (map[int]*shown, []string)
	// leftOut has the types of events that no message is made of.
	leftOut map[event.Type]string
	// hides names what is not compared, of: texts, reasoning, tools, requests, end.
	hides string
	// expresses drops from what a chat shows what the vocabulary cannot express.
	expresses func(*shown)
	// seldom lists types that no case makes messages of; TestRetractedThenSaidAgain does.
	seldom []event.Type
	// late says that the vocabulary can express what happens after a turn.
	late bool
	// goldens replaces the list of cases that have goldens.
	goldens []string
}

var vocabularies = slices.Concat(uiVocabularies, aguiVocabularies, agentuiVocabularies, wsVocabularies)

// encoded returns a function that translates an event and encodes the messages.
func encoded[M interface{ Encode() []byte }](translate func(event.Event) []M) func(event.Event) [][]byte {
	return func(e event.Event) (out [][]byte) {
		for _, m := range translate(e) {
			out = append(out, m.Encode())
		}
		return out
	}
}

// shown is what a front end shows of a turn.
type shown struct {
	texts     []string // of the blocks, without empty ones
	reasoning []string
	tools     []string // NAME ID STATUS OUTPUT
	requests  []string // ID and how it was answered
	end       string   // complete, stopped, failed
}

// whole reports whether the messages of each case are read: `make matrix` sets it, and a test
// that writes goldens does so too. `go test` reads those of one of each topic.
func whole() bool { return *update || racesample.Whole() }

// TestEachCase translates the events of all cases. The messages must be those of the goldens.
// In cases that are read, what a reader of the messages shows must equal the chat that the
// events reduce to, and the checker of the dialect must be silent.
func TestEachCase(t *testing.T) {
	ids, err := fixtures.Embedded().CaseIDs()
	if err != nil {
		t.Fatal(err)
	}
	translated := map[string]map[event.Type]int{}
	goldens := map[string]*streamgolden.Folder{}
	for _, v := range vocabularies {
		translated[v.name] = map[event.Type]int{}
		goldens[v.name] = v.eachGolden()
	}
	sample := racesample.Sample(ids, 15)
	read := map[string]bool{}
	for _, id := range fixtures.OneOfEachTopic(sample) {
		read[id] = true
	}
	for _, id := range sample {
		all := streamgolden.Events(t, fixtures.Embedded(), id)
		sessions := bySession(all)
		chats := map[string]*replay.Chat{} // of the sessions that are read
		for session, events := range sessions {
			if whole() || read[id] {
				chats[session] = replay.Reduce(events)
			}
		}
		for _, v := range vocabularies {
			lines, streams := v.translate(all, translated[v.name])
			goldens[v.name].Add(id, lines)
			for session, chat := range chats {
				for _, problem := range v.problemsOf(streams[session], sessions[session], chat) {
					t.Errorf("%s: %s: %s", id, v.name, problem)
				}
			}
		}
	}
	for _, v := range vocabularies {
		goldens[v.name].Test(t, *update, len(sample) != len(ids), "go test ./adapters/backend/dialect -run TestEachCase -update")
	}
	if len(sample) != len(ids) {
		return
	}
	for _, v := range vocabularies {
		for _, typ := range event.Types() {
			n, why := translated[v.name][typ], v.leftOut[typ]
			switch {
			case n == 0 && why == "" && !slices.Contains(v.seldom, typ):
				t.Errorf("%s: events of type %s are lost; translate them, or leave them out with a reason", v.name, typ)
			case n > 0 && why != "":
				t.Errorf("%s: events of type %s are left out (%s), but %d were translated", v.name, typ, why, n)
			}
		}
	}
}

// translate returns the messages of the events in their order, as turnspec emit does, and those of
// each session. It counts them by the type of the event.
func (v vocabulary) translate(events []event.Event, translated map[event.Type]int) ([][]byte, map[string][][]byte) {
	var all [][]byte
	streams, translators := map[string][][]byte{}, map[string]func(event.Event) [][]byte{}
	for _, e := range events {
		if translators[e.SessionID] == nil {
			translators[e.SessionID] = v.translator()
		}
		out := translators[e.SessionID](e)
		if translated != nil {
			translated[e.Type()] += len(out)
		}
		streams[e.SessionID] = append(streams[e.SessionID], out...)
		all = append(all, out...)
	}
	return all, streams
}

// problemsOf returns what is wrong with the messages of a session.
func (v vocabulary) problemsOf(lines [][]byte, events []event.Event, chat *replay.Chat) []string {
	for _, line := range lines {
		if bytes.ContainsRune(line, '\n') {
			return []string{"a message of two lines: " + string(line)}
		}
	}
	if len(lines) == 0 {
		return nil // a session without turns
	}
	problems := v.check(lines)
	got, more := v.read(lines)
	problems = append(problems, more...)
	late := lateRequests(events)
	if v.late {
		late = nil
	}
	want := shownIn(chat, late)
	if v.expresses != nil {
		for _, s := range want {
			v.expresses(s)
		}
	}
	for turn := range want {
		if got[turn] == nil {
			problems = append(problems, fmt.Sprintf("turn %d is missing", turn))
		}
	}
	for turn, g := range got {
		w := want[turn]
		if w == nil { // a turn of which the chat shows nothing
			w = &shown{end: g.end}
		}
		for _, d := range []struct {
			what      string
			got, want []string
		}{
			{"texts", g.texts, w.texts},
			{"reasoning", g.reasoning, w.reasoning},
			{"tools", g.tools, w.tools},
			{"requests", g.requests, w.requests},
			{"end", []string{g.end}, []string{w.end}},
		} {
			if !slices.Equal(d.got, d.want) && !strings.Contains(v.hides, d.what) {
				problems = append(problems, fmt.Sprintf("turn %d: %s differ\n got %q\nwant %q", turn, d.what, d.got, d.want))
			}
		}
	}
	return problems
}

// lateRequests returns the requests that a sub-agent made after its turn. A stream that ends with the
// turn cannot hold them.
func lateRequests(events []event.Event) map[string]bool {
	late, ended := map[string]bool{}, map[int]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case event.Done, event.Error:
			ended[e.Turn] = ended[e.Turn] || e.SubagentID == ""
		case event.PermissionRequest:
			late[d.RequestID] = ended[e.Turn]
		case event.Interrupt:
			late[d.InterruptID] = ended[e.Turn]
		}
	}
	return late
}

// shownIn returns what a chat shows of the main agent in each turn.
func shownIn(chat *replay.Chat, late map[string]bool) map[int]*shown {
	out := map[int]*shown{}
	for _, m := range chat.Messages {
		if m.Role != replay.RoleAssistant {
			continue
		}
		s := out[m.Turn]
		if s == nil {
			s = &shown{}
			out[m.Turn] = s
		}
		s.end = string(m.Status) // of the last message
		for _, b := range m.Blocks {
			s.add(b)
		}
	}
	for _, s := range out {
		s.requests = slices.DeleteFunc(s.requests, func(r string) bool {
			id, _, _ := strings.Cut(r, " ")
			return late[id]
		})
		slices.Sort(s.requests)
	}
	return out
}

func (s *shown) add(b replay.Block) {
	switch b.Kind {
	case replay.KindText:
		if b.Text != "" {
			s.texts = append(s.texts, b.Text)
		}
	case replay.KindThinking:
		if b.Text != "" {
			s.reasoning = append(s.reasoning, b.Text)
		}
	case replay.KindTool:
		s.tools = append(s.tools, strings.Join([]string{b.Tool.Name, b.ID, string(b.Status), b.Tool.Output}, " "))
		s.addRequestsWithin(b.Blocks)
	case replay.KindPermission, replay.KindInterrupt:
		s.requests = append(s.requests, b.ID+" "+string(b.Status))
	case replay.KindSubagent:
		s.addRequestsWithin(b.Blocks)
	}
}

// addRequestsWithin adds the requests of sub-agents: the user answers them too.
func (s *shown) addRequestsWithin(blocks []replay.Block) {
	for _, b := range blocks {
		if b.Kind == replay.KindPermission || b.Kind == replay.KindInterrupt {
			s.add(b)
		}
		s.addRequestsWithin(b.Blocks)
	}
}
