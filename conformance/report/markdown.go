package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/turnspec/turnspec/conformance/report/table"
)

// The limits keep the text below the 65,536 characters of a GitHub comment.
const (
	maxDetails  = 10
	maxDetail   = 3000
	maxRows     = 60
	maxListings = 20
)

// Markdown writes a summary for a pull request: the checks that failed, on how many
// cases, and the first failures in full. Its size is bounded, so that it fits into a
// comment.
func Markdown(w io.Writer, d *Document) error {
	var b strings.Builder
	mark := "✅"
	if d.Failed {
		mark = "❌"
	}
	fmt.Fprintf(&b, "## %s Turnspec: %s\n\n%s\n\n%s\n", mark, d.outcome(), d.passed(), table.Escape(Summary(d, Style{})))
	writeChecks(&b, d)
	writeList(&b, "Stale known failures: remove them", d.Stale(), func(u KnownUse) string {
		return fmt.Sprintf("%s: `%s` `%s`: %s", table.Escape(u.location()), u.Check, u.Case, u.Stale)
	})
	writeList(&b, "Checks without a verdict on any case", d.Missing, func(id string) string { return "`" + id + "`" })
	var known []KnownUse
	for _, u := range d.Known {
		if u.Failed > 0 {
			known = append(known, u)
		}
	}
	writeList(&b, "Known failures", known, func(u KnownUse) string {
		return fmt.Sprintf("`%s` `%s`, %s: %s %s", u.Check, u.Case, u.countFailures(), table.Escape(u.Reason), u.Link)
	})
	writeList(&b, "The slowest cases", d.slowLines(), table.Escape)
	writeTimes(&b, d)
	writeDetails(&b, d)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeChecks writes the table of failed checks.
func writeChecks(b *strings.Builder, d *Document) {
	type key struct {
		check, subject string
		flaky          bool
	}
	failed, follow := map[key]int{}, map[key]int{}
	first := map[key]Entry{}
	var order []key
	for _, e := range d.Results {
		if !e.BadOnce() || e.Known != nil {
			continue
		}
		k := key{e.Check, e.Subject, e.Flaky()}
		if failed[k]++; failed[k] == 1 {
			order = append(order, k)
			first[k] = e
		}
		if e.Follows != "" {
			follow[k]++
		}
	}
	if len(order) == 0 {
		return
	}
	var rows [][]string
	for i, k := range order {
		if i == maxRows {
			rows = append(rows, []string{fmt.Sprintf("… and %d more", len(order)-i), "", "", "", ""})
			break
		}
		warn := ""
		switch {
		case k.flaky:
			warn = " (flaky)"
		case !d.Fails(first[k]):
			warn = " (warning)"
		}
		count := strconv.Itoa(failed[k])
		if follow[k] > 0 {
			count += fmt.Sprintf(" (%d follow)", follow[k])
		}
		rows = append(rows, []string{
			"`" + k.check + "`" + warn, table.Escape(k.subject), count, "`" + first[k].Case + "`", table.Escape(d.findRule(k.check).Sentence),
		})
	}
	b.WriteByte('\n')
	table.New(b).Markdown([]string{"check", "subject", table.Align + "failures", "first case", "rule"}, rows)
}

// leastListed is how long a case takes at least to be listed in the table of durations.
const leastListed = 100 * time.Millisecond

// writeTimes writes how long the slowest cases took, and all together.
func writeTimes(b *strings.Builder, d *Document) {
	var sum time.Duration
	for _, c := range d.Times {
		sum += c.total()
	}
	var rows [][]string
	for _, c := range d.slowest() {
		if c.total() < leastListed {
			break
		}
		rows = append(rows, []string{"`" + c.Case + "`", table.Escape(c.Subject), seconds(c.Took), seconds(c.Faults), strconv.Itoa(c.FaultRuns)})
	}
	if len(rows) == 0 {
		return
	}
	if n := len(d.Times) - len(rows); n > 0 {
		rows = append(rows, []string{fmt.Sprintf("… and %d more", n), "", "", "", ""})
	}
	fmt.Fprintf(b, "\n<details><summary>Durations: %s in %d cases</summary>\n\n", seconds(int64(sum)), len(d.Times))
	table.New(b).Markdown([]string{"case", "subject", table.Align + "without faults", table.Align + "with faults", table.Align + "runs with a fault"}, rows)
	b.WriteString("\n</details>\n")
}

func writeDetails(b *strings.Builder, d *Document) {
	find, followers := d.newPlayFinder(), d.followers()
	n := 0
	seen := map[string]bool{}
	for _, e := range d.Results {
		// One failure of each check is more useful than ten of the first check.
		if !d.Fails(e) || e.Follows != "" || seen[e.Check] {
			continue
		}
		seen[e.Check] = true
		if n++; n > maxDetails {
			b.WriteString("\nThe full report has the failures of the other checks.\n")
			return
		}
		var text strings.Builder
		writeGroup(&text, d, e, find, followers, Style{})
		body := strings.TrimSpace(text.String())
		if len(body) > maxDetail {
			body = strings.ToValidUTF8(body[:maxDetail], "") + "\n…"
		}
		fence := "```"
		for strings.Contains(body, fence) {
			fence += "`"
		}
		fmt.Fprintf(b, "\n<details><summary><code>%s</code> on <code>%s</code></summary>\n\n%s\n%s\n%s\n\n</details>\n", e.Check, e.Case, fence, body, fence)
	}
}

func writeList[T any](b *strings.Builder, title string, all []T, show func(T) string) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n**%s**\n\n", title)
	for i, x := range all {
		if i == maxListings {
			fmt.Fprintf(b, "- … and %d more\n", len(all)-i)
			return
		}
		fmt.Fprintf(b, "- %s\n", show(x))
	}
}
