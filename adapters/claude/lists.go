package claude

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/internal/lenient"
	"github.com/turnspec/turnspec/adapters/internal/session"
)

// listed is an entry of a list of the runtime. Each list has some of the members.
type listed struct {
	Value       lenient.Str `json:"value"` // of a model
	DisplayName lenient.Str `json:"displayName"`
	Name        lenient.Str `json:"name"` // of a command or a server
	Description lenient.Str `json:"description"`
	Status      lenient.Str `json:"status"`
}

// account is whom the runtime works for. The runtime reports that it has no account by a
// token source of none, and then where it found a key.
type account struct {
	Email        lenient.Str `json:"email"`
	TokenSource  lenient.Str `json:"tokenSource"`
	APIKeySource lenient.Str `json:"apiKeySource"`
}

// List implements adapters.Lister. The handshake holds all lists but that of the servers,
// which change: for the others there is no request that each version has.
func (s liveSession) List(ctx context.Context, list adapters.List) ([]adapters.Listed, error) {
	return session.List(ctx, s, func(done func([]adapters.Listed, error)) {
		switch list {
		case adapters.ListModels:
			done(entries(s.p.offers.models), nil)
		case adapters.ListCommands:
			done(entries(s.p.offers.commands), nil)
		case adapters.ListAccount:
			done(accountOf(s.p.offers.account), nil)
		case adapters.ListMCP:
			s.p.sendRequest(controlBody{Subtype: "mcp_status"}, func(r *reply, err error) {
				if err = replyError("mcp", r, err); err != nil {
					done(nil, err)
					return
				}
				done(entries(r.Response.Servers), nil)
			})
		default:
			done(nil, session.UnsupportedList(list))
		}
	})
}

// entries reads the entries of a list.
func entries(v jsontext.Value) (out []adapters.Listed) {
	var raws []jsontext.Value
	if json.Unmarshal(v, &raws, lenient.Options) != nil {
		return nil
	}
	for _, raw := range raws {
		var e listed
		if json.Unmarshal(raw, &e, lenient.Options) != nil {
			continue
		}
		out = session.AppendListed(out, adapters.Listed{
			ID: string(cmp.Or(e.Value, e.Name)), Title: string(cmp.Or(e.DisplayName, e.Description)), Status: string(e.Status),
		}, raw)
	}
	return out
}

func accountOf(v jsontext.Value) []adapters.Listed {
	var a account
	if json.Unmarshal(v, &a, lenient.Options) != nil {
		return nil
	}
	id := a.Email
	for _, source := range []lenient.Str{a.TokenSource, a.APIKeySource} {
		if id == "" && source != "none" {
			id = source
		}
	}
	return session.AppendListed(nil, adapters.Listed{ID: string(id)}, v)
}
