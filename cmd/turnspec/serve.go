package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/exchange"
	"github.com/turnspec/turnspec/adapters/backend/policy"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/adapters/reference"
	"github.com/turnspec/turnspec/recorder/tap"
)

// envToken is the variable that holds the token of a server.
const envToken = "TURNSPEC_TOKEN"

// serveFlags are the flags of serve.
type serveFlags struct {
	runtimes, hosts, origins []string
	env                      []string
	caseID, listen, log, dir string
	url, tap, tokens         string
	recovery                 string
	lease, idleAfter         time.Duration
	speed                    float64
	noToken, agents, durable bool
	tools                    toolFlags
	session                  sessionFlags
	agentFiles               string
	projectServers           bool
}

func serveCmd() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve sessions over HTTP and server-sent events",
		Long: `Serve opens sessions on runtimes and serves them over HTTP: clients post messages,
answers and stops, and listen to the events as server-sent events, or to the messages of
a front end's vocabulary, also over a WebSocket. Events are stored in a log, so
listeners may come back and continue after the last event that they received.
At / is a chat page for a browser: open the address that serve prints.

Without --runtime it serves a demo: each session replays a recorded case, without a key
or a network. Whatever message is sent, the recorded one is; an answer that differs from the
recorded one, and a further message, are refused.

With --agents, the agent of a session can ask that of another: it calls a tool with the name
of a runtime or the id of a session, and receives the answer as a message. Both sessions are
served as any other; ` + "`go doc github.com/turnspec/turnspec/adapters/backend/exchange`" + ` says more.

It listens on loopback, at the port in PORT if that is set. Requests must present a
token: the one in ` + envToken + `, or else a new one, which serve prints. SIGTERM, SIGINT and
SIGHUP end all sessions gently; a second one ends the program at once.

--tokens names a file of users, with a line for each token: a name, and the hash of the token.
A user sees and uses only the sessions that it has opened; for others they do not exist. The
file is read again within a second of a change: then the requests and streams of a
removed token end, and its user's sessions run on. If ` + envToken + ` is set too, it
opens the sessions of everybody. A line is made so:

  token=$(openssl rand -hex 24)
  echo "alice sha256:$(printf %s "$token" | sha256sum | cut -c1-64)" >> /etc/turnspec/tokens

Users are kept apart by the routes only: their agents run as the user of the operating
system who runs serve, with that user's files. Let it not write the file of the users.

Runtimes inherit the environment, except what configures Turnspec or its log: variables
whose names begin with TURNSPEC_ or PG, and PORT. --env NAME lets them inherit one of these.

--model, --effort, --instructions-file, --mcp-servers-file and the like are the options of sessions
whose request names none. --agent-files and --project-servers prepare the folder of a session.

--policy and --tool-preset bound the tools of all sessions. A request may bound those of its
session further, with params.toolPreset. What a runtime does without asking is listed by
` + "`turnspec policy enforce`" + `.

One server runs the sessions of a log in a file; a second one is refused, unless both have
--recover leave: then each leaves alone the sessions that it did not open. Several servers
may share a log in PostgreSQL or NATS JetStream, in programs of a release and in builds with
the tag databases. Each serves the history
and the events of all sessions; a request to the runtime of a session that another server
runs is refused with the code "elsewhere" and that server's --url. If a server is killed,
another ends its sessions, or resumes them, within one and a half times --lease.

` + "`go doc github.com/turnspec/turnspec/adapters/backend/sidecar`" + ` lists the routes.

Exit codes: 0 ended by a signal, 2 it cannot serve.`,
		Example: `  turnspec serve
  turnspec serve --case codex/newest/permission/allow
  turnspec serve --runtime claude --runtime codex --agents --log chats.db --dir ~/project
  turnspec serve --runtime claude --policy policy.yaml
  turnspec serve --runtime claude --instructions-file house-rules.md --agent-files templates --project-servers
  turnspec serve --runtime claude --tokens /etc/turnspec/tokens
  turnspec serve --runtime claude --log postgres://turnspec@db.example/chats --url https://node7.example`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.runtimes, "runtime", nil, "a runtime to serve, which must be installed (may be repeated; default: a demo)")
	fl.StringVar(&f.caseID, "case", "", "the case that a demo replays (default: claude/newest/permission/allow)")
	fl.Float64Var(&f.speed, "speed", 1, "the speed of a demo: 2 halves the recorded pauses")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:4141", "address to listen at")
	fl.StringVar(&f.log, "log", "", "event log: a file, postgres://USER@HOST/DATABASE, or nats://HOST (default: turnspec.db; a demo keeps events in memory)")
	fl.StringVar(&f.url, "url", "", "where clients reach this server, named to those who ask another one (default: the address)")
	fl.DurationVar(&f.lease, "lease", 10*time.Second, "how long a server that shares its log may stall before another takes over its sessions")
	fl.DurationVar(&f.idleAfter, "idle-after", 0, "how long a session may be unused until its runtime is ended; the next message resumes it (default: never)")
	fl.StringVar(&f.dir, "dir", "", "working directory of sessions that name none (default: the current one)")
	fl.StringArrayVar(&f.hosts, "host", nil, "a name by which clients reach the server, besides localhost (may be repeated)")
	fl.StringArrayVar(&f.env, "env", nil, "a variable that runtimes inherit although its name begins with TURNSPEC_ or PG, or is PORT (may be repeated)")
	fl.StringArrayVar(&f.origins, "origin", nil, "an origin whose pages may use the server, such as https://chat.example (may be repeated)")
	fl.StringVar(&f.recovery, "recover", string(sidecar.RecoverClose), "sessions that a killed server left behind: close, resume, or leave")
	fl.BoolVar(&f.durable, "durable", false, "flush each event to the disk before clients receive it (default: soon after, so that a power failure may lose those of the last second)")
	fl.BoolVar(&f.noToken, "no-token", false, "demand no token: any program of this machine may then use the runtimes")
	fl.StringVar(&f.tokens, "tokens", "", "a file of users, each with a token and sessions of its own")
	fl.BoolVar(&f.agents, "agents", false, "let agents send messages to each other with the tool agents_message")
	fl.StringVar(&f.agentFiles, "agent-files", "", "a folder with definitions of sub-agents, in a folder for each runtime (claude, codex), which are copied into the folder of a session")
	fl.BoolVar(&f.projectServers, "project-servers", false, "start the MCP servers in .mcp.json of the folder of a session")
	f.session.register(cmd, "")
	f.tools.register(cmd)
	tapFlag(cmd, &f.tap)
	_ = cmd.RegisterFlagCompletionFunc("runtime", complete(reference.Names))
	_ = cmd.RegisterFlagCompletionFunc("case", complete(caseIDs))
	_ = cmd.RegisterFlagCompletionFunc("recover", cobra.FixedCompletions([]string{string(sidecar.RecoverClose), string(sidecar.RecoverResume), recoverLeave}, cobra.ShellCompDirectiveNoFileComp))
	cmd.MarkFlagsMutuallyExclusive("runtime", "case")
	cmd.MarkFlagsMutuallyExclusive("tokens", "no-token")
	return cmd
}

func serve(cmd *cobra.Command, f serveFlags) (err error) {
	ctx, stop := signal.NotifyContext(cmd.Context(), endingSignals()...)
	context.AfterFunc(ctx, stop) // a second one ends the program at once
	defer stop()
	if err := hideProcess(); err != nil {
		return err
	}
	c := sidecar.Config{Hosts: f.hosts, Origins: f.origins, IdleAfter: f.idleAfter}
	if err := f.prepareSessions(&c); err != nil {
		return err
	}
	c.Base.Dir, c.Base.Env = f.dir, f.environment()
	if c.Base.Judge, err = f.tools.judge(); err != nil {
		return err
	}
	c.Presets = map[string]adapters.Judge{}
	for _, p := range policy.Presets() {
		c.Presets[string(p)] = judgeOf(p)
	}
	c.ReadPolicy = f.tools.read
	if f.agents {
		c.Agents = &exchange.Config{}
	}
	switch {
	case f.tokens != "":
		file, err := openUsers(f.tokens)
		if err != nil {
			return fmt.Errorf("--tokens: %w", err)
		}
		c.Users, c.Token = &file.users, os.Getenv(envToken)
		go file.reloadOnChange(ctx, cmd.ErrOrStderr())
	case !f.noToken:
		c.Token = cmp.Or(os.Getenv(envToken), rand.Text())
	}
	taps := tapsInto(f.tap, cmd.ErrOrStderr())
	defer taps.Wait()
	if c.Adapters, err = f.adapters(taps); err != nil {
		return err
	}
	log, leases, where, err := f.openLog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	c.Log = window.Keep(log)
	c.MediaFailed = func(session string, m event.Media, err error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "turnspec: session %s: the %s of %d bytes is not stored: %v\n", session, m.Kind, m.Size, err)
	}
	c.LogFailed = func(session string, err error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "turnspec: session %s ends, because its events are not stored: %v\n", session, err)
	}
	c.LogFull = func(err error) {
		if err == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "turnspec: the log has room again")
			return
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "turnspec: the log is full, so new sessions and messages are refused: %v\n", err)
	}
	c.LogUnavailable = func(err error) { fmt.Fprintf(cmd.ErrOrStderr(), "turnspec: a request is refused: %v\n", err) }
	s := sidecar.New(c)
	l, err := net.Listen("tcp", f.address())
	if err != nil {
		return fmt.Errorf("%w: choose another address with --listen", err)
	}
	address := "http://" + l.Addr().String()
	if file, ok := log.(*sqlite.Log); ok {
		own := file.Own
		if f.recovery == recoverLeave {
			own = file.Share
		}
		if err := own(cmp.Or(f.url, address)); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	if err := f.takeSessions(ctx, cmd.ErrOrStderr(), s, leases, address); err != nil {
		return errors.Join(err, l.Close())
	}
	printServed(cmd.OutOrStdout(), address, c, where, len(f.runtimes) == 0)
	return s.Serve(ctx, l)
}

// prepareSessions sets the options of each session, and what is done before one opens. A demo needs neither.
func (f serveFlags) prepareSessions(c *sidecar.Config) (err error) {
	if len(f.runtimes) == 0 {
		return nil
	}
	if c.Base, err = f.session.options(); err != nil {
		return err
	}
	if f.agentFiles != "" {
		if _, err := os.Stat(f.agentFiles); err != nil {
			return fmt.Errorf("--agent-files: %w", err)
		}
	}
	c.Prepare = func(runtime string, o *adapters.Options) error {
		if f.projectServers {
			if err := withProjectServers(o); err != nil {
				return err
			}
		}
		if f.agentFiles == "" {
			return nil
		}
		return copyAgents(f.agentFiles, runtime, cmp.Or(o.Dir, "."))
	}
	return nil
}

// environment returns the environment of the runtimes.
func (f serveFlags) environment() []string {
	env := proc.Environ(nil)
	for _, name := range f.env {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// address returns where to listen. PORT is set by those who start many servers.
func (f serveFlags) address() string {
	if port := os.Getenv("PORT"); port != "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return f.listen
}

// adapters returns the adapters of the runtimes, or of a demo.
func (f serveFlags) adapters(taps *tap.Folder) (out map[string]adapters.Adapter, err error) {
	out = map[string]adapters.Adapter{}
	for _, name := range f.runtimes {
		a := reference.Of(name)
		if a == nil {
			return nil, fmt.Errorf("no runtime %q: use one of %s", name, strings.Join(reference.Names(), ", "))
		}
		if out[name], err = tapped(a, taps); err != nil {
			return nil, err
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	demo, err := newReplayed(cmp.Or(f.caseID, "claude/newest/permission/allow"), strconv.FormatFloat(f.speed, 'g', -1, 64))
	if err != nil {
		return nil, err
	}
	demo.exact = true
	out[demo.Capabilities().Runtime], err = tapped(demo, taps)
	return out, err
}

// printServed prints where the server listens and how to try it.
func printServed(w io.Writer, base string, c sidecar.Config, log string, demo bool) {
	auth := ""
	switch {
	case c.Token != "":
		auth = fmt.Sprintf(" -H 'Authorization: Bearer %s'", c.Token)
	case c.Users != nil:
		auth = ` -H "Authorization: Bearer $TOKEN"`
	}
	fmt.Fprintf(w, "listening at %s, events %s\n", base, log)
	fragment := ""
	if c.Token != "" {
		fragment = "#token=" + url.QueryEscape(c.Token) // browsers do not send it
	}
	fmt.Fprintf(w, "\n  chat: %s/%s\n", base, fragment)
	text := "hello"
	if demo {
		text = "anything: the demo sends the recorded message"
	}
	fmt.Fprintf(w, `
  curl%[2]s %[1]s/sessions -d '{"session_id":"s1"}'
  curl%[2]s %[1]s/sessions/s1/message -d '{"message":"%[3]s"}'
  curl%[2]s -N %[1]s/sessions/s1/events

`, base, auth, text)
}
