package opencode

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/attachment"
)

// prompt is the body of a message.
type prompt struct {
	Parts []promptPart `json:"parts"`
	Model *modelRef    `json:"model,omitempty"`
	Agent string       `json:"agent,omitempty"`
	// Variant names a level of reasoning of the model.
	Variant string  `json:"variant,omitempty"`
	System  string  `json:"system,omitempty"`
	Format  *format `json:"format,omitempty"`
}

// format is that of the answer.
type format struct {
	Type   string    `json:"type"`
	Schema event.Raw `json:"schema"`
}

type promptPart struct {
	Type     string  `json:"type"`
	Text     *string `json:"text,omitzero"` // the runtime refuses a part for text without one
	MIME     string  `json:"mime,omitempty"`
	Filename string  `json:"filename,omitempty"`
	URL      string  `json:"url,omitempty"`
}

type modelRef struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

// planAgent is the runtime's agent that changes no files.
const planAgent = "plan"

// modelOf returns the model of a message. A model without a provider is one of the provider
// that was used last.
func (c *client) modelOf(name string) *modelRef {
	if name == "" {
		return nil
	}
	provider, model, ok := strings.Cut(name, "/")
	if !ok {
		provider, model = c.t.provider, name
	}
	return &modelRef{provider, model}
}

// Send implements session.Protocol. A running turn takes a message that comes during it when
// the reply of the model has ended.
func (c *client) Send(m adapters.Message, reply func(error)) {
	p := prompt{Model: c.modelOf(c.model), Variant: c.o.Effort, System: c.o.Instructions}
	if len(c.o.Schema) > 0 {
		p.Format = &format{"json_schema", c.o.Schema}
	}
	if c.mode == adapters.ModePlan {
		p.Agent = planAgent
	}
	var err error
	if p.Parts, err = partsOf(m.Text, m.Attachments, c.o.Dir); err == nil && p.Model != nil && p.Model.Provider == "" {
		err = fmt.Errorf("model %q: want PROVIDER/MODEL", c.model)
	}
	if err != nil {
		reply(fmt.Errorf("send: %w", err))
		return
	}
	via := event.ViaTurn
	if c.t.l.Turn() != nil || c.Starting() {
		via = event.ViaMerge
	}
	s := c.sent.Add(m, via)
	if c.stream == 0 {
		c.subscribe(func(error) {}) // without it the message fails too
	}
	c.send("POST", c.sessionPath("/prompt_async"), p, true, func(_ jsontext.Value, err error) {
		if err != nil && c.sent.Remove(s) {
			s.Refused(c.t.l, err)
		}
	})
	reply(nil)
}

// partsOf returns the parts of a message. The runtime itself reads attachments that are given
// by a path, which may be one in dir.
func partsOf(text string, attachments []event.Attachment, dir string) ([]promptPart, error) {
	var out []promptPart
	if text != "" || len(attachments) == 0 {
		out = append(out, promptPart{Type: "text", Text: &text})
	}
	for i, a := range attachments {
		p := promptPart{Type: "file", MIME: attachment.MediaType(a), Filename: a.Name, URL: a.URL}
		switch {
		case a.Path != "":
			path := a.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			p.URL = fileURL(path)
			if p.Filename == "" {
				p.Filename = filepath.Base(a.Path)
			}
		case strings.HasPrefix(a.URL, "data:"):
			head, _, ok := strings.Cut(strings.TrimPrefix(a.URL, "data:"), ",")
			if p.MIME, _, _ = strings.Cut(head, ";"); !ok {
				return nil, fmt.Errorf("attachments[%d]: url: want data:<type>;base64,<data>", i)
			}
		default:
			return nil, fmt.Errorf("attachments[%d]: needs a path or a data URL: %w", i, adapters.ErrUnsupported)
		}
		out = append(out, p)
	}
	return out, nil
}

// fileURL returns the URL of a file. On Windows a path begins with the letter of a drive.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// Steer implements session.Protocol.
func (c *client) Steer(_ adapters.Message, reply func(error)) { reply(adapters.ErrUnsupported) }

// startingMessages returns the message that starts a turn.
func (c *client) startingMessages() []string {
	if len(c.sent) == 0 {
		return nil
	}
	c.sent[0].Via = event.ViaTurn // the turn into which it was sent may have ended before
	return []string{c.sent[0].ID}
}

// messageTaken matches a message of the runtime with the one that was sent first. The wire
// has no id of the client.
func (c *client) messageTaken(d *event.UserMessage) {
	wire := d.MessageID
	if len(c.sent) == 0 {
		return
	}
	s := c.sent[0]
	c.sent.Take(s, d)
	c.seen = append(c.seen, seenMessage{s.ID, wire})
}
