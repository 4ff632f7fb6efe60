package session

import (
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
	"github.com/turnspec/turnspec/conformance/internal/runindex"
	"github.com/turnspec/turnspec/fixtures"
)

// judgeReached demands that each request of the main agent to the model shows the options
// of the session.
func judgeReached(t *conformance.Trial, f *conformance.Finding) {
	s := t.Scenario
	o := &s.Opening
	recording := runindex.Recording(t.Run)
	namesDirs := recording != nil && slices.ContainsFunc(recording.Witness, func(q fixtures.Request) bool { return q.ExtraDirs > 0 })
	asked := 0 // in the turn
	for _, q := range t.Witness {
		if q.Agent != "" {
			continue
		}
		if o.Instructions != "" {
			f.Asserted(1)
			if !q.Instructed {
				f.Failf("request %d to the model lacks the instructions of the session", q.Req)
			}
		}
		if o.Effort != "" {
			f.Asserted(1)
			if q.Effort != o.Effort {
				f.Failf("request %d to the model has the effort %q, the session was opened with %q", q.Req, q.Effort, o.Effort)
			}
		}
		if len(o.ExtraDirs) > 0 && namesDirs {
			f.Asserted(1)
			if q.ExtraDirs != len(o.ExtraDirs) {
				f.Failf("request %d to the model names %d of the %d further folders of the session", q.Req, q.ExtraDirs, len(o.ExtraDirs))
			}
		}
		judgeSources(s, &q, f)
		if o.MaxRequests == 0 || slices.Contains(q.New, "retry") {
			continue
		}
		if asked++; bringsMessage(&q) {
			asked = 1
		}
		f.Asserted(1)
		if asked > o.MaxRequests {
			f.Failf("request %d is the %d. of its turn, the session was opened with a limit of %d", q.Req, asked, o.MaxRequests)
		}
	}
}

// judgeSources demands that the model gets the files of the workspace that instruct it if
// the runtime is to read the project's settings, and only then.
func judgeSources(s *fixtures.Scenario, q *fixtures.Request, f *conformance.Finding) {
	if len(s.Opening.SettingSources) == 0 || len(s.Workspace) == 0 {
		return
	}
	f.Asserted(1)
	if wants := slices.Contains(s.Opening.SettingSources, "project"); wants != (len(q.Workspace) > 0) {
		f.Failf("request %d to the model holds the project's notes %q, the sources of settings are %q", q.Req, q.Workspace, s.Opening.SettingSources)
	}
}

// bringsMessage reports whether a request is the first after a message of the user.
func bringsMessage(q *fixtures.Request) bool {
	return slices.ContainsFunc(q.New, func(id string) bool { return slices.Contains(q.History, id) && !strings.Contains(id, ":") })
}
