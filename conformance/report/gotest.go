package report

import (
	"regexp"
	"runtime/debug"
	"strings"
)

// GoTestCommand returns the command that runs the test or subtest name of this test
// program, with further flags of its own. Only the Go test knows its subjects, so
// `turnspec run` cannot rerun their cases.
func GoTestCommand(name string, flags ...string) string {
	words := []string{"go", "test"}
	if info, ok := debug.ReadBuildInfo(); ok {
		if pkg, found := strings.CutSuffix(info.Path, ".test"); found {
			words = append(words, pkg) // so that the command works in any folder of the module
		}
	}
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + pattern(p) + "$"
	}
	words = append(words, "-run", singleQuoted(strings.Join(parts, "/")))
	for _, f := range flags {
		flag, value, _ := strings.Cut(f, "=")
		words = append(words, flag+"="+singleQuoted(pattern(value)))
	}
	return strings.Join(words, " ")
}

// pattern returns a regular expression that matches a name. It leaves dots as they
// are: they match themselves, and versions are full of them.
func pattern(name string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(name), `\.`, ".")
}

func singleQuoted(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
