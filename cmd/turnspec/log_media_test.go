package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/event"
)

// dot is the image of the scenario mcp/gives-an-image.
const (
	dot     = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	dotHash = "497790947d4666760ce38f3c00e852c71fdb66cae849bae8e9ede352719e1581"
)

// writeLogWithImage writes a log whose session s1 has an image.
func writeLogWithImage(t *testing.T, file string) {
	t.Helper()
	outputOfTurnspec(t, outputOfTurnspec(t, outputOf(t, "codex/newest/mcp/gives-an-image"), "normalize", "codex"), "log", "append", file)
	b, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		t.Fatal(err)
	}
	log, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.PutMedia(t.Context(), "s1", event.MediaOf(event.MediaImage, "image/png", b), b); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLogMedia(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "chats.db")
	writeLogWithImage(t, file)
	want, _ := base64.StdEncoding.DecodeString(dot)
	g.Expect(outputOfTurnspec(t, "", "log", "media", file)).To(MatchRegexp(`seq +tool +kind +type +bytes +stored +hash\n\d+ +mcp__paint__draw +image +image/png +70 +yes +` + dotHash))
	g.Expect(outputOfTurnspec(t, "", "log", "media", file, "s1", "--json")).To(And(ContainSubstring(`"sha256": "`+dotHash+`"`), ContainSubstring(`"stored": true`)))
	g.Expect(outputOfTurnspec(t, "", "log", "media", file, "s1", "4977")).To(Equal(string(want)))
	out := outputOfTurnspec(t, "", "log", "media", file, "s1", "--to", filepath.Join(dir, "images"))
	name := filepath.Join(dir, "images", dotHash+".png")
	g.Expect(strings.TrimSpace(out)).To(Equal(name))
	g.Expect(os.ReadFile(name)).To(Equal(want))
}
