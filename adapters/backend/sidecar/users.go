package sidecar

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/op"
)

// Users are the names of the users of a server and the hashes of their tokens. They may be loaded
// again while it serves. The zero value has no users.
type Users struct {
	mu     sync.Mutex
	tokens []userToken
}

// userToken is a token of a user.
type userToken struct {
	name string
	hash [sha256.Size]byte
	held context.Context // done when the token is removed
	drop context.CancelFunc
}

// hold makes the token hold until it is dropped.
func (t *userToken) hold() { t.held, t.drop = context.WithCancel(context.Background()) }

// hashPrefix begins the hash of a token.
const hashPrefix = "sha256:"

// nameBytes is the largest length of a user's name.
const nameBytes = 100

// Load replaces the users by those of a text with a line for each token: the name of a user, and
// sha256: with the hash of the token in hexadecimal digits. Empty lines and those that begin with # count for
// nothing. A user may have several tokens. The requests and streams of a token that is removed end.
// If a line is wrong, Load changes nothing, and its error has no part of a token.
func (u *Users) Load(text []byte) error {
	loaded, err := parseUsers(text)
	if err != nil {
		return err
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, old := range u.tokens {
		keep := false
		for i := range loaded {
			if loaded[i].name == old.name && loaded[i].hash == old.hash {
				loaded[i], keep = old, true
			}
		}
		if !keep {
			old.drop()
		}
	}
	for i := range loaded {
		if loaded[i].held == nil {
			loaded[i].hold()
		}
	}
	u.tokens = loaded
	return nil
}

// Len returns how many tokens there are.
func (u *Users) Len() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.tokens)
}

func parseUsers(text []byte) (out []userToken, err error) {
	seen := map[[sha256.Size]byte]bool{}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("line %d: want a name and the hash of a token", n)
		}
		t := userToken{name: words[0]}
		if !utf8.ValidString(t.name) || len(t.name) > nameBytes || strings.ContainsFunc(t.name, unicode.IsControl) || strings.HasPrefix(t.name, hashPrefix) {
			return nil, fmt.Errorf("line %d: the first word must be a name of at most %d bytes", n, nameBytes)
		}
		digits, is := strings.CutPrefix(words[1], hashPrefix)
		if size, err := hex.Decode(t.hash[:], []byte(digits[:min(len(digits), 2*sha256.Size)])); !is || err != nil || size != sha256.Size || len(digits) != 2*sha256.Size {
			return nil, fmt.Errorf("line %d: the second word must be %s and the 64 digits that `printf %%s \"$TOKEN\" | sha256sum` prints", n, hashPrefix)
		}
		if seen[t.hash] {
			return nil, fmt.Errorf("line %d: another line has the same token", n)
		}
		seen[t.hash] = true
		out = append(out, t)
	}
	return out, nil
}

// find returns the user's token that a request presents. Its time does not depend on which one it is.
func (u *Users) find(given [sha256.Size]byte) (found userToken, is bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, t := range u.tokens {
		if subtle.ConstantTimeCompare(t.hash[:], given[:]) == 1 {
			found, is = t, true
		}
	}
	return found, is
}

// caller is who sent a request, or the owner of the session whose agent asks for something.
type caller struct {
	name string
	all  bool // uses the sessions of everybody
}

// uses reports whether the caller may use the sessions of an owner.
func (c caller) uses(owner string) bool { return c.all || c.name == owner }

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// callerOf returns who sent a request. What the server does by itself, it does for everybody.
func callerOf(ctx context.Context) caller {
	if c, is := ctx.Value(callerKey{}).(caller); is {
		return c
	}
	return caller{all: true}
}

// tokenOf returns the token that a request presents, or "".
func tokenOf(r *http.Request) string {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return given
	}
	if c, err := r.Cookie(tokenCookie); err == nil {
		return c.Value
	}
	return ""
}

// authorize returns the caller of a request, and a context that is done when its token is removed. It
// returns false if the request presents no token of this server.
func (s *Server) authorize(r *http.Request) (caller, context.Context, bool) {
	if s.c.Token == "" && s.c.Users == nil {
		return caller{all: true}, context.Background(), true
	}
	given := sha256.Sum256([]byte(tokenOf(r)))
	own := sha256.Sum256([]byte(s.c.Token))
	if subtle.ConstantTimeCompare(given[:], own[:]) == 1 && s.c.Token != "" {
		return caller{all: true}, context.Background(), true
	}
	if s.c.Users != nil {
		if t, is := s.c.Users.find(given); is {
			return caller{name: t.name}, t.held, true
		}
	}
	return caller{}, nil, false
}

// ownersOnly refuses requests for a session that belongs to somebody else, as those for one that
// does not exist. It applies to each route whose pattern has the id of a session.
func (s *Server) ownersOnly(pattern string, serve func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	if !strings.Contains(pattern, "{id}") {
		return serve
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		err := s.checkOwner(r.Context(), r.PathValue("id"))
		switch {
		case err == nil:
			return serve(w, r)
		case pattern == "GET "+routeRejoin && errors.Is(err, eventlog.ErrUnknownSession):
			w.WriteHeader(http.StatusNoContent) // as for a chat without a turn
			return nil
		}
		return err
	}
}

// checkOwner returns nil if the caller may use a session, and eventlog.ErrUnknownSession if it
// belongs to somebody else or does not exist.
func (s *Server) checkOwner(ctx context.Context, id string) error {
	c := callerOf(ctx)
	if c.all {
		return nil
	}
	owner, err := s.ownerOf(ctx, id)
	if err == nil && !c.uses(owner) {
		return eventlog.ErrUnknownSession
	}
	return err
}

// ownerOf returns the owner of a session, "" if it has none.
func (s *Server) ownerOf(ctx context.Context, id string) (string, error) {
	s.mu.Lock()
	if h := s.hosted[id]; h != nil && h.owned {
		defer s.mu.Unlock()
		return h.owner, nil
	}
	s.mu.Unlock()
	return s.c.Log.Owner(ctx, id)
}

// setOwner notes the owner of a session that is being opened, which the log holds.
func (s *Server) setOwner(h *hosted, owner string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.owner, h.owned = owner, true
}

// refuseTaken returns the refusal to open a session under the id of another one.
func refuseTaken(id string) *RefusalError {
	return refuse(http.StatusConflict, CodeExists, "session %q exists: choose another id", id)
}

// ownSessions returns the stored sessions that the caller may use, and the owner of each session.
func (s *Server) ownSessions(ctx context.Context) (own []eventlog.Info, owners map[string]string, err error) {
	infos, err := s.c.Log.Sessions(ctx)
	if err != nil {
		return nil, nil, err
	}
	if owners, err = s.c.Log.Owners(ctx); err != nil {
		return nil, nil, err
	}
	for _, info := range infos {
		if callerOf(ctx).uses(owners[info.SessionID]) {
			own = append(own, info)
		}
	}
	return own, owners, nil
}

// ownProviders returns the runtimes' own ids of the caller's sessions.
func (s *Server) ownProviders(ctx context.Context) (map[string]bool, error) {
	own, _, err := s.ownSessions(ctx)
	out := map[string]bool{}
	for _, info := range own {
		out[info.ProviderSessionID] = true
	}
	return out, err
}

// checkProvider returns eventlog.ErrUnknownSession if the runtime's session that a request names is
// not one of the caller's: the runtime would give its history to anybody.
func (s *Server) checkProvider(ctx context.Context, provider string) error {
	if callerOf(ctx).all || provider == "" {
		return nil
	}
	own, err := s.ownProviders(ctx)
	if err == nil && !own[provider] {
		return eventlog.ErrUnknownSession
	}
	return err
}

// ownListed returns the result of the operation list without the sessions of others.
func (s *Server) ownListed(ctx context.Context, c op.Call, result any) (any, error) {
	list, is := result.([]adapters.Listed)
	if callerOf(ctx).all || c.Do != op.List.Name || c.List != string(adapters.ListSessions) {
		return result, nil
	}
	if !is {
		return nil, fmt.Errorf("%w: this list cannot be cut to the sessions of one user", adapters.ErrUnsupported)
	}
	own, err := s.ownProviders(ctx)
	out := []adapters.Listed{}
	for _, l := range list {
		if own[l.ID] {
			out = append(out, l)
		}
	}
	return out, err
}
