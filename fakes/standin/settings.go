package standin

import (
	"cmp"
	"os"
	"slices"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/wire"
)

// Setting is one thing that a client may choose for a session, at the time when a
// message was sent or a session was opened.
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
	SettingSandbox = "sandbox"            //
	SettingPlans   = "collaboration mode" //
	SettingSchema  = "schema"             // of the final answer
	SettingHooks   = "hooks"              // events, matchers, limits

	SettingInstructions = "instructions"
	SettingEffort       = "effort"
	SettingLimits       = "limits" // of a turn and of the session
	SettingExtraDirs    = "extra folders"
	SettingSources      = "sources of settings"
)

// choice returns what a client has chosen after a step.
func (s *script) choice(before wire.Settings, x *step) wire.Settings {
	if s.rt.ClientRunsTurns && x.Kind == KindSend { // each request states all
		before = wire.Settings{Dir: before.Dir}
	}
	if x.Step.StatesAll {
		before.Instructions, before.Effort, before.Schema, before.Plans = "", "", "", ""
	}
	return overlay(before, x.Step.Settings)
}

// overlay returns the settings with what a later request changes.
func overlay(s, later wire.Settings) wire.Settings {
	return wire.Settings{
		Dir: cmp.Or(later.Dir, s.Dir), Model: cmp.Or(later.Model, s.Model), Ask: cmp.Or(later.Ask, s.Ask), Sandbox: cmp.Or(later.Sandbox, s.Sandbox),
		Plans: cmp.Or(later.Plans, s.Plans), Schema: cmp.Or(later.Schema, s.Schema), Hooks: cmp.Or(later.Hooks, s.Hooks),
		Instructions: cmp.Or(later.Instructions, s.Instructions), Effort: cmp.Or(later.Effort, s.Effort), Limits: cmp.Or(later.Limits, s.Limits),
		ExtraDirs: cmp.Or(later.ExtraDirs, s.ExtraDirs), Sources: cmp.Or(later.Sources, s.Sources),
	}
}

var settingNames = []string{
	SettingDir, SettingModel, SettingAsks, SettingSandbox, SettingPlans, SettingSchema, SettingHooks,
	SettingInstructions, SettingEffort, SettingLimits, SettingExtraDirs, SettingSources,
}

// settingValues are the values in the order of settingNames.
func settingValues(s wire.Settings) []string {
	return []string{s.Dir, s.Model, s.Ask, s.Sandbox, s.Plans, s.Schema, s.Hooks, s.Instructions, s.Effort, s.Limits, s.ExtraDirs, s.Sources}
}

// collectSettings records what the recording's client had chosen at each of its
// messages. A request that the runtime refused has changed nothing.
func (s *script) collectSettings() {
	now := make([]wire.Settings, len(s.processes))
	for i := range s.lines {
		l := &s.lines[i]
		at := &now[l.w.Process]
		switch l.w.Dir {
		case fixtures.Spawn:
			launched := &s.processes[l.w.Process].launch
			*at = launched.Settings
			if launched.DefaultModel {
				at.Model = ""
			}
		case fixtures.In:
			if sets := l.step.Step.Settings; !l.step.free && !l.invalid && (sets != (wire.Settings{}) || l.step.Step.StatesAll) && !s.isRefusedSet(i) {
				*at = s.choice(*at, &l.step)
			}
			l.chosen = *at
		}
	}
}

func (s *script) isRefusedSet(i int) bool { return s.lines[i].step.Kind == KindSet && s.isRefused(i) }

// noteChoice records what this client chooses with a step. rec is the recorded line;
// nil if the client makes a setting in its own way.
func (p *Play) noteChoice(l *launch, rec *line, s *step) {
	if p.o.Fault != nil || l.n == 0 {
		return
	}
	switch {
	case rec == nil && s.Kind != KindSet, rec != nil && rec.step.free:
		return
	case rec != nil && s.Kind == KindSet && p.s.isRefusedSet(slices.IndexFunc(p.s.lines, func(l line) bool { return l.w == rec.w })):
		return
	}
	l.chosen = p.s.choice(l.chosen, s)
	if rec == nil {
		return
	}
	if s.Kind == KindOpen && rec.step.Step.Opens != "" {
		p.noteOpening(l.n, p.translate(rec.step.Step.Opens, nil), s.Step.Opens, rec.w)
	}
	if s.Kind != KindSend {
		return
	}
	subject := settingValues(l.chosen)
	for i, value := range settingValues(rec.chosen) {
		got := subject[i]
		if settingNames[i] == SettingPlans {
			value, got = cmp.Or(value, "default"), cmp.Or(got, "default")
		}
		if value != "" || got != "" {
			p.settings = append(p.settings, Setting{l.n, settingNames[i], value, got, rec.w})
		}
	}
}

// noteOpening records which session a client opens.
func (p *Play) noteOpening(process int, recorded, subject string, at *fixtures.WireLine) {
	p.settings = append(p.settings, Setting{process, SettingOpen, recorded, subject, at})
}

// noteReplacement records that a client opens or sets something else than the recording's
// client did.
func (p *Play) noteReplacement(l *launch, s *step) {
	if p.o.Fault != nil || s.Kind != KindOpen && s.Kind != KindSet {
		return
	}
	for i := p.pos; i < len(p.s.lines); i++ {
		rec := &p.s.lines[i]
		if rec.w.Process != l.n || rec.w.Dir != fixtures.In || rec.claimed != nil || rec.step.Kind != s.Kind || rec.step.free || rec.invalid {
			continue
		}
		switch {
		case s.Kind == KindOpen:
			p.noteOpening(l.n, p.translate(rec.step.Step.Opens, nil), s.Step.Opens, rec.w)
		case rec.step.Method == s.Method:
			subject := settingValues(s.Step.Settings)
			for i, value := range settingValues(rec.step.Step.Settings) {
				if value != "" {
					p.settings = append(p.settings, Setting{l.n, settingNames[i], value, subject[i], rec.w})
				}
			}
		}
		return
	}
}

// Settings returns what the subject had chosen whenever it opened a session or sent
// a message of the recording, with what the recording's client had chosen.
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
	// Attachments are the contents of the files that options name for the model.
	Attachments [][]byte
}

// Started returns the processes that the subject has started. If an option names a
// file of settings, the content of the file follows the arguments.
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
		out = append(out, Started{l.n, argv, l.env, l.dir, l.attachments})
	}
	return out
}

// contentsOf reads the files that a command line names at once: the client may remove them.
// In place of a path it may have the content.
func contentsOf(paths []string) (out [][]byte) {
	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil {
			out = append(out, b)
		}
	}
	return out
}
