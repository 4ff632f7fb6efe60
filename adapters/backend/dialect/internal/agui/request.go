package agui

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// Input is the RunAgentInput that HttpAgent posts.
type Input struct {
	dialect.Request

	runID    string
	messages []event.Raw
}

type runInput struct {
	ThreadID  string      `json:"threadId"`
	RunID     string      `json:"runId"`
	Messages  []event.Raw `json:"messages"`
	Resume    []resumed   `json:"resume"`
	Forwarded struct {
		Runtime string `json:"runtime"`
	} `json:"forwardedProps"`
}

// resumed is the answer to an interrupt.
type resumed struct {
	InterruptID string    `json:"interruptId"`
	Status      string    `json:"status"`
	Payload     event.Raw `json:"payload"`
}

type inputMessage struct {
	ID      string    `json:"id"`
	Role    string    `json:"role"`
	Content event.Raw `json:"content"`
}

type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Filename string `json:"filename"`
	Source   struct {
		Type     string `json:"type"`
		Value    string `json:"value"`
		MIMEType string `json:"mimeType"`
	} `json:"source"`
}

// ReadInput reads a RunAgentInput. Of the messages it takes the last one of the user; with resume it
// takes none.
func ReadInput(body []byte) (*Input, error) {
	var in runInput
	if err := dialect.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if in.RunID == "" {
		return nil, errors.New("runId is missing")
	}
	out := &Input{Request: dialect.Request{Session: in.ThreadID, Runtime: in.Forwarded.Runtime}, runID: in.RunID, messages: in.Messages}
	for _, r := range in.Resume {
		a, err := r.answer()
		if err != nil {
			return nil, err
		}
		out.Answers = append(out.Answers, dialect.RequestAnswer{To: r.InterruptID, Answer: a})
	}
	if len(out.Answers) > 0 {
		return out, nil
	}
	for _, raw := range slices.Backward(in.Messages) {
		var m inputMessage
		if err := dialect.Unmarshal(raw, &m); err != nil {
			return nil, err
		}
		if m.Role != "user" {
			continue
		}
		message, err := m.message()
		if err != nil {
			return nil, err
		}
		out.Message = &message
		return out, nil
	}
	return nil, errors.New("messages has none of the role user")
}

// answer returns the answer to a permission request or a question: payload has approved if it is for a request,
// else it is the value.
func (r resumed) answer() (adapters.Answer, error) {
	deny := adapters.Answer{Decision: event.DecisionDeny, Value: event.Raw(`"deny"`)}
	if r.Status == "cancelled" {
		return deny, nil
	}
	if r.Status != "resolved" {
		return deny, fmt.Errorf("resume: the status is %q: it must be resolved or cancelled", r.Status)
	}
	a := adapters.Answer{Value: r.Payload}
	if r.Payload.Kind() != jsontext.KindBeginObject {
		return a, nil
	}
	var p struct {
		Approved   *bool     `json:"approved"`
		Message    string    `json:"message"`
		EditedArgs event.Raw `json:"editedArgs"`
	}
	if err := dialect.Unmarshal(r.Payload, &p); err != nil || p.Approved == nil {
		return a, nil //nolint:nilerr // it is the value of a question, which the runtime judges
	}
	if !*p.Approved {
		deny.Message = p.Message
		return deny, nil
	}
	return adapters.Answer{Decision: event.DecisionAllow, Input: p.EditedArgs}, nil
}

func (m inputMessage) message() (adapters.Message, error) {
	out := adapters.Message{ID: m.ID}
	if m.Content.Kind() == jsontext.KindString {
		return out, dialect.Unmarshal(m.Content, &out.Text)
	}
	var parts []contentPart
	if err := dialect.Unmarshal(m.Content, &parts); err != nil {
		return out, err
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
			continue
		}
		a := event.Attachment{Kind: "file", Name: p.Filename, MIME: p.Source.MIMEType}
		if p.Type == "image" {
			a.Kind = "image"
		}
		switch p.Source.Type {
		case "data":
			a.URL = "data:" + p.Source.MIMEType + ";base64," + p.Source.Value
		case "url":
			a.URL = p.Source.Value
		default:
			return out, fmt.Errorf("a part of type %q has a source of type %q: it must be data or url", p.Type, p.Source.Type)
		}
		out.Attachments = append(out.Attachments, a)
	}
	out.Text = strings.Join(texts, "\n")
	return out, nil
}
