package conformance

import (
	"fmt"
	"path"
	"strings"
)

// KnownFailure names failed results that do not fail the run. If none of the
// results that it names fails any more, it is stale, and that fails the run.
type KnownFailure struct {
	Check   string // its id
	Case    string // glob over case ids, see Match
	Subject string // "": any
	Reason  string
	Link    string
	At      string // file:line of the entry, or ""
	// MayPass is set for a failure that comes and goes. The entry is not stale if it
	// passes, and the runner does not try it a second time.
	MayPass bool
}

// Names reports whether it names a result.
func (k KnownFailure) Names(r Result) bool {
	return r.Check.HasID(k.Check) && (k.Subject == "" || k.Subject == r.Subject) && Match(k.Case, r.Case)
}

// KnownFailureUse counts the results of a run that a known failure names.
type KnownFailureUse struct {
	KnownFailure
	Failed int // failed results that it names, flaky ones too
	Flaky  int // the flaky ones of them
	Judged int // verdicts that it names, if all tiers of the check ran
	// NoSuchCase is set if Case matches no case of the whole corpus.
	NoSuchCase bool
}

// Stale returns why the entry must be removed, or "".
func (u KnownFailureUse) Stale() string {
	switch {
	case u.Failed > 0:
		return ""
	case u.NoSuchCase:
		return "the corpus holds no such case"
	case u.Judged > 0 && !u.MayPass:
		return "it does not fail any more"
	}
	return "" // no case that it names was run
}

// KnownFailureTodo begins the reason of a generated entry. ParseKnownFailures
// rejects it, because a person has to write the reason.
const KnownFailureTodo = "TODO"

// ParseKnownFailures reads a file of known failures. An entry is some lines of the form
// `key: value`; an empty line ends it, and # starts a comment line:
//
//	check: text.once             one check
//	case: claude/*/tool/*        a glob over case ids; may be repeated
//	subject: mine                only this subject (optional)
//	reason: the result is shown too, until we drop v1   required
//	link: https://…              optional
//	flaky: yes                   it may pass; the entry is never stale then (optional)
//
// Each case line makes a KnownFailure.
func ParseKnownFailures(file string, b []byte) ([]KnownFailure, error) {
	var out []KnownFailure
	e := knownEntry{file: file}
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		at := fmt.Sprintf("%s:%d", file, i+1)
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			all, err := e.finish()
			if err != nil {
				return nil, err
			}
			out, e = append(out, all...), knownEntry{file: file}
		default:
			if err := e.parseLine(at, line); err != nil {
				return nil, fmt.Errorf("%s: %w", at, err)
			}
		}
	}
	all, err := e.finish()
	return append(out, all...), err
}

// knownEntry is an entry that is being parsed.
type knownEntry struct {
	file, at string
	KnownFailure
	cases []KnownFailure
}

func (e *knownEntry) parseLine(at, line string) error {
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
			return fmt.Errorf("case %q is not a glob: %w", value, err)
		}
		e.cases = append(e.cases, KnownFailure{Case: value, At: at})
	case key == "flaky":
		if value != "yes" {
			return fmt.Errorf("flaky: want yes, not %q; leave it out if the failure never passes", value)
		}
		e.MayPass = true
	case field == nil:
		return fmt.Errorf("no key %q, only check, case, subject, reason, link, flaky", key)
	case *field != "":
		return fmt.Errorf("%s is given twice; an empty line begins the next entry", key)
	case key == "reason" && strings.HasPrefix(value, KnownFailureTodo):
		return fmt.Errorf("the reason is missing: write why it fails, and until when")
	default:
		*field = value
	}
	return nil
}

func (e *knownEntry) finish() ([]KnownFailure, error) {
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
