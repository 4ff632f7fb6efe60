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
		{[]string{"run", "--subject", "acp:agent"}, runtimeNames()},
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
