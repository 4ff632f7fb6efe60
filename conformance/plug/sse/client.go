package sse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// The limits in real time.
const (
	startLimit  = 30 * time.Second // until the sidecar listens
	answerLimit = 20 * time.Second // of a request
	endLimit    = 2 * time.Second  // between the end of a connection and that of its process
	maxAnswer   = 1 << 20
)

const page = "conformance/plug/sse/ROUTES.md"

// newClient returns a client that uses no proxy.
func newClient() *http.Client {
	return &http.Client{
		Transport:     authorized{&http.Transport{MaxIdleConnsPerHost: 4}, os.Getenv(EnvToken)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// EnvToken is the variable that holds the token of the sidecar, if it demands one.
const EnvToken = "TURNSPEC_TOKEN"

// authorized presents a token with each request, if there is one.
type authorized struct {
	http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+a.token)
	}
	return a.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections is called by http.Client.
func (a authorized) CloseIdleConnections() {
	if c, is := a.RoundTripper.(interface{ CloseIdleConnections() }); is {
		c.CloseIdleConnections()
	}
}

// parseRefusal reads an answer whose status is an error: {"error":{"code","message"}},
// {"error":"…"}, or plain text.
func parseRefusal(status int, body []byte) *plug.RefusalError {
	r := &plug.RefusalError{Status: status, Text: plug.Clip(string(body)), Err: adapters.ErrRefused}
	var withCode struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	var withText struct {
		Error string `json:"error"`
	}
	switch {
	case json.Unmarshal(body, &withCode, plug.Lenient) == nil && withCode.Error.Message+withCode.Error.Code != "":
		r.Code, r.Text = withCode.Error.Code, withCode.Error.Message
	case json.Unmarshal(body, &withText, plug.Lenient) == nil && withText.Error != "":
		r.Text = withText.Error
	}
	r.Text = fmt.Sprintf("%d %s: %s", status, http.StatusText(status), r.Text)
	if err := plug.RefusalErrors[r.Code]; err != nil {
		r.Err = err
	}
	if r.Code == "unsupported" || status == http.StatusNotImplemented {
		r.Err = conformance.ErrDeclaredUnsupported
	}
	return r
}

// request sends a request to the sidecar and reads the answer into out, which may be
// nil.
func (x *session) request(ctx context.Context, method, path string, in, out any) error {
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
	ctx, cancel := context.WithTimeout(ctx, x.answerLimit())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, x.base+path, bytes.NewReader(body))
	if err != nil {
		return badURL(x.base, err.Error())
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	x.s.Show(true, strings.TrimSpace(method+" "+path+" "+string(body)))
	resp, err := x.http.Do(req)
	var answer []byte
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		_ = resp.Body.Close()
	}
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return x.Fail(x.noAnswer(method, path))
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return x.failAnswer(method, path, err)
	}
	x.s.Show(false, strings.TrimSpace(resp.Status+" "+string(answer)))
	switch {
	case resp.StatusCode == http.StatusNotFound && parseRefusal(resp.StatusCode, answer).Code == "", resp.StatusCode == http.StatusMethodNotAllowed:
		return x.Fail(plug.Errorf("%s %s: there is no such route: %s %s", method, path, resp.Status, plug.Clip(string(answer))).
			Advise(page + " lists the routes; if they have a prefix, give it with the address: --subject http://127.0.0.1:3000/api"))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		return parseRefusal(resp.StatusCode, answer)
	case out == nil || len(bytes.TrimSpace(answer)) == 0:
		return nil
	}
	if err := json.Unmarshal(answer, out, plug.Lenient); err != nil {
		return x.Fail(plug.Errorf("%s %s: the answer is no JSON object: %s", method, path, plug.Clip(string(answer))).
			Advise(`answer {"ok":true}, or nothing; ` + page + " lists the members that it may have"))
	}
	return nil
}

func (x *session) answerLimit() time.Duration { return cmp.Or(x.Program.ReplyLimit, answerLimit) }

func (x *session) noAnswer(method, path string) *plug.Error {
	return plug.Errorf("%s %s: no answer within %v", method, path, x.answerLimit()).
		Advise("answer at once, with 202 if the work goes on: events report its result")
}

// failAnswer fails the session because a connection was lost.
func (x *session) failAnswer(method, path string, err error) error {
	if x.hasEnded() {
		x.failEnded("it had to answer " + method + " " + path)
		return x.ProtocolError()
	}
	return x.Fail(plug.Errorf("%s %s: no answer: %v", method, path, err).Advise("look at the sidecar's log: it, or a handler of it, may have ended"))
}

func (x *session) failEnded(doing string) { x.FailEnded("sidecar", doing, "it is sent SIGTERM") }

// connect waits until the sidecar answers, and reads what it declares.
func (x *session) connect(ctx context.Context) error {
	limit := cmp.Or(x.Program.StartLimit, startLimit)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := x.getHealth(ctx)
		if err == nil {
			return nil
		}
		if e, is := asError(err); is {
			return x.Fail(e)
		}
		if x.Process == nil {
			return x.Fail(plug.Errorf("no server answers at %s: %v", x.base, err).
				Advise("start the sidecar first, in a shell that has run `eval \"$(turnspec env)\"`, so that it finds the stand-in; " +
					"or let it be started here: --subject http://127.0.0.1:0 -- CMD"))
		}
		t := time.NewTimer(20 * time.Millisecond)
		select {
		case <-x.Process.Done:
			t.Stop()
			x.failEnded("it had to listen at " + x.base)
			return x.ProtocolError()
		case <-ctx.Done():
			t.Stop()
			return x.Fail(plug.Errorf("the sidecar was started, but it does not answer at %s within %v", x.base, limit).
				Advise("let it listen there: PORT holds the port, which also replaces {port} in the command"))
		case <-t.C:
		}
	}
}

// getHealth reads GET /health. A sidecar without that route declares nothing.
func (x *session) getHealth(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+"/health", http.NoBody)
	if err != nil {
		return badURL(x.base, err.Error())
	}
	resp, err := x.http.Do(req)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	_ = resp.Body.Close()
	if err != nil {
		return err
	}
	x.s.Show(true, "GET /health")
	x.s.Show(false, resp.Status+" "+string(b))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && (kind == "application/json" || bytes.HasPrefix(b, []byte("{"))) {
		if err := json.Unmarshal(b, &x.health, plug.Lenient); err != nil {
			return plug.Errorf("GET /health: %v: %s", err, plug.Clip(string(b))).Advise(page + " lists what it may declare")
		}
	}
	if e := x.health.Check(x.s.Of, "GET /health", "sidecar", page, abilities()); e != nil {
		return e
	}
	return nil
}
