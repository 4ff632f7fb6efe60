package opencode

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/turnspec/turnspec/fixtures/schema"
	"github.com/turnspec/turnspec/recorder/runtimes"
)

// readSchema reads the document that the server offers at /doc. The server answers a request for
// a path that is not in it with its page.
func readSchema(ctx context.Context, rt runtimes.Runtime, tmp string) (_ *schema.Schema, err error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, rt.Binary, "serve", "--hostname", "127.0.0.1", "--port", "0")
	cmd.Dir, cmd.Env = tmp, append(os.Environ(), "HOME="+tmp, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_CACHE_HOME=",
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // it was killed
	}()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, url, ok := strings.Cut(lines.Text(), "listening on "); ok {
			return readDocument(ctx, url+"/doc")
		}
	}
	return nil, fmt.Errorf("%s does not listen", rt.Binary)
}

func readDocument(ctx context.Context, url string) (*schema.Schema, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	s, err := schema.ReadOpenAPI(b, methodOf)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	s.Roots = append(s.Roots, schema.Root{Kind: schema.Request, Name: schema.AnyMethod, Type: "any"})
	return s, nil
}

// methodOf names a method as fixtures/wire/opencode does.
func methodOf(verb, path string) string {
	return verb + " " + strings.ReplaceAll(strings.ReplaceAll(path, "{permissionID}", "{requestID}"), "ID}", "}")
}
