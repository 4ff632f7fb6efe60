package sse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/conformance/plug"
)

// mediaProbed is how many media of a session are asked for, and mediaLimit how many bytes of
// one are read.
const (
	mediaProbed = 4
	mediaLimit  = 64 << 20
)

// mediaIn returns the media to which the events of a stream refer.
func mediaIn(frames []eventFrame) (out []event.Media) {
	for _, f := range frames {
		var e struct {
			Data struct {
				Media []event.Media `json:"media"`
			} `json:"data"`
		}
		if strings.Contains(f.data, `"media"`) && json.Unmarshal([]byte(f.data), &e, plug.Lenient) == nil {
			out = append(out, e.Data.Media...)
		}
	}
	return out
}

// probeMedia asks for the media of the session, under its name and another one, and for one
// that does not exist.
func (x *session) probeMedia(ctx context.Context, media []event.Media) {
	assert := func(holds bool, format string, args ...any) { x.probes.assert(probeMedia, holds, format, args...) }
	for _, m := range media[:min(len(media), mediaProbed)] {
		path := x.path("media", m.SHA256)
		status, h, sum, err := x.medium(ctx, path)
		if err != nil {
			continue
		}
		assert(status == http.StatusOK, "an event refers to the %s %s, but GET %s is answered with %d", m.MIME, m.SHA256, path, status)
		if status != http.StatusOK {
			continue
		}
		assert(sum == m.SHA256, "GET %s is answered with bytes whose hash is %s", path, sum)
		want, _, bad := mime.ParseMediaType(m.MIME)
		got, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
		assert(bad != nil || got == want, "GET %s has the Content-Type %q; the event says %q", path, h.Get("Content-Type"), m.MIME)
		assert(strings.EqualFold(h.Get("X-Content-Type-Options"), "nosniff"), "GET %s has X-Content-Type-Options %q in place of nosniff: a browser may guess that a tool gave a page, and run it", path, h.Get("X-Content-Type-Options"))
		for _, foreign := range []string{"/sessions/" + url.PathEscape(x.id+"-other") + "/media/" + m.SHA256, x.path("media", strings.Repeat("0", len(m.SHA256)))} {
			if status, _, _, err := x.medium(ctx, foreign); err == nil {
				assert(status >= 400 && status < 500, "GET %s, which no event of that session names, is answered with %d", foreign, status)
			}
		}
	}
}

// medium sends a request for a medium and returns the answer and the hash of its bytes.
func (x *session) medium(ctx context.Context, path string) (status int, h http.Header, sum string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+path, nil)
	if err != nil {
		return 0, nil, "", err
	}
	res, err := x.http.Do(r)
	if err != nil {
		return 0, nil, "", err
	}
	hash := sha256.New()
	_, err = io.Copy(hash, io.LimitReader(res.Body, mediaLimit))
	return res.StatusCode, res.Header, hex.EncodeToString(hash.Sum(nil)), cmp.Or(err, res.Body.Close())
}
