package codex

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// listMethods are the requests for lists that come in pages.
var listMethods = map[adapters.List]string{
	adapters.ListModels:   "model/list",
	adapters.ListMCP:      "mcpServerStatus/list",
	adapters.ListSessions: "thread/list",
}

type pageParams struct {
	Cursor string `json:"cursor,omitempty"`
}

type accountParams struct {
	RefreshToken bool `json:"refreshToken"`
}

// listed is an entry of a list. Each list has some of the members.
type listed struct {
	ID          lenient.Str `json:"id"`
	DisplayName lenient.Str `json:"displayName"`   // of a model
	Name        lenient.Str `json:"name"`          // of a server or a thread
	Preview     lenient.Str `json:"preview"`       // of a thread: its first message
	Status      lenient.Str `json:"runtimeStatus"` // of a server

	Email lenient.Str `json:"email"` // of an account
	Type  lenient.Str `json:"type"`
}

// List implements adapters.Lister.
func (s liveSession) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	return session.List(ctx, s, func(done func([]adapters.Listed, error)) {
		method := listMethods[list]
		switch {
		case list == adapters.ListAccount:
			s.c.sendRequest("account/read", accountParams{}, func(r *result, err error) {
				if err != nil {
					done(nil, err)
					return
				}
				a := lenient.Decode[listed](r.Account)
				done(session.AppendListed(nil, adapters.Listed{ID: string(cmp.Or(a.Email, a.Type))}, r.Account), nil)
			})
		case method == "":
			done(nil, session.UnsupportedList(list))
		default:
			s.c.listPage(method, "", nil, done)
		}
	})
}

// listPage requests a page of a list, and those after it. After a revert the runtime lists a
// thread twice.
func (c *client) listPage(method, cursor string, list []adapters.Listed, done func([]adapters.Listed, error)) {
	c.sendRequest(method, pageParams{cursor}, func(r *result, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		for _, raw := range lenient.Decode[[]jsontext.Value](r.Data) {
			e := lenient.Decode[listed](raw)
			x := adapters.Listed{ID: string(e.ID), Title: string(cmp.Or(e.DisplayName, e.Name, e.Preview)), Status: string(e.Status)}
			if method == listMethods[adapters.ListMCP] {
				x.ID, x.Title = string(e.Name), ""
			}
			list = session.AppendListed(list, x, raw)
		}
		if r.Next == "" || string(r.Next) == cursor {
			done(list, nil)
			return
		}
		c.listPage(method, string(r.Next), list, done)
	})
}
