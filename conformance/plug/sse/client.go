package sse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug/jsonl"
)

// The limits, in real time.
const (
	startLimit  = 30 * time.Second // until somebody listens
	answerLimit = 20 * time.Second // to a request
	endLimit    = 2 * time.Second  // between the end of a connection and that of its process
	mostAnswer  = 1 << 20
)

var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// newClient makes a client of one sidecar: no proxy stands between.
func newClient() *http.Client {
	return &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 4},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// refused is an answer that says no.
type refused struct {
	status     int
	code, text string
	is         error
}

func (r *refused) Error() string {
	return fmt.Sprintf("%d %s: %s", r.status, http.StatusText(r.status), r.text)
}

func (r *refused) Unwrap() error { return r.is }

// refusals are what codes of a refusal mean.
var refusals = map[string]error{
	"unsupported": conformance.ErrDeclaredUnsupported,
	"refused":     adapters.ErrRefused,
	"unknown_id":  adapters.ErrUnknownID,
	"no_turn":     adapters.ErrNoTurn,
	"closed":      adapters.ErrClosed,
}

// refusal reads an answer that says no: {"error":{"code","message"}}, or
// {"error":"…"}, or words.
func refusal(status int, body []byte) *refused {
	r := &refused{status: status, text: clip(string(body)), is: adapters.ErrRefused}
	var whole struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	var words struct {
		Error string `json:"error"`
	}
	switch {
	case json.Unmarshal(body, &whole, lenient) == nil && whole.Error.Message+whole.Error.Code != "":
		r.code, r.text = whole.Error.Code, whole.Error.Message
	case json.Unmarshal(body, &words, lenient) == nil && words.Error != "":
		r.text = words.Error
	}
	if is := refusals[r.code]; is != nil {
		r.is = is
	}
	if status == http.StatusNotImplemented {
		r.is = conformance.ErrDeclaredUnsupported
	}
	return r
}

// do asks the sidecar something. What it answers is read into out, which may be
// nil.
func (x *session) do(ctx context.Context, method, path string, in, out any) error {
	if err := x.ProtocolError(); err != nil {
		return err
	}
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, x.base+path, bytes.NewReader(body))
	if err != nil {
		return badURL(x.base, err.Error())
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	x.show(true, strings.TrimSpace(method+" "+path+" "+string(body)))
	resp, err := x.http.Do(req)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
		_ = resp.Body.Close()
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return x.fail(noAnswer(method, path, answerLimit))
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		if m := x.died("it was to answer " + method + " " + path); m != nil {
			return x.fail(m)
		}
		return x.fail(lostAnswer(method, path, err))
	}
	x.show(false, strings.TrimSpace(resp.Status+" "+string(answer)))
	switch {
	case resp.StatusCode == http.StatusNotFound && refusal(resp.StatusCode, answer).code == "", resp.StatusCode == http.StatusMethodNotAllowed:
		return x.fail(noRoute(method, path, resp.Status+" "+clip(string(answer))))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return refusal(resp.StatusCode, answer)
	case out == nil || len(bytes.TrimSpace(answer)) == 0:
		return nil
	}
	if err := json.Unmarshal(answer, out, lenient); err != nil {
		return x.fail(badAnswer(method, path, clip(string(answer))))
	}
	return nil
}

// greet waits until the sidecar answers, and reads what it declares.
func (x *session) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := x.healthy(ctx)
		if err == nil {
			return nil
		}
		if m, is := asMistake(err); is {
			return x.fail(m)
		}
		if x.p == nil {
			return x.fail(notReachable(x.base, err))
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-x.p.over:
			t.Stop()
			return x.fail(x.died("it was to listen at " + x.base))
		case <-ctx.Done():
			t.Stop()
			return x.fail(notListening(x.base, startLimit))
		case <-t.C:
		}
	}
}

// healthy asks for GET /health. A sidecar without that route declares nothing.
func (x *session) healthy(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+"/health", http.NoBody)
	if err != nil {
		return badURL(x.base, err.Error())
	}
	resp, err := x.http.Do(req)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	x.show(true, "GET /health")
	x.show(false, resp.Status+" "+string(b))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && (kind == "application/json" || bytes.HasPrefix(b, []byte("{"))) {
		if err := json.Unmarshal(b, &x.health, lenient); err != nil {
			return badHealth("%v: %s", err, clip(string(b)))
		}
	}
	if m := x.health.check(x.s.Of); m != nil {
		return m
	}
	return nil
}

// died is what to say of a sidecar that has ended, or nil.
func (x *session) died(doing string) *jsonl.PlugError {
	if !x.p.soon() {
		return nil
	}
	return ended(x.p.exit.String(), doing)
}

func (x *session) show(in bool, text string) {
	if x.s.Watch != nil {
		x.s.Watch(in, text)
	}
}
