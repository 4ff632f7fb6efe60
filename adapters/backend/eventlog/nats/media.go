package nats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

// headerMedia holds the event.Media of a medium, in each of its messages.
const headerMedia = "Turnspec-Media"

func (l *Log) mediaSubject(session string) string {
	return l.options.Name + ".media." + tokenOf(session)
}

// mediaPiece returns the subject of a part of a medium.
func (l *Log) mediaPiece(session, hash string, piece int) string {
	return fmt.Sprintf("%s.%s.%d", l.mediaSubject(session), hash, piece)
}

// isHash matches what may be a hash, and a token of a subject.
var isHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// PutMedia implements eventlog.Log.
func (l *Log) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if m, err = eventlog.CheckMedia(session, m, data); err != nil {
		return err
	}
	known, stored := l.appended(session), false
	err = l.retry(ctx, func(ctx context.Context) (err error) {
		if !known {
			s, err := l.readState(ctx, session)
			if known = s.info.Last.Seq > 0; err != nil || !known {
				return err
			}
		}
		_, err = l.media.GetLastMsgForSubject(ctx, l.mediaPiece(session, m.SHA256, 0))
		if stored = err == nil; errors.Is(err, jetstream.ErrMsgNotFound) {
			err = nil
		}
		return err
	})
	switch {
	case err != nil:
		return l.methodError(ctx, "store a medium", err)
	case !known:
		return fmt.Errorf("%s: %w: %q", l.name, eventlog.ErrUnknownSession, session)
	case stored:
		return nil
	}
	return l.methodError(ctx, "store a medium", l.publishMedia(ctx, session, m, data))
}

// appended reports whether this program has appended events to a session. A server that is
// behind may not have them yet.
func (l *Log) appended(session string) bool {
	w := l.writerOf(session)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[session].info.Last.Seq > 0
}

// publishMedia stores a medium, with one request for each part.
func (l *Log) publishMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	described, err := json.Marshal(m)
	if err != nil {
		return err
	}
	pieces := slices.Collect(slices.Chunk(data, max(l.maxData(), 1024)))
	if len(pieces) == 0 {
		pieces = [][]byte{nil}
	}
	for i, piece := range slices.Backward(pieces) { // the first is stored last
		msg := &nats.Msg{Subject: l.mediaPiece(session, m.SHA256, i), Header: nats.Header{}, Data: piece}
		msg.Header.Set(headerMedia, string(described))
		msg.Header.Set(headerPieces, fmt.Sprint(len(pieces)))
		err := l.retry(ctx, func(ctx context.Context) error {
			_, err := l.js.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Media implements eventlog.Log.
func (l *Log) Media(ctx context.Context, session, hash string) (m event.Media, data []byte, err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return m, nil, err
	}
	defer end()
	if !isHash.MatchString(hash) {
		return m, nil, eventlog.UnknownMedia(session, hash)
	}
	data = []byte{}
	for i, pieces := 0, 1; i < pieces; i++ {
		var piece *jetstream.RawStreamMsg
		err := l.retry(ctx, func(ctx context.Context) (err error) {
			subject := l.mediaPiece(session, hash, i)
			if piece, err = l.media.GetLastMsgForSubject(ctx, subject); !errors.Is(err, jetstream.ErrMsgNotFound) {
				return err
			}
			// The answer may be of a server that is behind. The leader knows.
			info, infoErr := l.media.Info(ctx, jetstream.WithSubjectFilter(subject))
			switch {
			case infoErr != nil:
				return infoErr
			case len(info.State.Subjects) > 0:
				return errBehind
			}
			return err
		})
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return event.Media{}, nil, eventlog.UnknownMedia(session, hash) // or the session was deleted meanwhile
		case err != nil:
			return event.Media{}, nil, l.methodError(ctx, "read a medium", err)
		}
		if i == 0 {
			pieces = int(numberIn(piece.Header, headerPieces))
			if m, err = mediaIn(piece.Header); err != nil {
				return event.Media{}, nil, err
			}
		}
		data = append(data, piece.Data...)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
		return event.Media{}, nil, fmt.Errorf("%s: session %q: %w: the parts of medium %.16s do not fit together", l.name, session, eventlog.ErrCorrupt, hash)
	}
	return m, data, nil
}

// mediaIn returns the medium that a header describes.
func mediaIn(h nats.Header) (m event.Media, err error) {
	if err := json.Unmarshal([]byte(h.Get(headerMedia)), &m); err != nil {
		return m, fmt.Errorf("%w: a medium: %w", eventlog.ErrCorrupt, err)
	}
	return m, nil
}

// ListMedia implements eventlog.Log. It reads no bytes.
func (l *Log) ListMedia(ctx context.Context, session string) (out []event.Media, err error) {
	ctx, end, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	err = l.retry(ctx, func(ctx context.Context) error {
		out = nil
		return lastMessages(ctx, l.media, l.mediaSubject(session)+".*.0", func(_ string, h nats.Header, _ []byte) error {
			m, err := mediaIn(h)
			out = append(out, m)
			return err
		}, true)
	})
	slices.SortFunc(out, func(a, b event.Media) int { return strings.Compare(a.SHA256, b.SHA256) })
	return out, l.methodError(ctx, "list media", err)
}
