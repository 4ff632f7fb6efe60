package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnspec/turnspec/conformance"
)

// word is what a summary calls a verdict, or all verdicts of a check. wordOf maps each
// verdict to one of them, as conformance/ADAPTERS.md documents:
//
//	pass            pass, sent
//	fail            fail, not testable, harness error
//	not applicable  not applicable
//	not declared    not expressible: the subject declares that it leaves out what the
//	                check needs, or its protocol has no way to report it
//	not tried       not tried, unrecorded
//
// A summary has flaky and known to fail only if there are any. The verdicts themselves
// are in the JSON form, in the page and in the output of `turnspec run --verbose`.
type word string

const (
	wordPass          word = "pass"
	wordFail          word = "fail"
	wordFlaky         word = "flaky"
	wordKnown         word = "known to fail"
	wordNotApplicable word = "not applicable"
	wordNotDeclared   word = "not declared"
	wordNotTried      word = "not tried"
)

func wordOf(e Entry) word {
	switch v := conformance.Verdict(e.Verdict); {
	case e.Known != nil:
		return wordKnown
	case v.Bad():
		return wordFail
	case v == conformance.Flaky:
		return wordFlaky
	case v == conformance.Pass, v == conformance.Sent:
		return wordPass
	case v == conformance.NotExpressible:
		return wordNotDeclared
	case v == conformance.NotTried, v == conformance.Unrecorded:
		return wordNotTried
	}
	return wordNotApplicable
}

// words are in the order in which the word of one verdict of a check is that of the check:
// one failure fails it, and one pass suffices if there is no failure.
var words = []word{wordFail, wordFlaky, wordKnown, wordPass, wordNotTried, wordNotDeclared, wordNotApplicable}

// checkWords returns the word of each check over all of its verdicts.
func (d *Document) checkWords() map[string]word {
	out := map[string]word{}
	for _, e := range d.Results {
		w, ok := out[e.Check]
		if own := wordOf(e); !ok || slices.Index(words, own) < slices.Index(words, w) {
			out[e.Check] = own
		}
	}
	return out
}

// Summary returns a line that counts the checks by their word.
func Summary(d *Document, st Style) string {
	head := fmt.Sprintf("%d cases and %d runs with a fault", d.Cases, d.FaultRuns)
	if d.FaultRuns > 0 && d.Selection.Seed > 0 {
		head += fmt.Sprintf(" (seed %d)", d.Selection.Seed)
	}
	if d.Interrupted {
		head = "interrupted: " + head
	}
	if d.Shard != nil {
		head = fmt.Sprintf("shard %v, %s", d.Shard, head)
	}
	count, warnings := map[word]int{}, 0
	all := d.checkWords()
	for id, w := range all {
		count[w]++
		if w == wordFail && d.findRule(id).Severity == conformance.Should.String() {
			warnings++
		}
	}
	parts := []string{head + ": " + countChecks(len(all))}
	for _, w := range []word{wordPass, wordFail, wordFlaky, wordKnown, wordNotApplicable, wordNotDeclared, wordNotTried} {
		if count[w] == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", count[w], w)
		if w == wordFail && warnings > 0 {
			text += fmt.Sprintf(" (%d as a warning)", warnings)
		}
		if w == wordFail && count[w] > warnings || w == wordFlaky && d.Selection.FailOnFlaky {
			text = st.Bad(text)
		}
		if w == wordPass && !d.Failed {
			text = st.Good(text)
		}
		parts = append(parts, text)
	}
	switch stale := len(d.Stale()); stale {
	case 0:
	case 1:
		parts = append(parts, st.Bad("a known failure is stale"))
	default:
		parts = append(parts, st.Bad(fmt.Sprintf("%d known failures are stale", stale)))
	}
	if why := d.unjudged(); why != "" {
		parts = append(parts, st.Bad("no check gave a verdict: "+why))
	}
	for _, id := range d.Missing {
		parts = append(parts, st.Bad("no case gave a verdict on "+id))
	}
	line := strings.Join(parts, ", ")
	if d.Selection.Level != "" {
		line += fmt.Sprintf("\nlevel %s: %d checks, and recordings that show only what they judge, were left out", d.Selection.Level, d.Selection.ChecksLeftOut)
		line += d.wider("--level full")
	}
	if d.LeftOut.any() {
		line += "\n" + st.Bad("not all was tried") + ": " + d.LeftOut.describe()
		line += d.wider("--full")
	}
	return line
}

// maxChosen is how many cases and how many checks a command names that tries more of them.
const maxChosen = 4

// wider returns the command that tries more of the cases and checks that were chosen, after
// "; all: "; "" if the run was no command.
func (d *Document) wider(flag string) string {
	run, rest, ok := strings.Cut(d.Selection.Command, " run")
	if !ok {
		return ""
	}
	words := []string{"; all: " + run + " run " + flag}
	if cases := d.Selection.Cases; len(cases) <= maxChosen {
		for _, glob := range cases {
			if strings.ContainsAny(glob, "*?[") {
				glob = singleQuoted(glob)
			}
			words = append(words, "--case "+glob)
		}
	}
	if ids := d.Selection.Checks; len(ids) <= maxChosen && d.Selection.Level == "" {
		for _, id := range ids {
			words = append(words, "--check "+id)
		}
	}
	return strings.Join(words, " ") + rest
}
