package opencode

import (
	"context"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// listPaths are the paths of the lists.
var listPaths = map[adapters.List]string{
	adapters.ListModels:   "/config/providers",
	adapters.ListCommands: "/command",
	adapters.ListMCP:      "/mcp",
	adapters.ListSessions: "/session",
}

// List implements adapters.Lister.
func (s liveSession) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	return session.List(ctx, s, func(done func([]adapters.Listed, error)) {
		path := listPaths[list]
		if path == "" {
			done(nil, session.UnsupportedList(list))
			return
		}
		s.c.send("GET", path, nil, true, func(v jsontext.Value, err error) {
			switch {
			case err != nil:
				done(nil, err)
			case list == adapters.ListModels:
				done(modelsOf(v), nil)
			case list == adapters.ListMCP:
				done(serversOf(v), nil)
			default:
				done(entriesOf(v), nil)
			}
		})
	})
}

// modelsOf reads the models of all providers. SetModel takes their ids.
func modelsOf(v jsontext.Value) (out []adapters.Listed) {
	for _, p := range lenient.Decode[struct {
		Providers []struct {
			ID     lenient.Str               `json:"id"`
			Models map[string]jsontext.Value `json:"models"`
		} `json:"providers"`
	}](v).Providers {
		for _, id := range slices.Sorted(maps.Keys(p.Models)) {
			raw := p.Models[id]
			name := lenient.Decode[struct {
				Name lenient.Str `json:"name"`
			}](raw).Name
			out = session.AppendListed(out, adapters.Listed{ID: string(p.ID) + "/" + id, Title: string(name)}, raw)
		}
	}
	return out
}

// serversOf reads the states of MCP servers.
func serversOf(v jsontext.Value) (out []adapters.Listed) {
	servers := lenient.Decode[map[string]jsontext.Value](v)
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		raw := servers[name]
		status := lenient.Decode[struct {
			Status lenient.Str `json:"status"`
		}](raw).Status
		out = session.AppendListed(out, adapters.Listed{ID: name, Status: string(status)}, raw)
	}
	return out
}

// entriesOf reads commands, by their names, or sessions, by their ids.
func entriesOf(v jsontext.Value) (out []adapters.Listed) {
	for _, raw := range lenient.Decode[[]jsontext.Value](v) {
		e := lenient.Decode[struct {
			ID          lenient.Str `json:"id"`
			Title       lenient.Str `json:"title"`
			Name        lenient.Str `json:"name"`
			Description lenient.Str `json:"description"`
		}](raw)
		x := adapters.Listed{ID: string(e.ID), Title: string(e.Title)}
		if x.ID == "" {
			x = adapters.Listed{ID: string(e.Name), Title: string(e.Description)}
		}
		out = session.AppendListed(out, x, raw)
	}
	return out
}
