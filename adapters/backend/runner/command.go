package runner

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/strict"
)

// command is a line of the input.
type command struct {
	Type string `json:"type"`

	ID          string       `json:"id"`
	Content     string       `json:"content"`
	Attachments []attachment `json:"attachments"`

	Model string `json:"model"`
	Mode  string `json:"mode"`

	RequestID string         `json:"request_id"`
	Decision  event.Decision `json:"decision"`
	Message   string         `json:"message"`
	Input     event.Raw      `json:"input"`
	Scope     adapters.Scope `json:"scope"`
	Answers   event.Raw      `json:"answers"`
	Approved  bool           `json:"approved"`
	Reason    string         `json:"reason"`

	CheckpointID string `json:"checkpoint_id"`
	DryRun       bool   `json:"dry_run"`
}

// attachment is an attachment of a message.
type attachment struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	URL     string `json:"url"`
	Data    string `json:"data"` // base64
	MIME    string `json:"mime"`
	Content string `json:"content"` // the text of a file
}

// parseCommand reads a line of the input. With an error it returns what it could read.
func parseCommand(line []byte) (command, error) {
	var c command
	if err := strict.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("the line is no command: %w", err)
	}
	return c, nil
}

// message returns the message of a command, with id if it has none.
func (c command) message(id string) adapters.Message {
	m := adapters.Message{ID: cmp.Or(c.ID, id), Text: c.Content}
	for _, a := range c.Attachments {
		switch {
		case a.Content != "":
			m.Text = strings.TrimPrefix(m.Text+"\n\n"+a.element(), "\n\n")
		case a.Data != "":
			m.Attachments = append(m.Attachments, event.Attachment{Kind: a.Kind, Name: a.Name, MIME: a.MIME, URL: "data:" + cmp.Or(a.MIME, "image/png") + ";base64," + a.Data})
		default:
			m.Attachments = append(m.Attachments, event.Attachment{Kind: a.Kind, Name: a.Name, MIME: a.MIME, Path: a.Path, URL: a.URL})
		}
	}
	return m
}

// element returns the content of a file within an element that it cannot end itself.
func (a attachment) element() string {
	attribute := strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;").Replace
	content := strings.ReplaceAll(a.Content, "</attached_file", "&lt;/attached_file")
	return fmt.Sprintf("<attached_file path=\"%s\" lines=\"%d\">\n%s\n</attached_file>",
		attribute(cmp.Or(a.Path, a.Name)), strings.Count(strings.TrimSuffix(a.Content, "\n"), "\n")+1, strings.TrimSuffix(content, "\n"))
}
