package logtest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// sampleMedium returns a medium of a size. Different seeds give different bytes.
func sampleMedium(size int, seed byte) (event.Media, []byte) {
	data := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(data) // it never fails
	return event.MediaOf(event.MediaImage, "image/png", data), data
}

func (p *probe) putMedia(log eventlog.Log, session string, m event.Media, data []byte) {
	p.noError(log.PutMedia(p.ctx, session, m, data), "PutMedia")
}

func (p *probe) wantMedia(log eventlog.Log, session string, want event.Media, data []byte) {
	m, got, err := log.Media(p.ctx, session, want.SHA256)
	p.noError(err, "Media")
	if m != want || !bytes.Equal(got, data) {
		p.failf("medium of %q: want %+v and its bytes, got %+v and %d bytes", session, want, m, len(got))
	}
}

func (p *probe) wantNoMedia(log eventlog.Log, session, sha256 string) {
	if _, data, err := log.Media(p.ctx, session, sha256); !errors.Is(err, eventlog.ErrUnknownMedia) || len(data) > 0 {
		p.failf("medium %q that session %q does not hold: want ErrUnknownMedia, got %d bytes, error %v", sha256, session, len(data), err)
	}
}

func (p *probe) wantMediaList(log eventlog.Log, session string, want ...event.Media) {
	got, err := log.ListMedia(p.ctx, session)
	p.noError(err, "ListMedia")
	slices.SortFunc(want, func(a, b event.Media) int { return strings.Compare(a.SHA256, b.SHA256) })
	if !slices.Equal(got, want) {
		p.failf("media of session %q: want %+v, got %+v", session, want, got)
	}
}

// mediaSizes are of no byte, and above the messages of a server.
var mediaSizes = []int{0, 1, 70, 100_000, 3<<20 + 7}

func mediaKept(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 9)...)
	for i, size := range mediaSizes {
		m, data := sampleMedium(size, byte(i))
		p.putMedia(log, "s", m, data)
		p.wantMedia(log, "s", m, data)
	}
	for _, m := range []event.Media{{Kind: event.MediaAudio, MIME: "audio/wav; rate=1"}, {Kind: event.MediaDocument}} {
		data := []byte(m.Kind)
		m = event.MediaOf(m.Kind, m.MIME, data)
		p.putMedia(log, "s", m, data)
		p.wantMedia(log, "s", m, data)
	}
	data := []byte("control")
	m := event.MediaOf(event.MediaDocument, "text/plain\r\nX: \x00\xff", data)
	p.putMedia(log, "s", m, data)
	m.MIME = ""
	p.wantMedia(log, "s", m, data)
	p.wantEvents(log, "s", sampleEvents("s", 1, 9)) // media are not events
}

func mediaAgain(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	m, data := sampleMedium(2<<20, 1)
	other := m
	other.Kind, other.MIME = event.MediaDocument, "application/x"
	for _, m := range []event.Media{m, m, other} {
		p.putMedia(log, "s", m, data)
	}
	p.wantMedia(log, "s", m, data)
	p.wantMediaList(log, "s", m)
}

func mediaApart(p *probe) {
	log := p.openLog()
	p.mustAppend(log, append(sampleEvents("s", 1, 3), sampleEvents("t", 1, 3)...)...)
	m, data := sampleMedium(70, 1)
	p.putMedia(log, "s", m, data)
	p.wantNoMedia(log, "t", m.SHA256)
	p.wantNoMedia(log, "unknown", m.SHA256)
	p.wantMediaList(log, "t")
	p.wantMediaList(log, "unknown")
	p.putMedia(log, "t", m, data)
	p.wantMedia(log, "t", m, data)
	unknown, _ := sampleMedium(70, 2)
	for _, sha256 := range []string{unknown.SHA256, "", "*", ">", "x", m.SHA256[:63], strings.ToUpper(m.SHA256), m.SHA256 + "\x00", "%"} {
		p.wantNoMedia(log, "s", sha256)
	}
}

func mediaInvalid(p *probe) {
	log := p.openLog()
	m, data := sampleMedium(70, 1)
	if err := log.PutMedia(p.ctx, "s", m, data); !errors.Is(err, eventlog.ErrUnknownSession) {
		p.failf("PutMedia for a session without events: want ErrUnknownSession, got %v", err)
	}
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	p.wantNoMedia(log, "s", m.SHA256)
	invalid := func(what string, m event.Media, data []byte) {
		_ = wantError[*eventlog.MediaError](p, log.PutMedia(p.ctx, "s", m, data), what)
		p.wantNoMedia(log, "s", m.SHA256)
	}
	invalid("bytes with another hash", m, append(bytes.Clone(data[1:]), 0))
	wrong := m
	wrong.Size++
	invalid("bytes of another size", wrong, data)
	wrong = m
	wrong.Kind = "video"
	invalid("an unknown kind", wrong, data)
	large := make([]byte, eventlog.MediaBytes+1)
	invalid("a medium that is too large", tooLarge(), large)
	p.wantMediaList(log, "s")
	p.putMedia(log, "s", m, data)
	p.wantMedia(log, "s", m, data)
}

// tooLarge is the reference to a medium of zeroes with one byte more than a log stores.
var tooLarge = sync.OnceValue(func() event.Media {
	return event.MediaOf(event.MediaDocument, "", make([]byte, eventlog.MediaBytes+1))
})

func mediaCopies(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	m, data := sampleMedium(70, 1)
	kept := bytes.Clone(data)
	p.putMedia(log, "s", m, data)
	clear(data)
	for range 2 {
		p.wantMedia(log, "s", m, kept)
		_, got, err := log.Media(p.ctx, "s", m.SHA256)
		p.noError(err, "Media")
		clear(got)
	}
}

func mediaListed(p *probe) {
	log := p.openLog()
	p.mustAppend(log, sampleEvents("s", 1, 3)...)
	p.wantMediaList(log, "s")
	var all []event.Media
	for i := range 20 {
		m, data := sampleMedium(10*i, byte(i))
		p.putMedia(log, "s", m, data)
		all = append(all, m)
		p.wantMediaList(log, "s", slices.Clone(all)...)
	}
}
