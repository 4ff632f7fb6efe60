package sse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tmaxmax/go-sse"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// replies are the streams of a server that answers the POST of a message with the stream of
// its turn. Such a server has no other routes of this package.
type replies struct {
	ctx  context.Context // of the session: it cuts the replies
	dir  string          // of the session
	last chan struct{}   // closed when the last reply has ended
}

// openReplies begins a session without a request: the first message tells the server of it.
func (x *session) openReplies(o conformance.Open) {
	ctx, cancel := context.WithCancel(context.Background())
	last := make(chan struct{})
	close(last)
	x.Cancel = cancel
	x.foreign.replies = &replies{ctx: ctx, dir: o.Dir, last: last}
	x.plain.HoldReady(event.SessionReady{SessionID: o.SessionID, Runtime: x.s.Of, Mode: plug.Mode(o)})
	go func() {
		<-ctx.Done()
		x.Mu.Lock()
		reply := x.foreign.replies.last
		x.Mu.Unlock()
		<-reply
		close(x.foreign.ended)
		x.endStream(ctx.Err())
	}()
	if x.Process != nil {
		go func() {
			<-x.Process.Done
			cancel() // no turn may run that would notice
		}()
	}
}

// checkReply returns what is wrong with a reply that should be a stream.
func checkReply(path string, resp *http.Response) *plug.Error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		return nil
	}
	return plug.Errorf("POST %s: want a stream of events (text/event-stream), got %s with Content-Type %q", path, resp.Status, kind).
		Advise("answer with the stream of the turn; if a GET has the stream in your server, it needs the routes of " + page)
}

// values are those of a message in a request of the mapping.
func (x *session) values(m adapters.Message) map[string]string {
	return map[string]string{"session": x.id, "message": m.Text, "message_id": m.ID, "dir": x.foreign.replies.dir}
}

// post sends a message, and reads the reply as the stream of its turn.
func (x *session) post(ctx context.Context, m adapters.Message) error {
	if err := x.ProtocolError(); err != nil {
		return err
	}
	r := x.foreign.replies
	path, body, err := x.foreign.Mapping.Post.Fill(x.values(m))
	if err != nil {
		return err
	}
	if !plug.WaitFor(ctx, r.last, answerLimit) {
		return x.Fail(plug.Errorf("POST %s: the last reply is still open %v after the end of its turn", path, answerLimit).
			Advise("end the response when the turn has ended: clients send the next message after it"))
	}
	req, err := http.NewRequestWithContext(r.ctx, http.MethodPost, x.base+path, bytes.NewReader(body))
	if err != nil {
		return badURL(x.base, err.Error())
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	x.s.Show(true, "POST "+path+" "+string(body))
	late := time.AfterFunc(answerLimit, x.Cancel)
	resp, err := x.http.Do(req)
	if !late.Stop() {
		return x.Fail(plug.Errorf("POST %s: no reply within %v", path, answerLimit).
			Advise("send the headers of the stream at once (flushHeaders in Node), before the runtime answers"))
	}
	if err != nil {
		return x.failAnswer(http.MethodPost, path, err)
	}
	x.s.Show(false, resp.Status)
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusNotFound {
			return x.Fail(plug.Errorf("POST %s: there is no such route: %s %s", path, resp.Status, plug.Clip(string(answer))).
				Advise("give the path in a mapping: {\"name\":\"mine\",\"extends\":\"" + x.foreign.Mapping.Name + "\",\"post\":{\"path\":\"/api/chat\",…}}"))
		}
		return parseRefusal(resp.StatusCode, answer)
	}
	if e := checkReply(path, resp); e != nil {
		_ = resp.Body.Close()
		return x.Fail(e)
	}
	ended := make(chan struct{})
	x.Mu.Lock()
	x.foreign.Begin()
	r.last = ended
	x.plain.BeginMessage(m)
	x.Mu.Unlock()
	go x.readReply(path, resp.Body, ended)
	return nil
}

// readReply reads the stream of a turn to its end.
func (x *session) readReply(path string, body io.ReadCloser, ended chan struct{}) {
	defer close(ended)
	end := io.EOF
	for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: plug.MaxLine}) {
		if err != nil {
			end = err
			break
		}
		if e.Data == "" || e.Data == x.foreign.Mapping.EndOfStream {
			continue
		}
		x.s.Show(false, "message "+e.Data)
		if mistake := x.handleForeign(e.Data); mistake != nil {
			_ = body.Close()
			_ = x.Fail(mistake)
			return
		}
	}
	_ = body.Close()
	x.Mu.Lock()
	running, closing := x.Running, x.Closing
	if f := x.foreign; !closing {
		f.End()
	}
	x.Mu.Unlock()
	switch {
	case !running || closing || x.foreign.replies.ctx.Err() != nil:
	case errors.Is(end, bufio.ErrTooLong):
		_ = x.Fail(plug.TooLong("an event of the reply", nil))
	case x.hasEnded():
		x.Cancel()
	case errors.Is(end, io.EOF):
		_ = x.Fail(plug.Errorf("the reply to POST %s ended, and the turn has no end", path).
			Advise("write the message that ends a turn before the response ends, also after an error or if the runtime exits"))
	default:
		_ = x.Fail(plug.Errorf("the reply to POST %s broke off (%v) while a turn ran", path, end).
			Advise("look at the server's log: a handler of it may have ended"))
	}
}

// stopByRequest sends the request of the mapping that stops a turn.
func (x *session) stopByRequest(ctx context.Context) error {
	stop := x.foreign.Mapping.Stop
	if stop == nil {
		return plug.Unsupported("the mapping " + x.foreign.Mapping.Name + " has no request that stops a turn")
	}
	path, body, err := stop.Fill(x.values(adapters.Message{}))
	if err != nil {
		return err
	}
	x.Mu.Lock()
	x.plain.Stopped = x.Running
	x.Mu.Unlock()
	return x.request(ctx, http.MethodPost, path, jsontext.Value(body), nil)
}
