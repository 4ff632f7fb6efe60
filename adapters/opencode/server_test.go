package opencode_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/fakeproc"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/opencode"
	"github.com/turnspec/turnspec/adapters/proc"
)

// server is a server in memory. It runs within a synctest bubble.
type server struct {
	mu       sync.Mutex // guards requests and ids
	p        *fakeproc.Process
	requests []string       // METHOD PATH, in order
	ids      map[string]int // of the last request, by METHOD PATH
	// reply returns what follows {"id":N in the reply to a request; "" replies nothing.
	reply func(request string) string
}

const sessionBody = `,"status":200,"body":{"id":"ses_1","directory":"/work","version":"1.0.0"}}`

// replies are those of a server that works.
func replies(request string) string {
	switch request {
	case "GET /event":
		return `,"status":200,"stream":true}`
	case "POST /session", "GET /session/ses_1":
		return sessionBody
	case "POST /session/ses_1/prompt_async":
		return `,"status":204}`
	}
	return `,"status":200,"body":true}`
}

func start(reply func(request string) string) *server {
	s := &server{p: fakeproc.New(), ids: map[string]int{}, reply: reply}
	go func() {
		s.p.Print(`{"ready":true}`)
		for in := bufio.NewScanner(s.p.In); in.Scan(); {
			var r struct {
				ID     int    `json:"id"`
				Method string `json:"method"`
				Path   string `json:"path"`
			}
			if json.Unmarshal(in.Bytes(), &r) != nil || r.Method == "" {
				continue
			}
			name := r.Method + " " + r.Path
			s.mu.Lock()
			s.requests = append(s.requests, name)
			s.ids[name] = r.ID
			s.mu.Unlock()
			if tail := s.reply(name); tail != "" {
				s.p.Print(fmt.Sprintf(`{"id":%d%s`, r.ID, tail))
			}
		}
		s.p.Exit(proc.Exit{})
	}()
	return s
}

// id returns the id of the last request, by METHOD PATH.
func (s *server) id(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[name]
}

// seen returns the requests since the last call.
func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// send sends an event of the session on the stream.
func (s *server) send(kind, properties string) {
	s.p.Print(fmt.Sprintf(`{"id":%d,"data":{"id":"evt_1","type":%q,"properties":{"sessionID":"ses_1",%s}}}`, s.id("GET /event"), kind, properties))
}

// begin sends the events with which a turn begins; the user's message has the id.
func (s *server) begin(message string) {
	s.send("message.updated", `"info":{"id":"`+message+`","role":"user"}`)
	s.send("session.status", `"status":{"type":"busy"}`)
}

// opened is a session with the events so far, as type and what matters of it.
type opened struct {
	adapters.Session
	mu     sync.Mutex
	events []string
}

func open(t *testing.T, s *server, o adapters.Options) (*opened, error) {
	t.Helper()
	o.Launch = s.p
	live, err := opencode.New().Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = live.Close(context.Background()) })
	out := &opened{Session: live}
	go func() {
		for e := range live.Events() {
			text := string(e.Type())
			switch d := e.Data.(type) {
			case event.Error:
				text += " " + string(d.Code) + ": " + d.Message
			case event.Notice:
				text += " " + string(d.Code) + ": " + d.Text
			case event.Delta:
				text += " " + d.Text
			case event.UserMessage:
				text += " " + d.MessageID
			}
			out.mu.Lock()
			out.events = append(out.events, text)
			out.mu.Unlock()
		}
	}()
	out.next()
	return out, nil
}

// next returns the events since the last call.
func (o *opened) next() []string {
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	events := o.events
	o.events = nil
	return events
}

func TestOpenFails(t *testing.T) {
	for name, c := range map[string]struct {
		options   adapters.Options
		request   string // that is answered with tail
		tail      string
		code      event.ErrorCode
		op, words string
	}{
		"no stream of events":  {adapters.Options{}, "GET /event", `,"status":503,"body":{}}`, event.ErrorProtocol, "handshake", "status 503"},
		"a refused session":    {adapters.Options{}, "POST /session", `,"status":400,"body":{"name":"BadRequest","data":{"message":"no such rule"}}}`, event.ErrorInvalid, "open", "no such rule"},
		"an unknown session":   {adapters.Options{Opening: op.Opening{Resume: "ses_1"}}, "GET /session/ses_1", `,"status":404,"body":{"name":"NotFoundError","data":{"message":"Session not found"}}}`, event.ErrorInvalid, "resume", "Session not found"},
		"a lost connection":    {adapters.Options{}, "POST /session", `,"error":"connection reset"}`, event.ErrorInvalid, "open", "connection reset"},
		"a session without id": {adapters.Options{}, "POST /session", `,"status":200,"body":{}}`, event.ErrorProtocol, "open", "names no session"},
		"no reply":             {adapters.Options{Limits: adapters.Limits{Request: time.Second}}, "POST /session", "", event.ErrorTimeout, "open", "no answer within the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := start(func(request string) string {
					if request == c.request {
						return c.tail
					}
					return replies(request)
				})
				_, err := open(t, s, c.options)
				failed, ok := errors.AsType[*adapters.OpenError](err)
				g.Expect(ok).To(BeTrue(), "%v", err)
				g.Expect(failed.Code).To(Equal(c.code))
				g.Expect(failed.Op).To(Equal(c.op))
				g.Expect(err).To(MatchError(ContainSubstring(c.words)))
			})
		})
	}
}

// A message that is refused is a turn that fails; during a turn it is a notice, and the turn
// goes on.
func TestRefusedMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		refuses := true
		s := start(func(request string) string {
			if refuses && strings.HasSuffix(request, "/prompt_async") {
				return `,"status":500,"body":{"name":"UnknownError","data":{"message":"disk full"}}}`
			}
			return replies(request)
		})
		o, err := open(t, s, adapters.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(o.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hello"})).To(Succeed())
		g.Expect(o.next()).To(Equal([]string{"turn_start", "thinking", "error invalid_request: POST /session/ses_1/prompt_async: status 500: disk full"}))

		refuses = false
		g.Expect(o.Send(t.Context(), adapters.Message{ID: "m2", Text: "Hello"})).To(Succeed())
		s.begin("msg_2")
		g.Expect(o.next()).To(ContainElement("user_message m2"))
		refuses = true
		g.Expect(o.Send(t.Context(), adapters.Message{ID: "m3", Text: "And you"})).To(Succeed())
		g.Expect(o.next()).To(Equal([]string{"notice refused: message m3 was not taken: POST /session/ses_1/prompt_async: status 500: disk full"}))
		s.send("message.updated", `"info":{"id":"msg_3","role":"assistant","finish":"stop","time":{"completed":1}}`)
		s.send("session.idle", `"at":0`)
		g.Expect(o.next()).To(Equal([]string{"done"}))
	})
}

// A turn whose stream of events ends is lost. The next message begins with another stream,
// whose events count.
func TestStreamEndsInMidTurn(t *testing.T) {
	for name, end := range map[string]string{"it ends": `,"end":true}`, "it breaks": `,"error":"unexpected EOF"}`} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := start(replies)
				o, err := open(t, s, adapters.Options{})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(o.Send(t.Context(), adapters.Message{ID: "m1", Text: "Hello"})).To(Succeed())
				s.begin("msg_1")
				o.next()
				s.p.Print(fmt.Sprintf(`{"id":%d%s`, s.id("GET /event"), end))
				g.Expect(o.next()).To(BeEmpty(), "if the program exits too, that is the reason")
				time.Sleep(time.Second) // virtual
				g.Expect(o.next()).To(Equal([]string{"error unknown: the stream of events has ended"}))

				s.seen()
				g.Expect(o.Send(t.Context(), adapters.Message{ID: "m2", Text: "Again"})).To(Succeed())
				synctest.Wait()
				g.Expect(s.seen()).To(Equal([]string{"GET /event", "POST /session/ses_1/prompt_async"}))
				s.begin("msg_2")
				g.Expect(o.next()).To(ContainElement("user_message m2"))
			})
		})
	}
}

// A reply after the limit of its request ends nothing, and is no unknown message.
func TestLateReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := start(func(request string) string {
			if strings.HasPrefix(request, "PATCH ") {
				return ""
			}
			return replies(request)
		})
		o, err := open(t, s, adapters.Options{Limits: adapters.Limits{Request: time.Second}})
		g.Expect(err).NotTo(HaveOccurred())
		renamer, _ := adapters.As[adapters.Renamer](o.Session)
		g.Expect(renamer.Rename(t.Context(), "Rivers")).To(MatchError(ContainSubstring("no answer within the limit")))
		s.p.Print(fmt.Sprintf(`{"id":%d,"status":200,"body":true}`, s.id("PATCH /session/ses_1")))
		g.Expect(o.next()).To(BeEmpty())
		s.p.Print(`{"id":99,"status":200,"body":true}`)
		g.Expect(o.next()).To(Equal([]string{"notice unknown_message: a reply to no request is not known to this adapter"}))
	})
}

// What is asked for is in the settings too, which hold for sub-agents.
func TestSettingsAsk(t *testing.T) {
	for _, c := range []struct {
		options adapters.Options
		want    string // of OPENCODE_CONFIG_CONTENT
	}{
		{adapters.Options{}, ""},
		{adapters.Options{Opening: op.Opening{Mode: adapters.ModeAsk}}, `{"permission":{"bash":"ask","edit":"ask","external_directory":"ask"}}`},
		{adapters.Options{Judge: denyAll}, `{"permission":{"*":"ask"}}`},
		{adapters.Options{MCP: []adapters.MCPServer{{Name: "tides", URL: "http://localhost/"}}}, `{"mcp":{"tides":{"type":"remote","url":"http://localhost/"}}}`},
	} {
		g := NewWithT(t)
		got := ""
		c.options.Env = []string{"HOME=/home"}
		c.options.Launch = proc.LauncherFunc(func(_ context.Context, command proc.Command) (proc.Process, error) {
			for _, e := range command.Env {
				if v, ok := strings.CutPrefix(e, "OPENCODE_CONFIG_CONTENT="); ok {
					got = v
				}
			}
			return nil, errors.New("not today")
		})
		_, err := opencode.New().Open(t.Context(), c.options)
		g.Expect(err).To(HaveOccurred())
		g.Expect(got).To(Equal(c.want))
		if c.want != "" {
			c.options.Env = append(c.options.Env, "OPENCODE_CONFIG_CONTENT={}")
			_, err = opencode.New().Open(t.Context(), c.options)
			g.Expect(err).To(MatchError(ContainSubstring("which the environment holds already")))
		}
	}
}

func denyAll(context.Context, adapters.Call) adapters.Verdict {
	return adapters.Verdict{Effect: adapters.EffectDeny}
}
