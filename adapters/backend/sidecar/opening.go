package sidecar

import (
	"cmp"
	"crypto/rand"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/op"
)

// opening is the body of a request that opens a session.
type opening struct {
	SessionID string         `json:"session_id"`
	Runtime   string         `json:"runtime"`
	Provider  string         `json:"provider_session_id"`
	After     event.Position `json:"after"`
	Params    struct {
		op.Opening
		WorkingDir     string         `json:"workingDir"`
		PermissionMode string         `json:"permissionMode"`
		TranscriptOf   string         `json:"transcriptOf"` // a session of the log that the new one continues
		ToolPreset     string         `json:"toolPreset"`
		Policy         jsontext.Value `json:"policy"`
		Components     jsontext.Value `json:"components"`
		Tools          []clientTool   `json:"tools"`
		Hooks          []clientHook   `json:"hooks"`
		Schema         jsontext.Value `json:"schema"`
		MCPServers     []struct {
			Name    string            `json:"name"`
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
			Type    string            `json:"type"` // http or sse, of a server with a URL
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		} `json:"mcpServers"`
		Limits struct {
			Start int64 `json:"start_ms"`
			Stop  int64 `json:"stop_ms"`
			Stall int64 `json:"stall_ms"`
		} `json:"limits"`
		Heartbeat int64 `json:"heartbeat_ms"`
	} `json:"params"`

	judge adapters.Judge // of params.policy, or of the session whose agent asks for this one
	owner string
}

// modes are the modes of adapters by the names that clients use.
var modes = map[string]string{
	"default": adapters.ModeAsk, "acceptEdits": adapters.ModeAcceptEdits, "plan": adapters.ModePlan,
	"dontAsk": adapters.ModeDontAsk, "bypassPermissions": adapters.ModeNever,
}

// elsewhere are the options of Go's sessions that params does not take, and what takes their place.
var elsewhere = map[string]string{
	"session_id": "it stands beside params", "resume": "use provider_session_id beside params", "dir": "use workingDir", "mode": "use permissionMode",
	"command": "who starts the server chooses the program", "args": "who starts the server chooses the arguments",
}

// abilities returns what the server does, and those operations, options of params and other abilities that
// all its runtimes have. An option that each adapter has, such as model, has its own name.
func (s *Server) abilities() []string {
	out := []string{"answer", "question", "attach", "limits", "cursor", "once", "guard", "heartbeat", "media"}
	all := func(has func(adapters.Capabilities) bool) bool {
		for _, a := range s.c.Adapters {
			if !has(a.Capabilities()) {
				return false
			}
		}
		return true
	}
	add := func(can string) {
		if !slices.Contains(out, can) && all(func(c adapters.Capabilities) bool { return c.Can.Names(can) }) {
			out = append(out, can)
		}
	}
	if all(func(c adapters.Capabilities) bool { return c.Priority }) {
		out = append(out, "priority")
	}
	for _, o := range op.All() {
		add(o.Name)
	}
	for _, o := range op.Options(reflect.TypeFor[op.Opening]()) {
		if _, is := elsewhere[o.Name]; is || o.With != "" {
			continue
		}
		if o.Can == "" {
			out = append(out, o.Name)
		} else {
			add(o.Can)
		}
	}
	add("mcp")
	add("schema")
	add("tools")
	add("hooks")
	if slices.Contains(out, "tools") {
		out = append(out, "components")
	}
	return out
}

// mostTurn is the highest turn from which a client lets a session count on.
const mostTurn = 1_000_000

// check refuses what params does not take.
func (b *opening) check(c Config) error {
	if _, known := c.Presets[b.Params.ToolPreset]; !known && b.Params.ToolPreset != "" {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body: params.toolPreset is %q: use one of %s", b.Params.ToolPreset, strings.Join(slices.Sorted(maps.Keys(c.Presets)), ", "))
	}
	if b.Params.Policy != nil {
		if c.ReadPolicy == nil {
			return refuse(http.StatusNotImplemented, CodeUnsupported, "params.policy: this server reads no policies")
		}
		var err error
		if b.judge, err = c.ReadPolicy(b.Params.Policy); err != nil {
			return refuse(http.StatusBadRequest, CodeInvalid, "the body: params.policy: %v", err)
		}
	}
	given := reflect.ValueOf(b.Params.Opening)
	for _, f := range reflect.VisibleFields(given.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if why, is := elsewhere[name]; is && !given.FieldByIndex(f.Index).IsZero() {
			return refuse(http.StatusBadRequest, CodeInvalid, "the body: params.%s: %s", name, why)
		}
	}
	if b.After.Turn < 0 || b.After.Turn > mostTurn {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body: after.turn is %d: it must be from 0 to %d", b.After.Turn, mostTurn)
	}
	if b.Params.Fork && b.Provider == "" {
		return refuse(http.StatusBadRequest, CodeInvalid, "the body: params.fork needs provider_session_id, the session whose history the new one begins with")
	}
	return nil
}

// options returns the options of the session that the body asks for.
func (b *opening) options(c Config) adapters.Options {
	o, p := c.Base, b.Params
	given, merged := reflect.ValueOf(p.Opening), reflect.ValueOf(&o.Opening).Elem()
	for i := range given.NumField() {
		if f := given.Field(i); !f.IsZero() {
			merged.Field(i).Set(f)
		}
	}
	o.Judge = o.Judge.And(c.Presets[p.ToolPreset]).And(b.judge)
	if p.Schema != nil {
		o.Schema = p.Schema
	}
	o.SessionID, o.Resume, o.After = b.SessionID, b.Provider, b.After
	o.Dir = cmp.Or(p.WorkingDir, o.Dir)
	o.Mode = cmp.Or(modes[p.PermissionMode], p.PermissionMode, o.Mode)
	o.MCP = slices.Clone(o.MCP)
	for _, m := range p.MCPServers {
		o.MCP = append(o.MCP, adapters.MCPServer{Name: m.Name, Command: m.Command, Args: m.Args, Env: m.Env, URL: m.URL, SSE: m.Type == "sse", Headers: m.Headers})
	}
	ms := func(d *time.Duration, n int64) {
		if n > 0 {
			*d = time.Duration(n) * time.Millisecond
		}
	}
	ms(&o.Limits.Handshake, p.Limits.Start)
	ms(&o.Limits.Stop, p.Limits.Stop)
	ms(&o.Limits.Idle, p.Limits.Stall/2)
	ms(&o.Limits.Request, p.Limits.Stall/2)
	return o
}

// shortestHeartbeat is the shortest time between comments that a client can ask for.
const shortestHeartbeat = 20 * time.Millisecond

// heartbeat returns how often the streams of the session have a comment: as often as the
// server is configured for, or more often if the client asks for that, because a proxy of
// its cuts connections sooner.
func (b *opening) heartbeat(configured time.Duration) time.Duration {
	if b.Params.Heartbeat <= 0 {
		return configured
	}
	return min(configured, max(time.Duration(b.Params.Heartbeat)*time.Millisecond, shortestHeartbeat))
}

// checkID returns an error if the name cannot be that of a session.
func checkID(id string) error {
	if id == "" || id == "." || id == ".." || len(id) > 200 || strings.ContainsFunc(id, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return refuse(http.StatusBadRequest, CodeInvalid, "a session_id has 1 to 200 bytes and no control characters, and is not . or ..")
	}
	return nil
}

func (s *Server) create(w http.ResponseWriter, r *http.Request) error {
	var b opening
	if err := readBody(r, &b); err != nil {
		return err
	}
	b.SessionID = cmp.Or(b.SessionID, rand.Text())
	if err := cmp.Or(checkID(b.SessionID), b.check(s.c)); err != nil {
		return err
	}
	defer s.releaseUnlessHosted(b.SessionID)
	if err := s.prepareNew(r.Context(), &b); err != nil {
		return err
	}
	return s.openSession(w, r, &b)
}

func (s *Server) resume(w http.ResponseWriter, r *http.Request) error {
	var b opening
	if err := readBody(r, &b); err != nil {
		return err
	}
	b.SessionID = r.PathValue("id")
	if err := b.check(s.c); err != nil {
		return err
	}
	defer s.releaseUnlessHosted(b.SessionID)
	if err := s.prepareResumed(r.Context(), &b); err != nil {
		return err
	}
	return s.openSession(w, r, &b)
}

// openSession opens a session, or answers that it runs already.
func (s *Server) openSession(w http.ResponseWriter, r *http.Request, b *opening) error {
	h, repeated, err := s.openOnce(r.Context(), b)
	switch {
	case err != nil:
		return err
	case repeated:
		answer(w, http.StatusOK, map[string]any{"id": h.id, "repeated": true})
	default:
		answer(w, http.StatusCreated, map[string]any{"id": h.id, "last_seq": h.from})
	}
	return nil
}
