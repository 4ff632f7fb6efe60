package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/event"
)

type medium struct {
	event.Media
	session string
	data    []byte
}

// mediaVersion is the first version of a file that holds media. An older one was opened
// read-only, so it is not migrated.
const mediaVersion = 3

// PutMedia implements eventlog.Log.
func (l *Log) PutMedia(ctx context.Context, session string, m event.Media, data []byte) error {
	if err := l.checkOpen(ctx); err != nil {
		return err
	}
	m, err := eventlog.CheckMedia(session, m, data)
	if err != nil {
		return err
	}
	// Copied, because the caller may return before the writer has stored it.
	return l.sendToWriter(ctx, &request{medium: &medium{m, session, bytes.Clone(data)}, bytes: len(data)})
}

func (w *writer) insertMedium(ctx context.Context, m *medium) error {
	s, err := w.loadSession(ctx, m.session)
	switch {
	case err != nil:
		return err
	case s == nil:
		return fmt.Errorf("%s: %w: %q", w.log.path, eventlog.ErrUnknownSession, m.session)
	}
	if m.data == nil {
		m.data = []byte{} // nil would be NULL
	}
	_, err = w.conn.ExecContext(ctx, `INSERT INTO media (session, sha256, kind, mime, data) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`, s.n, m.SHA256, string(m.Kind), m.MIME, m.data)
	return err
}

const selectMedia = ` FROM media WHERE session = (SELECT n FROM sessions WHERE id = ?)`

// Media implements eventlog.Log.
func (l *Log) Media(ctx context.Context, session, sha256 string) (m event.Media, data []byte, err error) {
	if err := l.checkOpen(ctx); err != nil {
		return m, nil, err
	}
	if l.version < mediaVersion {
		return m, nil, eventlog.UnknownMedia(session, sha256)
	}
	err = l.readers.QueryRowContext(ctx, `SELECT kind, mime, length(data), sha256, data`+selectMedia+` AND sha256 = ?`, session, sha256).
		Scan(&m.Kind, &m.MIME, &m.Size, &m.SHA256, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return m, nil, eventlog.UnknownMedia(session, sha256)
	case err != nil:
		return m, nil, l.methodError(ctx, "read a medium", err)
	}
	return m, data, nil
}

// ListMedia implements eventlog.Log.
func (l *Log) ListMedia(ctx context.Context, session string) (out []event.Media, err error) {
	if err := l.checkOpen(ctx); err != nil {
		return nil, err
	}
	if l.version < mediaVersion {
		return nil, nil
	}
	rows, err := l.readers.QueryContext(ctx, `SELECT kind, mime, length(data), sha256`+selectMedia+` ORDER BY sha256`, session)
	if err != nil {
		return nil, l.methodError(ctx, "list media", err)
	}
	defer func() { _ = rows.Close() }() // rows.Err reports the error
	for rows.Next() {
		var m event.Media
		if err := rows.Scan(&m.Kind, &m.MIME, &m.Size, &m.SHA256); err != nil {
			return nil, l.methodError(ctx, "list media", err)
		}
		out = append(out, m)
	}
	return out, l.methodError(ctx, "list media", rows.Err())
}
