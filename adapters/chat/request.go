package chat

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters/internal/lenient"
)

// requests sends requests to the server, and knows which replies are not complete.
type requests struct {
	write func(line []byte)
	last  int64 // the id of the last request

	reply int64 // the id of the request for a completion that is not complete; 0 if none is
	began bool  // its stream has begun
	ping  int64 // the id of the ping that has no answer; 0 if there is none
}

func (r *requests) send(l requestLine) { r.write(lenient.Encode(l)) }

// post asks for a completion.
func (r *requests) post(b *body) {
	r.last++
	r.reply, r.began = r.last, false
	r.send(requestLine{ID: r.last, Method: "POST", Path: "/chat/completions", Body: b})
}

// sendPing asks for the list of models, which any server answers in some way, also while it
// streams a reply.
func (r *requests) sendPing() {
	r.last++
	r.ping = r.last
	r.send(requestLine{ID: r.last, Method: "GET", Path: "/models"})
}

// abort cancels the open reply, if there is one.
func (r *requests) abort() {
	if r.reply != 0 {
		r.send(requestLine{ID: r.reply, Abort: true})
		r.reply = 0
	}
}

// Line implements session.Protocol.
func (c *client) Line(b []byte) {
	if len(bytes.TrimSpace(b)) == 0 {
		return
	}
	c.t.line = b
	if !jsontext.Value(b).IsValid(lenient.Options) {
		c.t.noticeBadLine(b)
		return
	}
	r := &c.requests
	var l replyLine
	err := json.Unmarshal(b, &l, lenient.Options)
	if err != nil {
		var head struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(b, &head, lenient.Options) // a line without an id concerns no request
		l = replyLine{ID: head.ID}
	}
	switch {
	case l.ID != 0 && l.ID == r.reply:
		c.handleReply(&l, err)
	case l.ID != 0 && l.ID == r.ping:
		r.ping = 0 // any answer will do
		if l.Stream {
			r.send(requestLine{ID: l.ID, Abort: true})
		}
	case err != nil || !l.known() || l.ID <= 0 || l.ID > r.last:
		c.t.noticeBadLine(b)
	} // else it belongs to a reply that is no longer wanted
}

// handleReply handles a line of the open reply. decodeErr says that it has the wrong form.
func (c *client) handleReply(l *replyLine, decodeErr error) {
	r := &c.requests
	switch {
	case decodeErr != nil:
		c.failReply(connectionFailed(fmt.Errorf("a part of the reply cannot be read: %w", decodeErr)))
	case !l.known():
		c.t.noticeBadLine(c.t.line)
	case l.Error != "":
		r.reply = 0
		c.t.replyEnded(connectionFailed(errors.New(l.Error)))
	case r.began && l.Status != 0:
		c.failReply(connectionFailed(errors.New("the reply has two statuses")))
	case l.failed():
		if !l.Stream {
			r.reply = 0
		}
		c.failReply(statusFailure(l))
	case l.Status != 0:
		r.began = true
		c.t.replyBegan()
		if !l.Stream {
			r.reply = 0
			c.t.replyEnded(c.t.handleBody(l))
		}
	case !r.began:
		c.failReply(connectionFailed(errNoStatus))
	case l.End:
		r.reply = 0
		c.t.replyEnded(nil)
	default:
		if f := c.t.handleEvent(l); f != nil {
			c.failReply(f)
		}
	}
}

// failReply ends the open reply, which the server may still send.
func (c *client) failReply(f *failure) {
	c.requests.abort()
	c.t.replyEnded(f)
}
