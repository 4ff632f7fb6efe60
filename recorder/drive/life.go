package drive

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/turnspec/turnspec/fixtures"
)

// life is what a client does to a session as a whole. What its runtime cannot
// do is an error that says so.
type life interface {
	compact() error
	revert(message string) error
	rewind(message string, dry bool) error
	archive() error
	name(text string) error
	// raw writes a line that the scenario made up, and waits for its reply if it
	// is a request.
	raw(line string) error
	// closing is what comes before stdin is closed.
	closing() error
}

// refusal is a no of the runtime.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// errEnded: the process ended without having been asked to.
var errEnded = errors.New("the runtime has ended by itself")

// expect turns the outcome of an act that is to be refused.
func (d *driver) expect(a fixtures.Step, err error) error {
	if !a.Refused || a.Verb == fixtures.VerbSet { // set knows it by itself
		return err
	}
	var no refusal
	switch {
	case err == nil:
		return errors.New("the runtime was to refuse it, and did not")
	case a.Verb == fixtures.VerbOpen && errors.Is(err, errEnded):
		return nil
	case !errors.As(err, &no):
		return err
	case a.Verb == fixtures.VerbOpen && d.alive:
		return d.close() // there is nothing to do with it
	}
	return nil
}

func (d *driver) lifeAct(a fixtures.Step) error {
	switch a.Verb {
	case fixtures.VerbCompact:
		return d.c.compact()
	case fixtures.VerbRevert:
		return d.c.revert(a.ID)
	case fixtures.VerbRewind:
		return d.c.rewind(a.ID, a.What == "dry")
	case fixtures.VerbArchive:
		return d.c.archive()
	case fixtures.VerbName:
		return d.c.name(a.Text)
	case fixtures.VerbShut:
		d.closed = true
		d.record(fixtures.WireLine{Dir: fixtures.EOF})
		return d.proc.Stdin().Close()
	case fixtures.VerbRaw:
		if a.What != "" && a.What != d.o.Runtime {
			return nil
		}
		return d.c.raw(a.Text)
	}
	return fmt.Errorf("unknown verb %q", a.Verb)
}

// waitExit waits for the end of a process that nobody ends now.
func (d *driver) waitExit() error {
	d.closed = true
	return d.untilExit("the end of the runtime")
}

// raws are requests of the scenario's own that have no answer yet.
type raws map[string]bool

func (r raws) answered(id string) bool {
	id = strings.Trim(id, `"`)
	if !r[id] {
		return false
	}
	delete(r, id)
	return true
}

// writeRaw writes a line and, if it is a request, waits for its answer.
func (d *driver) writeRaw(open raws, line string) error {
	var v struct {
		ID      jsontext.Value `json:"id"`
		Method  string         `json:"method"`
		ReqID   string         `json:"request_id"`
		Request jsontext.Value `json:"request"`
	}
	id := ""
	if json.Unmarshal([]byte(line), &v, asItCame) == nil {
		switch {
		case v.Method != "" && (v.ID.Kind() == '"' || v.ID.Kind() == '0' && !strings.Contains(string(v.ID), ".")):
			id = strings.Trim(string(v.ID), `"`)
		case v.Request != nil:
			id = v.ReqID
		}
	}
	if id != "" {
		open[id] = true
	}
	if err := d.write([]byte(line)); err != nil || id == "" {
		return err
	}
	return d.until("the reply to "+line, func() bool { return !open[id] })
}

// which finds the session that an open names.
func which(a fixtures.Step, sessions []string, last string) (string, error) {
	if a.ID == "unknown" {
		return fixtures.UnknownSession, nil
	}
	if a.ID == "" {
		return last, nil
	}
	n, err := strconv.Atoi(a.ID)
	if err != nil || n > len(sessions) {
		return "", fmt.Errorf("no session %q: %d were opened", a.ID, len(sessions))
	}
	return sessions[n-1], nil
}

// errCannot says that a runtime has no such act.
func errCannot(runtime, what string) error {
	return fmt.Errorf("%s has no request that %s: say `not on %s: why`", runtime, what, runtime)
}
