package redact

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// shortest is the length of the shortest secret. The detector's rules need more,
// and most deltas are shorter.
const shortest = 16

var (
	// keys of vendors, even if they are cut: the detector finds only whole ones.
	vendorKeys = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16})`)
	// vendorPrefixes are the beginnings of what vendorKeys matches. Most texts hold none, and
	// are searched much faster for them.
	vendorPrefixes = []string{"sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "AKIA"}

	secretKey = regexp.MustCompile(`(?i)(?:api_?-?key|secret|passw|credential|authorization|access_?token|refresh_?token|bearer)`)
	sources   = regexp.MustCompile(`^[A-Z]+(?:_[A-Z]+)*$`) // apiKeySource names a variable
)

// secretsIn returns the secrets of a text, also those in base64, in the order of
// the rules. key is the name of the member that holds it, for rules that search for
// `key = value`.
func secretsIn(text, key string) []string {
	out := plainSecrets(text, key)
	more := encodedSecrets(text)
	if strings.Contains(text, `\`) {
		// JSON inside a string: the letter of an escape would hide the start of
		// a secret.
		more = append(more, plainSecrets(escapes.ReplaceAllString(text, "  "), key)...)
	}
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

var escapes = regexp.MustCompile(`\\[nrtbf"/\\]`)

func plainSecrets(text, key string) []string {
	if len(text) < shortest {
		return nil
	}
	d, err := secretDetector()
	if err != nil {
		return nil // New has reported it
	}
	var out []string
	addSecret := func(s string) {
		if len(s) >= 8 && !slices.Contains(out, s) && !anyPlaceholder.MatchString(s) && !strings.ContainsAny(s, "\n") {
			out = append(out, s)
		}
	}
	for _, s := range d.find(text) {
		addSecret(s)
	}
	if secretKey.MatchString(key) && !strings.ContainsAny(text, " \n") && !sources.MatchString(text) {
		for _, s := range d.find(fmt.Sprintf("%s = %q", key, text)) {
			addSecret(s)
		}
	}
	if containsAny(text, vendorPrefixes) {
		for _, s := range vendorKeys.FindAllString(text, -1) {
			addSecret(s)
		}
	}
	return out
}

func secretName(i int) string { return fmt.Sprintf("<secret:%d>", i+1) }

// shortestEncoded is the length of the shortest base64 that is searched.
const shortestEncoded = 24

// encodedRuns returns the parts of a text that may be base64, of any alphabet.
func encodedRuns(text string) (out []string) {
	for i := 0; i < len(text); {
		start := i
		for i < len(text) && (isWord(text[i]) || strings.IndexByte("+/-", text[i]) >= 0) {
			i++
		}
		if i-start < shortestEncoded {
			i++
			continue
		}
		for n := 0; n < 2 && i < len(text) && text[i] == '='; n++ {
			i++
		}
		out = append(out, text[start:i])
	}
	return out
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}

// encodedSecrets returns the base64 runs of a text that hold a secret.
func encodedSecrets(text string) []string {
	var out []string
	for _, run := range encodedRuns(text) {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			b, err := enc.DecodeString(strings.TrimRight(run, "="))
			if err != nil || !utf8.Valid(b) {
				continue // an image, an id, a word
			}
			if len(plainSecrets(string(b), "")) > 0 {
				out = append(out, run)
				break
			}
		}
	}
	return out
}
