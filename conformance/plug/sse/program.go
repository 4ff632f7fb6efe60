package sse

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/plug"
)

// grace is how a sidecar is ended. A server does not read its stdin.
var grace = proc.Grace{Term: 10 * time.Second}

// startProgram starts the sidecar of a session, which finds the stand-in in its
// environment. It returns its address.
func (x *session) startProgram(ctx context.Context, o conformance.Open) (*plug.Process, string, error) {
	base, port, free, err := x.s.listenAddress()
	if err != nil {
		return nil, "", err
	}
	args := []string{}
	for _, a := range x.s.Command[1:] {
		args = append(args, strings.ReplaceAll(a, "{port}", port))
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Env = append(slices.Clip(o.Env), "PORT="+port)
	p, err := x.s.Start(ctx, o, "sidecar", args)
	if err != nil {
		free()
		return nil, "", err
	}
	p.Keep(p.Stdout())
	go p.Reap(p.Wait, free)
	return p, base, nil
}

// endProgram ends the sidecar if it was started here, and reports whether it
// ended before it had to be killed.
func (x *session) endProgram() bool {
	if x.Process == nil {
		return true
	}
	start := time.Now()
	proc.End(x.Process, grace)
	<-x.Process.Done
	return time.Since(start) < grace.Term
}

// hasEnded reports whether the sidecar has ended. It waits for a moment, because a
// connection is cut before the end of its process is noticed.
func (x *session) hasEnded() bool {
	return x.Process != nil && plug.WaitFor(context.Background(), x.Process.Done, endLimit)
}

// listenAddress returns the address at which a sidecar must listen. For port 0 it
// picks a free port, which no other sidecar is given until free is called.
func (s *Subject) listenAddress() (base, port string, free func(), err error) {
	u, err := s.parseURL()
	if err != nil {
		return "", "", nil, err
	}
	if port = u.Port(); port != "0" {
		conn, err := net.DialTimeout("tcp", u.Host, time.Second)
		if err == nil {
			_ = conn.Close()
			return "", "", nil, plug.Errorf("something listens at %s already", u.Host).
				Advise("end it, because the sidecar is started here; or give port 0, so that it gets a free one in PORT")
		}
		return u.String(), port, func() {}, nil
	}
	port, free, err = reservePort(u.Hostname())
	if err != nil {
		return "", "", nil, badURL(s.URL, err.Error())
	}
	u.Host = net.JoinHostPort(u.Hostname(), port)
	return u.String(), port, free, nil
}

func (s *Subject) parseURL() (*url.URL, error) {
	u, err := url.Parse(s.URL)
	switch {
	case err != nil:
		return nil, badURL(s.URL, "it is no URL")
	case s.OverSocket() && (u.Scheme == "ws" || u.Scheme == "wss"):
		u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1) // of the requests
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, badURL(s.URL, "it does not begin with http:// or ws://")
	}
	switch {
	case s.OverSocket() && (s.Dialect == nil || s.Dialect.Post != nil):
		return nil, plug.Errorf("%q: only the messages of a dialect with the routes of a sidecar are sent over WebSocket", s.URL).
			Advise("name one with --dialect, such as wsmessages; or give the address with http://")
	case u.Hostname() == "":
		return nil, badURL(s.URL, "it names no host")
	case len(s.Command) > 0 && u.Port() == "":
		return nil, badURL(s.URL, "it names no port, but a command starts the sidecar")
	case len(s.Command) == 0 && u.Port() == "0":
		return nil, badURL(s.URL, "port 0 needs a command that starts the sidecar")
	}
	return u, nil
}

func badURL(url, why string) *plug.Error {
	return plug.Errorf("%q is no address of a sidecar: %s", url, why).
		Advise("give one such as http://127.0.0.1:3000, or http://127.0.0.1:0 with a command after --: then it gets a free port in PORT")
}

// asError returns the *plug.Error in err, if there is one.
func asError(err error) (*plug.Error, bool) { return errors.AsType[*plug.Error](err) }
