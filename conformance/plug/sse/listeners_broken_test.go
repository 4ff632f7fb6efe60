package sse_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// withoutComments removes the comments of streams.
func withoutComments(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(commentless{w}, r)
	})
}

type commentless struct{ http.ResponseWriter }

// Unwrap lets http.ResponseController flush.
func (c commentless) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c commentless) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), ": heartbeat") {
		return len(b), nil
	}
	return c.ResponseWriter.Write(b)
}

// answerIdleWith204 answers a listener that has all events with 204 if the last one is the
// end of a turn.
func answerIdleWith204(next http.Handler) http.Handler {
	var mu sync.Mutex
	idleAt := "" // the id of the last event, if it is the end of a turn
	watched := changeStreams(func(_ int, frame string) string {
		mu.Lock()
		defer mu.Unlock()
		idleAt = ""
		if id, rest, _ := strings.Cut(frame, "\n"); strings.HasPrefix(rest, "event: done\n") {
			idleAt = strings.TrimPrefix(id, "id: ")
		}
		return frame
	})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		idle := idleAt != "" && r.Header.Get("Last-Event-ID") == idleAt
		mu.Unlock()
		if idle && r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		watched.ServeHTTP(w, r)
	})
}

// endWithoutListeners ends a session when its last listener leaves.
func endWithoutListeners(next http.Handler) http.Handler {
	var mu sync.Mutex
	listeners := 0
	count := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		listeners += n
		return listeners
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, is := strings.CutSuffix(r.URL.Path, "/events")
		if !is {
			next.ServeHTTP(w, r)
			return
		}
		count(1)
		next.ServeHTTP(w, r)
		if count(-1) == 0 {
			end := httptest.NewRequest(http.MethodDelete, "http://localhost"+session, http.NoBody)
			next.ServeHTTP(httptest.NewRecorder(), end)
		}
	})
}
