package postgres

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

type medium struct {
	event.Media
	session string
	data    []byte
}

func (m *medium) insert() statement {
	return statement{`INSERT INTO turnspec_media (session, sha256, kind, mime, data)
		SELECT n, $2, $3, $4, $5::bytea FROM turnspec_sessions WHERE id = $1 ON CONFLICT DO NOTHING`,
		[]any{m.session, m.SHA256, string(m.Kind), m.MIME, m.data}}
}

// PutMedia implements eventlog.Log.
func (l *Log) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	m, err := eventlog.CheckMedia(session, m, data)
	if err != nil {
		return err
	}
	if strings.ContainsRune(session, 0) {
		return fmt.Errorf("%w: %q", eventlog.ErrUnknownSession, session)
	}
	// Copied, because the caller may return before the writer has stored it.
	return l.sendToWriter(ctx, &request{medium: &medium{m, session, bytes.Clone(data)}, bytes: len(data), done: make(chan error, 1)})
}

const selectMedia = ` FROM turnspec_media WHERE session = (SELECT n FROM turnspec_sessions WHERE id = $1)`

// Media implements eventlog.Log.
func (l *Log) Media(ctx context.Context, session, sha256 string) (m event.Media, data []byte, err error) {
	found := false
	if !strings.ContainsRune(session+sha256, 0) { // which PostgreSQL would reject
		err = l.withReader(ctx, "read a medium", func(ctx context.Context, c *pgconn.PgConn) error {
			r := c.ExecParams(ctx, `SELECT kind, mime, sha256, data`+selectMedia+` AND sha256 = $2`,
				[][]byte{[]byte(session), []byte(sha256)}, nil, nil, []int16{formatBinary}).Read()
			if found = len(r.Rows) == 1; found {
				row := r.Rows[0]
				m, data = event.Media{Kind: event.MediaKind(row[0]), MIME: string(row[1]), Size: int64(len(row[3])), SHA256: string(row[2])}, row[3]
			}
			return r.Err
		})
	} else {
		err = l.checkOpen(ctx)
	}
	if err == nil && !found {
		err = eventlog.UnknownMedia(session, sha256)
	}
	return m, data, err
}

// ListMedia implements eventlog.Log.
func (l *Log) ListMedia(ctx context.Context, session string) (out []event.Media, err error) {
	err = l.withReader(ctx, "list media", func(ctx context.Context, c *pgconn.PgConn) error {
		out = nil
		return query(ctx, c, `SELECT kind, mime, octet_length(data), sha256`+selectMedia+` ORDER BY sha256`, func(row [][]byte) error {
			out = append(out, event.Media{Kind: event.MediaKind(row[0]), MIME: string(row[1]), Size: numberOf(row[2]), SHA256: string(row[3])})
			return nil
		}, session)
	})
	return out, err
}
