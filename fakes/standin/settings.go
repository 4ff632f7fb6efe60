package standin

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// Setting is one thing that a client may choose for a session, as it stood when
// a message was sent or a session was opened.
type Setting struct {
	Process  int
	Name     string             // one of the names below
	Recorded string             // what the recording's client had chosen; "": nothing
	Subject  string             // what this one has chosen; "": nothing
	Line     *fixtures.WireLine // the recorded line, or nil for a launch
}

// The names of settings.
const (
	SettingOpen    = "opening" // which session is opened, and how
	SettingDir     = "working directory"
	SettingModel   = "model"
	SettingAsks    = "permission mode"    // what the runtime asks: permission mode, approval policy
	SettingSandbox = "sandbox"            // codex
	SettingPlans   = "collaboration mode" // codex
	SettingSchema  = "schema"             // of the final answer
	SettingHooks   = "hooks"              // claude: events, matchers, limits
)

// settings are what a client has chosen for a session. "" is what it has not
// chosen.
type settings struct{ dir, model, asks, sandbox, plans, schema, hooks string }

// over are the settings with what a later request changes.
func (s settings) over(later settings) settings {
	return settings{
		cmp.Or(later.dir, s.dir), cmp.Or(later.model, s.model), cmp.Or(later.asks, s.asks), cmp.Or(later.sandbox, s.sandbox),
		cmp.Or(later.plans, s.plans), cmp.Or(later.schema, s.schema), cmp.Or(later.hooks, s.hooks),
	}
}

func (s settings) each(do func(name, value string)) {
	do(SettingDir, s.dir)
	do(SettingModel, s.model)
	do(SettingAsks, s.asks)
	do(SettingSandbox, s.sandbox)
	do(SettingPlans, s.plans)
	do(SettingSchema, s.schema)
	do(SettingHooks, s.hooks)
}

// noSchema is what a message says that comes without a schema.
const noSchema = "none"

// canonical is a JSON value in its one form; "" for none.
func canonical(v jsontext.Value) string {
	if len(v) == 0 || v.Kind() == 'n' {
		return ""
	}
	v = v.Clone()
	_ = v.Canonicalize() // what is no JSON stays as it is
	return string(v)
}

// choose keeps what the recording's client had chosen at each of its messages. A
// request that the runtime refused has changed nothing.
func (s *script) choose() {
	now := make([]settings, len(s.processes))
	for i := range s.lines {
		l := &s.lines[i]
		at := &now[l.w.Process]
		switch l.w.Dir {
		case fixtures.Spawn:
			*at = s.dialect.started(l.w.Argv, nil)
			if _, codex := s.dialect.(codexDialect); codex {
				at.model = "" // how the recorder points it at the scripted model
			}
		case fixtures.In:
			if !l.act.free && !l.odd && l.act.sets != (settings{}) && !s.declined(i) {
				*at = at.over(l.act.sets)
			}
			l.chosen = *at
		}
	}
}

// declined reports whether the reply to a request says no.
func (s *script) declined(in int) bool {
	if s.lines[in].act.kind != KindSet {
		return false
	}
	for i := in; i < len(s.lines); i++ {
		for _, p := range s.lines[i].parts {
			if p.reply == in {
				return bytes.Contains(p.b, []byte(`"subtype":"error"`)) || bytes.HasPrefix(p.b, []byte(`{"error":`))
			}
		}
	}
	return false
}

// chooses takes what this client chooses with an act: one of the recording, or a
// setting that it makes in its own way.
func (p *Play) chooses(l *launch, rec *line, a *act) {
	if p.o.Fault != nil || l.n == 0 {
		return
	}
	switch {
	case rec == nil && a.kind != KindSet, rec != nil && rec.act.free:
		return
	case rec != nil && a.kind == KindSet && p.s.declined(p.index(rec)):
		return
	}
	l.chosen = l.chosen.over(a.sets)
	if rec == nil {
		return
	}
	if a.kind == KindOpen && rec.act.opens != "" {
		p.opened(l.n, p.translate(rec.act.opens, nil), a.opens, rec.w)
	}
	if a.kind != KindSend {
		return
	}
	subject := map[string]string{}
	l.chosen.each(func(name, value string) { subject[name] = value })
	rec.chosen.each(func(name, value string) {
		if name == SettingPlans {
			value, subject[name] = cmp.Or(value, "default"), cmp.Or(subject[name], "default")
		}
		if value != "" || subject[name] != "" {
			p.settings = append(p.settings, Setting{l.n, name, value, subject[name], rec.w})
		}
	})
}

func (p *Play) index(rec *line) int {
	return slices.IndexFunc(p.s.lines, func(l line) bool { return l.w == rec.w })
}

// opened notes which session a client opens.
func (p *Play) opened(process int, recorded, subject string, at *fixtures.WireLine) {
	p.settings = append(p.settings, Setting{process, SettingOpen, recorded, subject, at})
}

// otherwise notes that a client opens or sets something in the place of what the
// recording's did.
func (p *Play) otherwise(l *launch, a *act) {
	if p.o.Fault != nil || a.kind != KindOpen && a.kind != KindSet {
		return
	}
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.claimed != nil || rec.act.kind != a.kind || rec.act.free || rec.odd {
			continue
		}
		switch {
		case a.kind == KindOpen:
			p.opened(l.n, p.translate(rec.act.opens, nil), a.opens, rec.w)
		case rec.act.method == a.method:
			rec.act.sets.each(func(name, value string) {
				if value != "" {
					got := ""
					a.sets.each(func(n, v string) {
						if n == name {
							got = v
						}
					})
					p.settings = append(p.settings, Setting{l.n, name, value, got, rec.w})
				}
			})
		}
		return
	}
}

// Settings are what the subject had chosen wherever it opened a session or sent a
// message of the recording, beside what the recording's client had.
func (p *Play) Settings() []Setting {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.settings)
}

// Started is a process that the subject has started.
type Started struct {
	Process int // of the case; 0: none of them
	Argv    []string
	Env     []string
	Dir     string
}

// Started returns the processes that the subject has started. Of an option that
// names a file of settings, the file's content stands behind the arguments.
func (p *Play) Started() []Started {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []Started
	for _, l := range slices.Concat(p.launches, p.extra) {
		if l == nil {
			continue
		}
		argv := slices.Clone(l.argv)
		for _, file := range l.files {
			argv = append(argv, string(file))
		}
		out = append(out, Started{l.n, argv, l.env, l.dir})
	}
	return out
}

// settingFiles reads the files of settings that a command line names: they may be
// gone when somebody asks.
func settingFiles(argv []string) (out [][]byte) {
	for i, a := range argv {
		name, ok := strings.CutPrefix(a, "--mcp-config=")
		if !ok && i > 0 && argv[i-1] == "--mcp-config" {
			name, ok = a, true
		}
		if !ok || strings.HasPrefix(strings.TrimSpace(name), "{") {
			continue
		}
		if b, err := os.ReadFile(name); err == nil {
			out = append(out, b)
		}
	}
	return out
}
