//go:build live

package recorder

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/isolate"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// The live tests need the real runtimes (make runtimes). If one is missing, they
// fail and are not skipped. `make record-check` tests that recording again gives
// the stored cases.
func TestMain(m *testing.M) {
	reexeced, code, err := isolate.Enter(os.Args[1:])
	switch {
	case err != nil:
		println(err.Error())
		os.Exit(1)
	case reexeced:
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// Canaries must be in no fixture. The key has the form of a real one and opens
// nothing.
const (
	canaryPlace = "canary-home-4711"
	canaryUser  = "canaryuser4711"
	canaryHost  = "canaryhost4711"
	canaryKey   = "ghp_" + "a8Kd02mXc93jQzLw7Tn5Vb1Rs6Yh4Uf0Ge2P"
	canaryFile  = "AKIA" + "Q3EGRZ7XW2LM5NPT"
)

const canaryScenario = `A person's secrets, names and folders stand in the prompt and in what a command prints: none of them is stored.

-- scenario --
topic: secret
-- client --
send m1: My key is ` + canaryKey + ` and I am here.
wait end m1
-- model --
[{"text":["I look around."]},{"tool":"shell","id":"t1","input":{"command":"cat key.txt; pwd; echo $HOME; echo $USER; hostname; env"}}]
[{"text":["Your key is ","` + canaryKey + `."]}]
-- workspace/key.txt --
aws_access_key_id = ` + canaryFile + `
`

// TestCanariesAreInNoFixture records a session with canaries on each real runtime
// and searches each written file for them.
func TestCanariesAreInNoFixture(t *testing.T) {
	if isolate.Isolated() {
		NewWithT(t).Expect(unix.Sethostname([]byte(canaryHost))).To(Succeed())
		defer func() { _ = unix.Sethostname([]byte(isolate.HostName)) }()
	}
	place := filepath.Join(t.TempDir(), canaryPlace)
	NewWithT(t).Expect(os.MkdirAll(place, 0o755)).To(Succeed())
	t.Setenv("USER", canaryUser)
	t.Setenv("LOGNAME", canaryUser)
	dir, err := runtimes.Dir()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Setenv("TMPDIR", place)
	t.Setenv("HOME", place)
	s, err := fixtures.ParseScenario("canary.txtar", "secret/canary", []byte(canaryScenario))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	out := t.TempDir()
	for _, name := range runtimes.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c, _, err := Record(t.Context(), Options{Scenario: s, Runtime: name, Runtimes: dir, Out: out})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.Witness).NotTo(BeEmpty())
			result := c.Witness[len(c.Witness)-1].Results["t1"]
			g.Expect(result).To(And(ContainSubstring("<home>"), ContainSubstring("<work>"), ContainSubstring("<secret:")),
				"the command's output reached the model, with placeholders")
		})
	}
	files := 0
	NewWithT(t).Expect(filepath.WalkDir(out, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		for _, canary := range []string{canaryPlace, canaryUser, canaryHost, canaryKey, canaryFile} {
			if strings.Contains(string(b), canary) {
				t.Errorf("%s holds the canary %s", path, canary)
			}
		}
		return err
	})).To(Succeed())
	NewWithT(t).Expect(files).To(Equal(len(runtimes.Names())))
}
