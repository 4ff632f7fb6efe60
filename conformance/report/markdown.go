package report

import (
	"fmt"
	"io"
	"strings"
)

// What a comment on a pull request can hold: 65,536 letters.
const (
	maxDetails  = 10
	maxDetail   = 3000
	maxRows     = 60
	maxListings = 20
)

// Markdown writes a summary for a pull request, bounded so that a comment holds
// it: which checks failed and on how many cases, and the first failures in full.
func Markdown(w io.Writer, d *Document) error {
	var b strings.Builder
	mark := "✅"
	if d.Failed {
		mark = "❌"
	}
	fmt.Fprintf(&b, "## %s Turnspec: %s\n\n%s\n", mark, d.outcome(), escape(Summary(d, Style{})))
	markdownChecks(&b, d)
	list(&b, "Known failures that are stale: remove them", d.Stale(), func(u KnownUse) string {
		return fmt.Sprintf("%s: `%s` `%s`: %s", escape(u.where()), u.Check, u.Case, u.Stale)
	})
	list(&b, "Checks on which no case gave a verdict", d.Missing, func(id string) string { return "`" + id + "`" })
	var known []KnownUse
	for _, u := range d.Known {
		if u.Failed > 0 {
			known = append(known, u)
		}
	}
	list(&b, "Known failures", known, func(u KnownUse) string {
		return fmt.Sprintf("`%s` `%s`, %d: %s %s", u.Check, u.Case, u.Failed, escape(u.Reason), u.Link)
	})
	markdownDetails(&b, d)
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownChecks writes the table of checks that do not hold.
func markdownChecks(b *strings.Builder, d *Document) {
	type key struct{ check, subject string }
	failed := map[key]int{}
	first := map[key]Entry{}
	var order []key
	for _, e := range d.Results {
		if !e.Bad() || e.Known != nil {
			continue
		}
		k := key{e.Check, e.Subject}
		if failed[k]++; failed[k] == 1 {
			order = append(order, k)
			first[k] = e
		}
	}
	if len(order) == 0 {
		return
	}
	b.WriteString("\n| check | subject | fails | first on | |\n|---|---|---:|---|---|\n")
	for i, k := range order {
		if i == maxRows {
			fmt.Fprintf(b, "| … and %d more | | | | |\n", len(order)-i)
			break
		}
		warn := ""
		if !first[k].Fails() {
			warn = " (warning)"
		}
		fmt.Fprintf(b, "| `%s`%s | %s | %d | `%s` | %s |\n", k.check, warn, escape(k.subject), failed[k], first[k].Case, escape(d.rule(k.check).Sentence))
	}
}

func markdownDetails(b *strings.Builder, d *Document) {
	find := d.finder()
	n := 0
	seen := map[string]bool{}
	for _, e := range d.Results {
		// One of each check says more than ten of the first.
		if !e.Fails() || seen[e.Check] {
			continue
		}
		seen[e.Check] = true
		if n++; n > maxDetails {
			b.WriteString("\nThe other checks' failures are in the full report.\n")
			return
		}
		var text strings.Builder
		writeFailure(&text, d, e, find, Style{})
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

func list[T any](b *strings.Builder, title string, all []T, show func(T) string) {
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

// escape keeps a text from being read as Markdown.
func escape(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`, "`", "\\`", "\n", " ", "[", `\[`).Replace(s)
}
