package acp

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// List implements adapters.Lister. An agent reports models and commands by itself, and has a
// request for its sessions if it says so.
func (s liveSession) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	return session.List(ctx, s, func(done func([]adapters.Listed, error)) {
		_, listsSessions := s.c.info.Capabilities.Session["list"]
		switch {
		case list == adapters.ListModels && s.c.t.offers.models != nil:
			done(s.c.t.offers.models, nil)
		case list == adapters.ListCommands && s.c.t.offers.commands != nil:
			done(s.c.t.offers.commands, nil)
		case list == adapters.ListSessions && listsSessions:
			s.c.listSessions("", nil, done)
		default:
			done(nil, session.UnsupportedList(list))
		}
	})
}

// offers are the lists that an agent has reported; nil: it has not.
type offers struct{ models, commands []adapters.Listed }

// pageParams are the parameters of a request for a page of the sessions in a folder.
type pageParams struct {
	Cwd    string `json:"cwd,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// listSessions requests a page of the list of sessions, and those after it.
func (c *client) listSessions(cursor string, list []adapters.Listed, done func([]adapters.Listed, error)) {
	c.send("session/list", pageParams{c.dir, cursor}, true, func(v jsontext.Value, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		r := lenient.Decode[struct {
			Sessions []jsontext.Value `json:"sessions"`
			Next     lenient.Str      `json:"nextCursor"`
		}](v)
		for _, raw := range r.Sessions {
			e := lenient.Decode[struct {
				SessionID lenient.Str `json:"sessionId"`
				Title     lenient.Str `json:"title"`
			}](raw)
			list = session.AppendListed(list, adapters.Listed{ID: string(e.SessionID), Title: string(e.Title)}, raw)
		}
		if r.Next == "" || string(r.Next) == cursor {
			done(list, nil)
			return
		}
		c.listSessions(string(r.Next), list, done)
	})
}

// choice is a value that an agent offers: of a setting, or a command.
type choice struct {
	Value       lenient.Str `json:"value"`
	Name        lenient.Str `json:"name"`
	Description lenient.Str `json:"description"`
}

// commandsOffered reads the commands, of which an agent sends all.
func (t *translator) commandsOffered(v jsontext.Value) {
	t.offers.commands = []adapters.Listed{}
	for _, raw := range lenient.Decode[[]jsontext.Value](v) {
		e := lenient.Decode[choice](raw)
		t.offers.commands = session.AppendListed(t.offers.commands, adapters.Listed{ID: string(e.Name), Title: string(e.Description)}, raw)
	}
}

// modelsOffered reads the models that the setting may have. An agent may group them.
func (t *translator) modelsOffered(options jsontext.Value) {
	t.offers.models = []adapters.Listed{}
	for _, raw := range lenient.Decode[[]jsontext.Value](options) {
		members := lenient.Decode[struct {
			Options []jsontext.Value `json:"options"`
		}](raw).Options
		if members == nil {
			members = []jsontext.Value{raw}
		}
		for _, raw := range members {
			e := lenient.Decode[choice](raw)
			t.offers.models = session.AppendListed(t.offers.models, adapters.Listed{ID: string(e.Value), Title: string(e.Name)}, raw)
		}
	}
}
