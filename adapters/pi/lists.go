package pi

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// lists are the results of the commands that list something.
type lists struct {
	Models   []jsontext.Value `json:"models"`
	Commands []jsontext.Value `json:"commands"`
}

// listed is a model or a command.
type listed struct {
	Provider    lenient.Str `json:"provider"` // of a model
	ID          lenient.Str `json:"id"`
	Name        lenient.Str `json:"name"`
	Description lenient.Str `json:"description"` // of a command
}

// List implements adapters.Lister. SetModel takes the ids of models.
func (s liveSession) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	return session.List(ctx, s, func(done func([]adapters.Listed, error)) {
		command := command{Type: map[adapters.List]string{
			adapters.ListModels: "get_available_models", adapters.ListCommands: "get_commands",
		}[list]}
		if command.Type == "" {
			done(nil, session.UnsupportedList(list))
			return
		}
		s.c.send(command, true, func(v jsontext.Value, err error) {
			var out []adapters.Listed
			r := lenient.Decode[lists](v)
			for _, raw := range r.Models {
				m := lenient.Decode[listed](raw)
				out = session.AppendListed(out, adapters.Listed{ID: string(m.Provider + "/" + m.ID), Title: string(m.Name)}, raw)
			}
			for _, raw := range r.Commands {
				c := lenient.Decode[listed](raw)
				out = session.AppendListed(out, adapters.Listed{ID: string(c.Name), Title: string(c.Description)}, raw)
			}
			done(out, err)
		})
	})
}
