package page_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/window"
	"github.com/turnspec/turnspec/adapters/backend/page"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
	"github.com/turnspec/turnspec/adapters/event"
)

// dotPNG is an image of one pixel.
const dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

// beepWAV returns a sound of half a second.
func beepWAV() []byte {
	const rate, samples = 8000, 4000
	var b bytes.Buffer
	b.WriteString("RIFF")
	_ = binary.Write(&b, binary.LittleEndian, uint32(36+samples))
	b.WriteString("WAVEfmt ")
	for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8)} {
		_ = binary.Write(&b, binary.LittleEndian, v) // a Buffer takes all
	}
	b.WriteString("data")
	_ = binary.Write(&b, binary.LittleEndian, uint32(samples))
	for i := range samples {
		b.WriteByte(byte(i * 7))
	}
	return b.Bytes()
}

// givesMedia is an adapter whose sessions hand over media.
type givesMedia struct {
	asking
	media func(event.Media, []byte)
}

func (a *givesMedia) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	a.media = o.Media
	return a.asking.Open(ctx, o)
}

// give emits the call of a tool that gives media, whose bytes are handed over unless they are
// nil.
func (a *givesMedia) give(id string, media ...givenMedium) {
	d := event.ToolResult{ToolUseID: id, Status: event.ToolOK}
	for _, m := range media {
		of := event.MediaOf(m.kind, m.mime, m.data)
		if m.data == nil {
			of.SHA256 = strings.Repeat("0", 64)
		} else {
			a.media(of, m.data)
		}
		d.Media = append(d.Media, of)
	}
	a.opened[0].emit(1, event.ToolStart{ToolUseID: id, Tool: "Read", FilePath: id, Input: event.Raw(`{}`)}, d)
}

type givenMedium struct {
	kind event.MediaKind
	mime string
	data []byte
}

// TestPageShowsMedia checks that a live page shows the images and sounds that the user sees,
// and saves all else.
func TestPageShowsMedia(t *testing.T) {
	g := NewWithT(t)
	b := startBrowser(t)
	a := &givesMedia{}
	var asked sync.Map // for media, by address
	s := sidecar.New(sidecar.Config{Adapters: map[string]adapters.Adapter{"asking": a}, Log: window.Keep(&eventlog.Memory{}), Token: "secret-token"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/media/") {
			asked.Store(r.URL.String(), true)
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		_ = s.Shutdown(context.WithoutCancel(t.Context()))
		server.Close()
	})
	count := func() (n int) {
		asked.Range(func(any, any) bool { n++; return true })
		return n
	}

	x := b.newTab()
	x.open(server.URL + "/#token=secret-token")
	x.until(`document.querySelector("#runtime").options.length === 1`)
	eval[bool](x, `(document.querySelector("#open").requestSubmit(), true)`)
	x.until(`document.querySelector("#facts").textContent === "asking"`)
	dot, err := base64.StdEncoding.DecodeString(dotPNG)
	g.Expect(err).NotTo(HaveOccurred())
	svg := []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>globalThis.hacked = true</script></svg>`)
	session := a.opened[0]
	session.emit(1, event.TurnStart{Cause: event.CauseUser})
	a.give("plot.png", givenMedium{event.MediaImage, "image/png", dot}, givenMedium{event.MediaAudio, "Audio/WAV; codecs=1", beepWAV()})
	a.give("drawing.svg", givenMedium{event.MediaImage, "image/svg+xml", svg}, givenMedium{event.MediaDocument, "text/html", []byte("<script>globalThis.hacked = true</script>")})
	a.give("gone.png", givenMedium{event.MediaImage, "image/png", nil})

	shown := func() {
		t.Helper()
		x.until(`document.querySelector(".media img")?.naturalWidth === 1`)
		x.until(`document.querySelector(".media audio")?.duration === 0.5`)
		x.until(`document.querySelector("#messages").textContent.includes("The server does not hold it.")`)
	}
	shown()
	g.Expect(eval[[]string](x, `[...document.querySelectorAll(".media img, .media audio")].map((el) => el.src.split(":")[0])`)).To(Equal([]string{"blob", "blob"}))
	g.Expect(eval[[]string](x, `[...document.querySelectorAll("[data-save]")].map((el) => el.dataset.name)`)).To(Equal([]string{
		"image-" + event.MediaOf("", "", svg).SHA256[:8] + ".svg", "document-" + event.MediaOf("", "", []byte("<script>globalThis.hacked = true</script>")).SHA256[:8] + ".html",
	}))
	g.Expect(count()).To(Equal(3), "what is saved is not asked for yet")
	if dir := os.Getenv("TURNSPEC_SCREENSHOTS"); dir != "" {
		x.look(1000, 700, "light")
		x.screenshot(filepath.Join(dir, "media.png"))
	}
	// The click of the link that saves is caught.
	saved := eval[string](x, `new Promise((resolve) => {
		let blob;
		const create = URL.createObjectURL;
		URL.createObjectURL = (b) => create(blob = b);
		HTMLAnchorElement.prototype.click = async function () { resolve([this.href.split(":")[0], this.download, blob.type, await blob.text()].join("|")); };
		document.querySelector("[data-save]").click();
	})`)
	g.Expect(saved).To(Equal("blob|image-" + event.MediaOf("", "", svg).SHA256[:8] + ".svg|application/octet-stream|" + string(svg)))
	g.Expect(eval[bool](x, `globalThis.hacked === undefined`)).To(BeTrue())

	// A patch that changes another block leaves the image as it is.
	before := eval[string](x, `document.querySelector(".media img").src`)
	server.CloseClientConnections() // the next patch is full
	session.emit(1, event.Done{})
	for turn := 2; turn < 40; turn++ {
		session.emit(turn, event.TurnStart{Cause: event.CauseUser}, event.UserMessage{MessageID: fmt.Sprint("m", turn), Text: "Thanks", Via: event.ViaTurn}, event.Done{})
	}
	x.until(`document.querySelectorAll(".message.user").length === 38`)
	g.Expect(eval[string](x, `document.querySelector(".media img").src`)).To(Equal(before))

	// After a reload the page is at its end, and asks for nothing above it.
	asked.Clear()
	x.must("Page.reload", nil, nil)
	x.until(`globalThis.turnspec !== undefined && document.querySelectorAll(".media img[data-medium]").length > 0`)
	x.until(`document.querySelector("#chat").scrollTop > 1000`)
	g.Expect(count()).To(BeZero())
	g.Expect(eval[int](x, `document.querySelectorAll(".media img[src]").length`)).To(BeZero())
	eval[bool](x, `(document.querySelector("#chat").scrollTop = 0, true)`)
	shown()
}

// TestFileNamesMedia checks that a page that is a file names media, and asks for none.
func TestFileNamesMedia(t *testing.T) {
	g := NewWithT(t)
	x := startBrowser(t).newTab()
	at := func(seq int64, d event.Data) event.Event {
		return event.Event{SessionID: "s", Seq: seq, Turn: 1, Data: d}
	}
	openRecording(t, x, page.Record("Media", []event.Event{
		at(1, event.SessionReady{SessionID: "s", Runtime: "claude"}), at(2, event.TurnStart{}),
		at(3, event.ToolStart{ToolUseID: "t", Tool: "Read"}),
		at(4, event.ToolResult{ToolUseID: "t", Status: event.ToolOK, Media: []event.Media{event.MediaOf(event.MediaImage, "image/png", []byte("x")), event.MediaOf(event.MediaDocument, "application/pdf", []byte("xy"))}}),
		at(5, event.Done{}),
	}))
	g.Expect(eval[[]string](x, `[...document.querySelectorAll(".media li")].map((el) => el.textContent.trim())`)).To(Equal([]string{"image image/png, 1 bytes", "document application/pdf, 2 bytes"}))
	g.Expect(eval[int](x, `document.querySelectorAll(".media img, .media audio, .media button").length`)).To(BeZero())
	g.Expect(fmt.Sprint(eval[bool](x, `document.querySelector(".tool").open`))).To(Equal("false"))
}
