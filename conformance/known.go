package conformance

import (
	"fmt"
	"path"
	"strings"
)

// Known is a failure that is known: a result that it names does not fail the
// run, and when it names no failure any more, that fails the run.
type KnownFailure struct {
	Check   string // its id
	Case    string // glob over case ids, as Match has it
	Subject string // "": any
	Reason  string
	Link    string
	At      string // file:line where it is written down, or ""
}

// Names reports whether it means a result.
func (k KnownFailure) Names(r Result) bool {
	return k.about(r.Check, r.Subject) && Match(k.Case, r.Case)
}

func (k KnownFailure) about(c *Check, subject string) bool {
	return c.HasID(k.Check) && (k.Subject == "" || k.Subject == subject)
}

// KnownUse is what became of a known failure in a run.
type KnownFailureUse struct {
	KnownFailure
	Failed int // results that it excused
	Judged int // verdicts that it names, all of the check's tiers having run
	// Absent says that no case of the whole corpus has that name: it can match
	// nothing, whatever is run.
	NoSuchCase bool
}

// Stale says why the entry is to be removed, or "".
func (u KnownFailureUse) Stale() string {
	switch {
	case u.Failed > 0:
		return ""
	case u.NoSuchCase:
		return "the corpus holds no such case"
	case u.Judged > 0:
		return "it does not fail any more"
	}
	return "" // nothing of it was run
}

// KnownTodo begins the reason that FormatKnown writes. ParseKnown refuses it: a
// reason is what a person found.
const KnownFailureTodo = "TODO"

// ParseKnown reads a file of known failures. An entry is some lines of the form
// `key: value`; an empty line ends it, and # starts a comment line:
//
//	check: text.once             one check
//	case: claude/*/tool/*        cases, as --case has them; again for more
//	subject: mine                of this subject alone (optional)
//	reason: the result is shown too, until we drop v1   required
//	link: https://…              optional
//
// Each case line is a Known of its own.
func ParseKnownFailures(file string, b []byte) ([]KnownFailure, error) {
	var out []KnownFailure
	e := knownEntry{file: file}
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		at := fmt.Sprintf("%s:%d", file, i+1)
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			all, err := e.end()
			if err != nil {
				return nil, err
			}
			out, e = append(out, all...), knownEntry{file: file}
		default:
			if err := e.add(at, line); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
		}
	}
	all, err := e.end()
	return append(out, all...), err
}

// knownEntry is an entry while it is read.
type knownEntry struct {
	file, at string
	KnownFailure
	cases []KnownFailure
}

func (e *knownEntry) add(at, line string) error {
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok {
		return fmt.Errorf("want `key: value`, not %q", line)
	}
	if value == "" {
		return fmt.Errorf("%s is empty", key)
	}
	if e.at == "" {
		e.at = at
	}
	field := map[string]*string{"check": &e.Check, "subject": &e.Subject, "reason": &e.Reason, "link": &e.Link}[key]
	switch {
	case key == "case":
		if _, err := path.Match(value, ""); err != nil {
			return fmt.Errorf("case %q is no glob: %w", value, err)
		}
		e.cases = append(e.cases, KnownFailure{Case: value, At: at})
	case field == nil:
		return fmt.Errorf("no key %q, only check, case, subject, reason, link", key)
	case *field != "":
		return fmt.Errorf("%s stands twice; an empty line begins the next entry", key)
	case key == "reason" && strings.HasPrefix(value, KnownFailureTodo):
		return fmt.Errorf("the reason is still to be written: say why it fails, and until when")
	default:
		*field = value
	}
	return nil
}

func (e *knownEntry) end() ([]KnownFailure, error) {
	if e.at == "" {
		return nil, nil
	}
	for _, x := range []struct{ key, value string }{{"check", e.Check}, {"reason", e.Reason}} {
		if x.value == "" {
			return nil, fmt.Errorf("%s: the entry has no %s", e.at, x.key)
		}
	}
	if len(e.cases) == 0 {
		return nil, fmt.Errorf("%s: the entry has no case; `case: *` is all of them", e.at)
	}
	out := make([]KnownFailure, 0, len(e.cases))
	for _, c := range e.cases {
		k := e.KnownFailure
		k.Case, k.At = c.Case, c.At
		out = append(out, k)
	}
	return out, nil
}
