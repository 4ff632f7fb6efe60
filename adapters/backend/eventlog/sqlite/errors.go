package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
)

// explanation is the meaning of a database error and the next step.
type explanation struct {
	kind error
	todo string
}

var explanations = map[int]explanation{
	lib.SQLITE_BUSY:     {eventlog.ErrBusy, "another program is writing to it; try again, or end that program"},
	lib.SQLITE_LOCKED:   {eventlog.ErrBusy, "another program is writing to it; try again, or end that program"},
	lib.SQLITE_PROTOCOL: {eventlog.ErrBusy, "other programs lock it too often; try again, or end one of them"},
	lib.SQLITE_FULL:     {eventlog.ErrFull, "free some space and append the same again; nothing that was stored is lost"},
	lib.SQLITE_READONLY: {eventlog.ErrReadOnly, "change its permissions and those of its folder, or open it for reading only"},
	lib.SQLITE_PERM:     {eventlog.ErrReadOnly, "change its permissions and those of its folder, or open it for reading only"},
	lib.SQLITE_CANTOPEN: {fs.ErrPermission, "look at the permissions of the file and of its folder"},
	lib.SQLITE_CORRUPT:  {eventlog.ErrCorrupt, "keep a copy; sqlite3's .recover may save what is left of it"},
	lib.SQLITE_NOTADB:   {eventlog.ErrNotLog, "it is not an SQLite database; name another file"},
}

// explainError adds the path, the meaning and the next step to a database error.
func explainError(path, op string, err error) error {
	if err == nil {
		return nil
	}
	var code int
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		code = e.Code()
	}
	x, ok := explanations[code&0xff]
	switch code {
	case lib.SQLITE_IOERR_SHMSIZE: // no space for FILE-shm
		x, ok = explanations[lib.SQLITE_FULL], true
	case lib.SQLITE_IOERR_CORRUPTFS:
		x, ok = explanations[lib.SQLITE_CORRUPT], true
	}
	if !ok {
		return fmt.Errorf("%s: %s: %w", path, op, err)
	}
	return fmt.Errorf("%s: %s: %w: %s (%w)", path, op, x.kind, x.todo, err)
}
