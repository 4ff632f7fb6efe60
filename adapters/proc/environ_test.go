package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
)

func TestEnviron(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"TURNSPEC_TOKEN", "TURNSPEC_LATER", "PGPASSWORD", "PORT", "TURNSPEC_CASE", "OPENAI_API_KEY"} {
		t.Setenv(name, "v")
	}
	g.Expect(Environ(nil)).To(ContainElements("TURNSPEC_CASE=v", "OPENAI_API_KEY=v"))
	for _, name := range []string{"TURNSPEC_TOKEN", "TURNSPEC_LATER", "PGPASSWORD", "PORT"} {
		g.Expect(Environ(nil)).NotTo(ContainElement(name + "=v"))
		g.Expect(Getenv(nil, name)).To(BeEmpty())
	}
	g.Expect(Getenv(nil, "OPENAI_API_KEY")).To(Equal("v"))
	g.Expect(Environ([]string{"PORT=1"})).To(Equal([]string{"PORT=1"}), "a given environment is the caller's")
	g.Expect(Environ([]string{})).To(BeEmpty())
	g.Expect(Getenv([]string{"PORT=1", "PORT=2"}, "PORT")).To(Equal("2"))
}

func TestLookPath(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the files of the test have no mode that makes them programs")
	}
	g := NewWithT(t)
	first, second := t.TempDir(), t.TempDir()
	for path, mode := range map[string]os.FileMode{filepath.Join(first, "a"): 0o600, filepath.Join(second, "a"): 0o700, filepath.Join(first, "b"): 0o700} {
		g.Expect(os.WriteFile(path, nil, mode)).To(Succeed())
	}
	env := []string{"PATH=" + first + string(filepath.ListSeparator) + second}
	g.Expect(LookPath(env, "a", "b")).To(Equal(filepath.Join(second, "a")), "a file that is no program is passed over")
	g.Expect(LookPath(env, "c", "b")).To(Equal(filepath.Join(first, "b")))
	g.Expect(LookPath(env, "c", "d")).To(Equal("c"))
	g.Expect(LookPath([]string{}, "a")).To(Equal("a"))
}
