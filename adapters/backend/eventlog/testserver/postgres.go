package testserver

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// startLimit is how long a server has to start or to end.
const startLimit = time.Minute

// Postgres is a running PostgreSQL server.
type Postgres struct {
	t       *testing.T
	bin     string // folder of the programs
	dir     string // data and socket
	process *exec.Cmd
	output  bytes.Buffer // read after the process has ended only
	schemas atomic.Int64
}

// StartPostgres starts a server. If PostgreSQL is not installed, it skips the test, or
// fails it if CI is set.
func StartPostgres(t *testing.T) *Postgres {
	t.Helper()
	bin := postgresFolder()
	if bin == "" {
		const why = "PostgreSQL is not installed: on Debian, `apt-get install postgresql`"
		if os.Getenv("CI") != "" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	// Not t.TempDir, because a socket's path has 107 bytes at most.
	dir, err := os.MkdirTemp("", "pg") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	p := &Postgres{t: t, bin: bin, dir: dir}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 { // the server refuses to run as root
		if out, err := exec.Command("chown", "nobody", dir).CombinedOutput(); err != nil {
			t.Fatalf("chown: %v\n%s", err, out)
		}
	}
	if out, err := p.command("initdb", "--pgdata", p.data(), "--username", "turnspec", "--auth", "trust",
		"--encoding", "UTF8", "--locale", "C", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	p.Start()
	t.Cleanup(func() {
		if p.process != nil {
			p.Kill()
		}
	})
	return p
}

// postgresFolder returns the folder of PostgreSQL's programs, or "". Debian's is not in
// PATH.
func postgresFolder() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(slices.Max(found))
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// command returns a command of PostgreSQL, as another user than root.
func (p *Postgres) command(name string, args ...string) *exec.Cmd {
	args = append([]string{filepath.Join(p.bin, name)}, args...)
	if os.Getuid() == 0 {
		args = append([]string{"setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = p.dir
	return cmd
}

// Start starts the server after Stop or Kill, and returns when it accepts connections.
func (p *Postgres) Start() {
	p.t.Helper()
	p.output.Reset()
	// Without fsync a power failure could lose data, but the end of the process cannot.
	p.process = p.command("postgres", "-D", p.data(), "-k", p.dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=200")
	p.process.Stdout, p.process.Stderr = &p.output, &p.output
	if err := p.process.Start(); err != nil {
		p.t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		c, err := pgconn.Connect(ctx, p.url(""))
		if err == nil {
			_ = c.Close(ctx)
			cancel()
			return
		}
		cancel()
		if time.Since(began) > startLimit {
			p.Kill()
			p.t.Fatalf("PostgreSQL did not start: %v\n%s", err, p.output.Bytes())
		}
	}
}

// Stop ends the server as a restart does: running transactions are rolled back and
// connections are closed.
func (p *Postgres) Stop() { p.end(syscall.SIGINT) }

// Kill ends the server as a crash does.
func (p *Postgres) Kill() { p.end(syscall.SIGQUIT) }

func (p *Postgres) end(signal os.Signal) {
	process := p.process
	p.process = nil
	_ = process.Process.Signal(signal) // it may have ended
	kill := time.AfterFunc(startLimit, func() { _ = process.Process.Kill() })
	_ = process.Wait()
	kill.Stop()
}

func (p *Postgres) url(schema string) string {
	q := url.Values{"host": {p.dir}, "sslmode": {"disable"}}
	if schema != "" {
		q.Set("search_path", schema)
	}
	return "postgres://turnspec@/postgres?" + q.Encode()
}

// NewSchema creates an empty schema and returns the URL of the database with it.
func (p *Postgres) NewSchema() string {
	p.t.Helper()
	schema := fmt.Sprint("test_", p.schemas.Add(1))
	p.Exec(p.url(""), "CREATE SCHEMA "+schema)
	return p.url(schema)
}

// Exec executes SQL and returns the first column of the rows.
func (p *Postgres) Exec(url, sql string) (out []string) {
	p.t.Helper()
	c, err := pgconn.Connect(context.Background(), url)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	results, err := c.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		p.t.Fatalf("%s: %v", strings.TrimSpace(sql), err)
	}
	for _, r := range results {
		for _, row := range r.Rows {
			out = append(out, string(row[0]))
		}
	}
	return out
}
