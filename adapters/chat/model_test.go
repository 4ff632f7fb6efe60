package chat_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/chat"
	"github.com/turnspec/turnspec/adapters/event"
)

// A reply that ends with hold goes on until the client aborts it; one that ends with cutOff is
// cut.
const (
	hold   = "<hold>"
	cutOff = "<cut off>"
)

// model is a server of chat completions whose replies are given. It keeps what it was asked.
type model struct {
	*httptest.Server
	mu      sync.Mutex
	replies []string // events of each reply, by requests
	bodies  []string
}

func newModel(t *testing.T, replies ...string) *model {
	t.Helper()
	m := &model{replies: replies}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		m.bodies = append(m.bodies, string(b))
		text := says("Done.")
		if len(m.replies) > 0 {
			text, m.replies = m.replies[0], m.replies[1:]
		}
		text, held := strings.CutSuffix(text, hold)
		text, cut := strings.CutSuffix(text, cutOff)
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.HasPrefix(text, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		fmt.Fprint(w, text)
		_ = http.NewResponseController(w).Flush()
		switch {
		case held:
			m.mu.Unlock()
			<-r.Context().Done()
			m.mu.Lock()
		case cut:
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(m.Close)
	return m
}

func (m *model) body(i int) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i >= len(m.bodies) {
		return ""
	}
	return m.bodies[i]
}

func says(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", text)
}

func calls(tool, arguments string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\"function\":{\"name\":%q,\"arguments\":%q}}]}}]}\n\n"+
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", tool, arguments)
}

// open opens a session with servers and a model.
func open(t *testing.T, m *model, o adapters.Options) adapters.Session {
	t.Helper()
	o.Env = append(os.Environ(), "OPENAI_BASE_URL="+m.URL, "OPENAI_MODEL=scripted")
	s, err := chat.New().Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		go func() {
			for range s.Events() { // the session waits for its listener
			}
		}()
		_ = s.Close(context.Background())
	})
	return s
}

// readUntil reads the events up to one of a type.
func readUntil(t *testing.T, s adapters.Session, ty event.Type) (out []event.Event) {
	t.Helper()
	for e := range s.Events() {
		out = append(out, e)
		if e.Type() == ty {
			return out
		}
	}
	t.Fatalf("the session has ended without %s: %v", ty, out)
	return nil
}

func dataOf[T event.Data](events []event.Event) (out []T) {
	for _, e := range events {
		if d, ok := e.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}
