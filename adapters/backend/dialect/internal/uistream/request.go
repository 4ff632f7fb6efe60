package uistream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/dialect"
	"github.com/turnspec/turnspec/adapters/event"
)

// chatRequest is the body that DefaultChatTransport posts.
type chatRequest struct {
	ID       string        `json:"id"`
	Runtime  string        `json:"runtime"` // from the option body of the transport
	Trigger  string        `json:"trigger"`
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	ID    string     `json:"id"`
	Role  string     `json:"role"`
	Parts []chatPart `json:"parts"`
}

type chatPart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	MediaType string `json:"mediaType"`
	Filename  string `json:"filename"`
	URL       string `json:"url"`
	State     string `json:"state"`

	ToolCallID       string    `json:"toolCallId"`
	ProviderExecuted bool      `json:"providerExecuted"`
	Output           event.Raw `json:"output"`
	ErrorText        string    `json:"errorText"`

	Approval struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`
	} `json:"approval"`
}

// ReadRequest reads the body that DefaultChatTransport posts. Of the messages it takes the last one: the
// message of the user, or the answers to requests that the last message of the agent has.
func ReadRequest(body []byte) (dialect.Request, error) {
	var c chatRequest
	if err := dialect.Unmarshal(body, &c); err != nil {
		return dialect.Request{}, err
	}
	out := dialect.Request{Session: c.ID, Runtime: c.Runtime}
	if len(c.Messages) == 0 {
		return out, errors.New("messages is empty")
	}
	last := c.Messages[len(c.Messages)-1]
	switch last.Role {
	case "user":
		m := last.message()
		if c.Trigger == "regenerate-message" {
			m.ID = "" // it was sent before
		}
		out.Message = &m
	case "assistant":
		out.Answers = last.answers()
		if len(out.Answers) == 0 {
			return out, errors.New("the last message is of the assistant, and answers no request for approval and no question")
		}
	default:
		return out, fmt.Errorf("the last message has the role %q: it must be user or assistant", last.Role)
	}
	return out, nil
}

// message returns the message of a user.
func (c chatMessage) message() adapters.Message {
	m := adapters.Message{ID: c.ID}
	var texts []string
	for _, p := range c.Parts {
		switch p.Type {
		case "text":
			texts = append(texts, p.Text)
		case "file":
			m.Attachments = append(m.Attachments, attachment(p))
		}
	}
	m.Text = strings.Join(texts, "\n")
	return m
}

func attachment(p chatPart) event.Attachment {
	kind := "file"
	if strings.HasPrefix(p.MediaType, "image/") {
		kind = "image"
	}
	return event.Attachment{Kind: kind, Name: p.Filename, URL: p.URL, MIME: p.MediaType}
}

// answers returns the answers of the user that the server has not confirmed.
func (c chatMessage) answers() []dialect.RequestAnswer {
	var out []dialect.RequestAnswer
	for _, p := range c.Parts {
		if id, is := strings.CutPrefix(p.ToolCallID, ofQuestion); is && !p.ProviderExecuted {
			switch p.State {
			case "output-available":
				out = append(out, dialect.RequestAnswer{To: id, Answer: adapters.Answer{Value: p.Output}})
			case "output-error":
				out = append(out, dialect.RequestAnswer{To: id, Answer: adapters.Answer{Decision: event.DecisionDeny, Value: event.Raw(`"deny"`), Message: p.ErrorText}})
			}
			continue
		}
		if p.State != "approval-responded" || p.Approval.Approved == nil {
			continue
		}
		a := adapters.Answer{Decision: event.DecisionDeny, Message: p.Approval.Reason}
		if *p.Approval.Approved {
			a = adapters.Answer{Decision: event.DecisionAllow}
		}
		out = append(out, dialect.RequestAnswer{To: p.Approval.ID, Answer: a})
	}
	return out
}
