package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// openRaw opens the file with SQLite alone.
func openRaw(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func integrityCheck(path string) (string, error) {
	db, err := openRaw(path)
	if err != nil {
		return "", err
	}
	var result string
	err = db.QueryRow("PRAGMA integrity_check").Scan(&result)
	return result, errors.Join(err, db.Close())
}

func execRaw(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := openRaw(path)
	for _, s := range statements {
		if err == nil {
			_, err = db.Exec(s)
		}
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestLockedFile(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "locked.db")
	log := openLog(t, path, sqlite.Options{Busy: 20 * time.Millisecond})
	g.Expect(log.Append(t.Context(), deltas("s", 1, 3)...)).To(Succeed())

	db, err := openRaw(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = conn.Close() }()
	_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
	g.Expect(err).NotTo(HaveOccurred())

	err = log.Append(t.Context(), delta("s", 4))
	g.Expect(err).To(MatchError(eventlog.ErrBusy))
	g.Expect(err).To(MatchError(And(ContainSubstring("locked.db"), ContainSubstring("another program is writing"))))
	g.Expect(readSeqs(t.Context(), log)).To(BeEquivalentTo(3)) // reads still succeed

	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(log.Append(t.Context(), deltas("s", 4, 5)...)).To(Succeed())
	g.Expect(readSeqs(t.Context(), log)).To(BeEquivalentTo(5))
}

func TestFullFile(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "full.db")
	log := openLog(t, path, sqlite.Options{}.WithMaxPages(50))
	last, err := appendUntilError(t.Context(), log, 5000)
	g.Expect(err).To(MatchError(eventlog.ErrFull))
	g.Expect(err).To(MatchError(And(ContainSubstring("full.db"), ContainSubstring("free some space"))))
	g.Expect(readSeqs(t.Context(), log)).To(Equal(last))
	g.Expect(log.Append(t.Context(), deltas("s", last+1, last+10)...)).To(MatchError(eventlog.ErrFull))

	log.MorePages(t)
	g.Expect(log.Append(t.Context(), deltas("s", last+1, last+10)...)).To(Succeed())
	g.Expect(readSeqs(t.Context(), log)).To(Equal(last + 10))
}

// appendUntilError appends until it fails and returns the last acknowledged seq.
func appendUntilError(ctx context.Context, log eventlog.Log, most int64) (last int64, err error) {
	for ; last < most; last += 10 {
		if err := log.Append(ctx, deltas("s", last+1, last+10)...); err != nil {
			return last, err
		}
	}
	return last, nil
}

func TestOpenRejectsOtherFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	foreign := at("foreign.db")
	execRaw(t, foreign, "CREATE TABLE chats (id)")
	marked := at("marked.db")
	execRaw(t, marked, "PRAGMA application_id = 7; PRAGMA user_version = 1")
	newer := at("newer.db")
	openLog(t, newer, sqlite.Options{})
	execRaw(t, newer, "PRAGMA user_version = 99")

	for name, c := range map[string]struct {
		path string
		is   error
		says string
		both bool // read-only and writable
	}{
		"text":       {write("text.db", strings.Repeat("This is not a database. ", 100)), eventlog.ErrNotLog, "name another file", true},
		"short text": {write("short.db", "{}\n"), eventlog.ErrNotLog, "name another file", true},
		"foreign":    {foreign, eventlog.ErrNotLog, "something else", true},
		"marked":     {marked, eventlog.ErrNotLog, "something else", true},
		"newer":      {newer, eventlog.ErrNewer, "update the program", true},
		"a folder":   {dir, eventlog.ErrNotLog, "it is a folder", true},
		"no folder":  {at("none/log.db"), os.ErrNotExist, "make it first", false},
		"empty":      {write("empty.db", ""), eventlog.ErrNotLog, "it is empty", false},
		"not there":  {at("absent.db"), os.ErrNotExist, "no such file", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, _ := os.ReadFile(c.path)
			for _, readOnly := range []bool{true, false} {
				if !c.both && readOnly == (name == "no folder") {
					continue
				}
				_, err := sqlite.Open(t.Context(), c.path, sqlite.Options{ReadOnly: readOnly})
				g.Expect(err).To(MatchError(c.is))
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			}
			if after, _ := os.ReadFile(c.path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
	if _, err := os.Stat(at("absent.db")); err == nil {
		t.Error("opening for reading made a file")
	}
}

func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "damaged.db")
	createLog := func(t *testing.T) {
		t.Helper()
		_ = os.Remove(path)
		log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err == nil {
			err = errors.Join(log.Append(t.Context(), deltas("s", 1, 2000)...), log.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("pages", func(t *testing.T) {
		g := NewWithT(t)
		createLog(t)
		b, err := os.ReadFile(path)
		g.Expect(err).NotTo(HaveOccurred())
		for i := 16 << 10; i < len(b); i++ {
			b[i] = 0xaa
		}
		g.Expect(os.WriteFile(path, b, 0o600)).To(Succeed())
		log := openLog(t, path, sqlite.Options{})
		_, err = readSeqs(t.Context(), log)
		g.Expect(err).To(MatchError(eventlog.ErrCorrupt))
		g.Expect(err).To(MatchError(ContainSubstring("keep a copy")))
	})
	t.Run("an invalid event", func(t *testing.T) {
		createLog(t)
		execRaw(t, path, `UPDATE events SET event = '{"type":"dream"}' WHERE seq = 7`)
		log := openLog(t, path, sqlite.Options{})
		wantUnreadable(t, log, 6, 7)
	})
	t.Run("an event in a wrong place", func(t *testing.T) {
		createLog(t)
		execRaw(t, path, `UPDATE events SET event = (SELECT event FROM events WHERE seq = 9) WHERE seq = 7`)
		log := openLog(t, path, sqlite.Options{})
		wantUnreadable(t, log, 6, 7)
	})
	t.Run("missing events", func(t *testing.T) {
		g := NewWithT(t)
		createLog(t)
		execRaw(t, path, `DELETE FROM events WHERE seq BETWEEN 7 AND 9`)
		log := openLog(t, path, sqlite.Options{})
		wantUnreadable(t, log, 6, 9)
		g.Expect(log.Append(t.Context(), delta("s", 8))).To(MatchError(eventlog.ErrCorrupt))
	})
}

// wantUnreadable expects the readable events and then an error with the seq from
// which to continue.
func wantUnreadable(t *testing.T, log eventlog.Log, last, bad int64) {
	t.Helper()
	g := NewWithT(t)
	got, err := readSeqs(t.Context(), log)
	g.Expect(got).To(Equal(last))
	g.Expect(err).To(MatchError(eventlog.ErrCorrupt))
	at, ok := errors.AsType[*eventlog.UnreadableError](err)
	g.Expect(ok).To(BeTrue())
	g.Expect(at.Seq).To(Equal(bad))
	rest, err := log.Read(t.Context(), "s", at.Seq, 5)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(rest[0].Seq).To(Equal(bad + 1))
}

// A power failure may leave a relaxed log with a -wal file that is cut anywhere.
// Each session must then be a prefix of the appended events.
func TestCutWAL(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "cut.db")
	log := openLog(t, path, sqlite.Options{Relaxed: true})
	for seq := int64(1); seq <= 300; seq += 5 {
		g.Expect(log.Append(t.Context(), append(deltas("a", seq, seq+4), deltas("b", seq, seq+4)...)...)).To(Succeed())
	}
	main, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	wal, err := os.ReadFile(path + "-wal")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(wal)).To(BeNumerically(">", 100_000))
	before := int64(-1)
	cuts := 40
	if racesample.Enabled {
		cuts = 8
	}
	for cut := 0; cut <= len(wal); cut += len(wal)/cuts + 1 {
		copied := filepath.Join(dir, fmt.Sprintf("copy-%d.db", cut))
		g.Expect(os.WriteFile(copied, main, 0o600)).To(Succeed())
		g.Expect(os.WriteFile(copied+"-wal", wal[:cut], 0o600)).To(Succeed())
		log, err := sqlite.Open(t.Context(), copied, sqlite.Options{})
		g.Expect(err).NotTo(HaveOccurred(), "cut at %d", cut)
		a, err := checkSession(t.Context(), log, "a")
		g.Expect(err).NotTo(HaveOccurred(), "cut at %d", cut)
		g.Expect(checkSession(t.Context(), log, "b")).To(Equal(a))
		g.Expect(a).To(BeNumerically(">=", before))
		before = a
		g.Expect(log.Append(t.Context(), delta("a", a+1))).To(Succeed())
		g.Expect(log.Close()).To(Succeed())
	}
	g.Expect(before).To(BeNumerically(">", 200))
}

const envReadOnly = "TURNSPEC_EVENTLOG_READONLY"

// printReadOnly is the part of a child process that may not write to the file.
func printReadOnly(path string) {
	ctx := context.Background()
	_, err := sqlite.Open(ctx, path, sqlite.Options{})
	fmt.Println("writing:", errors.Is(err, eventlog.ErrReadOnly), err) // read by the parent
	log, err := sqlite.Open(ctx, path, sqlite.Options{ReadOnly: true})
	if err != nil {
		fmt.Println("reading:", err) // read by the parent
		return
	}
	n, err := readSeqs(ctx, log)
	fmt.Println("reading:", n, errors.Join(err, log.Close())) // read by the parent
}

func TestFileNamesWithSpecialCharacters(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "a?mode=ro.db", "a#b.db", "a%20b.db", "ä&ö.db", ":memory:"} {
		path := filepath.Join(dir, name)
		log, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		g.Expect(err).NotTo(HaveOccurred(), name)
		g.Expect(log.Append(t.Context(), delta("s", 1))).To(Succeed(), name)
		g.Expect(log.Close()).To(Succeed())
		g.Expect(fileSize(t, path)).To(BeNumerically(">", 0), name)
	}
	entries, err := os.ReadDir(dir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(entries).To(HaveLen(6), "a closed log leaves no other files")
}
