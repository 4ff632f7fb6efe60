package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/turnspec/turnspec/adapters/reference"
)

// The runtimes that a command completes are those that it accepts: without a subject,
// those that have a reference adapter.
func TestCompletedRuntimes(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run"}, reference.Names()},
		{[]string{"bench"}, reference.Names()},
		{[]string{"init"}, reference.Names()},
		{[]string{"policy", "enforce"}, reference.Names()},
		{[]string{"run", "--acp"}, runtimeNames()},
		{[]string{"smoke"}, runtimeNames()},
	} {
		var out, errOut bytes.Buffer
		args := slices.Concat([]string{"__complete"}, c.args, []string{"--runtime", ""})
		if code := execute(t.Context(), args, strings.NewReader(""), &out, &errOut); code != exitOK {
			t.Fatalf("%v: exit code %d: %s", args, code, errOut.String())
		}
		words := strings.Fields(out.String())
		got, want := slices.Sorted(slices.Values(words[:len(words)-1])), slices.Sorted(slices.Values(c.want)) // the last is a directive
		if !slices.Equal(got, want) {
			t.Errorf("%v completes %v, want %v", c.args, got, want)
		}
	}
}

// TestSubjectFlags checks that each command that takes a subject reads its events in a
// vocabulary of their own, and that no two flags name the subject.
func TestSubjectFlags(t *testing.T) {
	for _, words := range [][]string{
		{"run", "--runtime", "claude"},
		{"explore", "--runtime", "claude", "--count", "1"},
		{"shrink", "claude/2.1.329/text/plain", "--check", "text.once", "-o", "none.zip"},
		{"bench", "--runtime", "claude", "--deltas", "1"},
	} {
		for want, flags := range map[string][]string{
			"no-such.json":        {"--dialect", "no-such.json", "--", "cat"},
			"none of the others":  {"--dialect", "no-such.json", "--acp", "--", "cat"},
			"--dialect is the vo": {"--dialect", "no-such.json"},
		} {
			var out, errOut bytes.Buffer
			code := execute(t.Context(), slices.Concat(words, flags), strings.NewReader(""), &out, &errOut)
			if words[0] == "explore" && strings.Contains(errOut.String(), "turnspec runtimes install") {
				continue // only with a runtime does it read the mapping
			}
			if code != exitUsage || !strings.Contains(errOut.String(), want) {
				t.Errorf("%v %v: exit code %d, want %q: %s", words, flags, code, want, errOut.String())
			}
		}
	}
}
