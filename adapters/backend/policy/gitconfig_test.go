package policy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzGitConfig: if the parser accepts a text, it reads the same settings as git.
func FuzzGitConfig(f *testing.F) {
	for _, s := range []string{"[a]b=c", "[a \"B\\\"c\"]\n\td-1 = \"x # y\" z ; w\n", "[A.b]c", "[a]b=\\\n c\\t\n", "\ufeff[a]\r\nb = c \r\n", "[a]b = \" c \"d\n#x\n[a] b=\n", "[core]fsmonitor=x"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseGitConfig(text)
		if err != nil || strings.ContainsAny(text, "\x00") {
			return
		}
		file := filepath.Join(dir, "config")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		out, err := exec.Command("git", "config", "--file", file, "--no-includes", "--list", "-z").Output()
		if err != nil {
			return // git fails
		}
		var want strings.Builder
		for _, s := range got {
			want.WriteString(s.key + "=" + s.value + "\x00")
		}
		// git prints key, a line end and the value; a key without = has neither.
		have := ""
		for l := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if l == "" {
				continue
			}
			k, v, ok := strings.Cut(l, "\n")
			if !ok {
				v = "true"
			}
			have += k + "=" + v + "\x00"
		}
		if have != want.String() {
			t.Errorf("%q:\n%q, want\n%q", text, want.String(), have)
		}
	})
}
