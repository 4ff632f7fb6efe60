package sidecar_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/backend/eventlog"
	"github.com/turnspec/turnspec/adapters/backend/eventlog/sqlite"
	"github.com/turnspec/turnspec/adapters/backend/sidecar"
)

// envServe is the file of the event log of this program if it runs as a server.
const envServe = "TURNSPEC_TEST_SERVE"

// TestMain makes this program a server of the scripted adapter, or the tests.
func TestMain(m *testing.M) {
	if file := os.Getenv(envServe); file != "" {
		serveScripted(file)
		return
	}
	os.Exit(m.Run())
}

// serveScripted serves until the process is killed.
func serveScripted(file string) {
	log, err := sqlite.Open(context.Background(), file, sqlite.Options{Relaxed: true})
	if err != nil {
		panic(err)
	}
	s := sidecar.New(sidecar.Config{Log: log, Adapters: map[string]adapters.Adapter{"scripted": &scripted{}}})
	if _, err := s.Recover(context.Background(), sidecar.RecoverClose); err != nil {
		panic(err)
	}
	fmt.Println(httptest.NewServer(s).URL)
	select {}
}

// process is a server that is a process.
type process struct {
	cmd *exec.Cmd
	url string
}

func startProcess(t *testing.T, file string) process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), envServe+"="+file), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := process{cmd, strings.TrimSpace(url)}
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as a crash does.
func (p process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// TestKilledServer kills a server at random moments of a turn. A listener that returns
// to the next server must have received what the log holds, each event once, and the
// log must have no gap.
func TestKilledServer(t *testing.T) {
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv("TURNSPEC_CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "log.db")
	p := startProcess(t, file)
	random := rand.New(rand.NewPCG(11, 12))
	cut := 0
	for n := range rounds {
		id := "s" + strconv.Itoa(n)
		post(t, p.url+"/sessions", fmt.Sprintf(`{"session_id":%q}`, id))
		post(t, p.url+"/sessions/"+id+"/message", `{"message":"300"}`)
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(random.IntN(30_000)) * time.Microsecond)
			p.kill()
		}()
		got := readFrames(t, p.url+"/sessions/"+id+"/events", "")
		<-killed
		p = startProcess(t, file)
		last := "0"
		if len(got) > 0 {
			last = got[len(got)-1].id
		}
		if at, _ := strconv.Atoi(last); at < 305 { // the end of the turn
			cut++
		}
		got = append(got, readFrames(t, p.url+"/sessions/"+id+"/events", last)...)
		log, err := sqlite.Open(t.Context(), file, sqlite.Options{ReadOnly: true})
		g.Expect(err).NotTo(HaveOccurred())
		stored := 0
		for e, err := range eventlog.All(t.Context(), log, id, 0) {
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(stored).To(BeNumerically("<", len(got)), "round %d: the listener received %d events only", n, len(got))
			b, err := eventlog.Encode(e)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got[stored].data).To(Equal(string(b)), "round %d", n)
			stored++
			g.Expect(e.Seq).To(BeEquivalentTo(stored))
		}
		g.Expect(log.Close()).To(Succeed())
		g.Expect(got).To(HaveLen(stored))
		if stored == 0 {
			continue // it was killed before the first event was stored
		}
		g.Expect(got[stored-1].name).To(Equal("session_end"))
	}
	t.Logf("%d rounds, %d of them killed before the listener had the whole turn", rounds, cut)
}

func post(t *testing.T, url, body string) {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode >= 300 {
		t.Fatalf("POST %s: %s", url, res.Status)
	}
}

// readFrames reads a stream to its end. Only whole events count.
func readFrames(t *testing.T, url, after string) (out []frame) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil // the server was killed
	}
	defer func() { _ = res.Body.Close() }()
	l := &listener{t: t, lines: bufio.NewScanner(res.Body)}
	for {
		f, more := l.next()
		if !more {
			return out
		}
		out = append(out, f)
	}
}
