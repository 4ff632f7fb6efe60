package sidecar

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// tokenCookie is the cookie that holds the token for pages, whose EventSource cannot
// set a header.
const tokenCookie = "turnspec_token"

// guard rejects requests that do not come from a client of this server, and limits
// the size and the time of their bodies.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if !s.knownHost(r.Host) {
			hangUp(w)
			answerError(w, refuse(http.StatusForbidden, CodeForbidden, "the server is not known as %q: allow the host if it should be", r.Host))
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !s.knownOrigin(origin, r.Host) {
			hangUp(w)
			answerError(w, refuse(http.StatusForbidden, CodeForbidden, "pages of %q may not use this server: allow the origin if they should", origin))
			return
		} else if origin != "" {
			allowOrigin(w.Header(), origin)
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				w.WriteHeader(http.StatusNoContent) // a browser asks before it sends the request with the token
				return
			}
		}
		// The page holds nothing of a session: it asks for the token.
		from, held, authorized := s.authorize(r)
		if r.URL.Path != "/" && !authorized {
			w.Header().Set("WWW-Authenticate", "Bearer")
			hangUp(w)
			answerError(w, refuse(http.StatusUnauthorized, CodeUnauthorized, "send the token of this server: Authorization: Bearer TOKEN"))
			return
		}
		if authorized {
			authorizeConnection(r.Context())
			ctx, cancel := context.WithCancel(withCaller(r.Context(), from))
			defer cancel()
			defer context.AfterFunc(held, cancel)()
			r = r.WithContext(ctx)
		}
		limit := s.c.MaxBody
		if r.URL.Path == routeChat || r.URL.Path == routeAGUI {
			limit *= chatBodies
		}
		r.Body = http.MaxBytesReader(w, limitBody(w, r.Body, s.c.BodyTimeout), limit)
		next.ServeHTTP(w, r)
	})
}

// allowOrigin lets a browser hand the answer to a page of the origin. The page sends the token in the
// header Authorization: cookies of this server are not for it.
func allowOrigin(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, User-Agent")
	h.Set("Access-Control-Expose-Headers", "*")
	h.Set("Access-Control-Max-Age", "600")
}

// knownHost reports whether the Host of a request names this server. A page whose
// name was made to resolve to loopback has another one.
func (s *Server) knownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.c.Hosts, func(h string) bool { return strings.EqualFold(h, name) || strings.EqualFold(h, host) })
}

// knownOrigin reports whether a page of the origin may use the server at host.
func (s *Server) knownOrigin(origin, host string) bool {
	if slices.Contains(s.c.Origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, host)
}
