package opencode

import (
	"cmp"
	"errors"
	"strings"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/recorder/internal/drive"
)

// Reads implements drive.Client. In a method, {session} stands for the id of the session.
// They come after the changes of files, which the server reports when the turn has ended.
func (c *client) Reads() []drive.Read {
	c.d.Fail(c.d.Until("the changes of files", func() bool { return c.summarized }))
	reads := []drive.Read{}
	for _, path := range []string{
		"/session/{session}", "/session/{session}/message", "/session/{session}/children", "/session/{session}/todo", "/session/{session}/diff",
		"/session", "/session/status", "/permission", "/question", "/global/health", "/path", "/project/current", "/config/providers", "/mcp", "/vcs",
	} {
		reads = append(reads, drive.Read{Method: "GET " + path})
	}
	return append(reads,
		drive.Read{Method: "GET /session/{session}", Params: fixtures.UnknownSession},
		drive.Read{Method: "GET /session/{session}/message", Params: fixtures.UnknownSession},
	)
}

// Request implements drive.Client. Params is another session.
func (c *client) Request(r drive.Read) error {
	method, path, _ := strings.Cut(r.Method, " ")
	err := c.request(method, strings.ReplaceAll(path, "{session}", cmp.Or(r.Params, c.session)), nil)
	if _, refused := errors.AsType[drive.RefusalError](err); refused {
		return nil // the reply is recorded
	}
	return err
}

// Fence implements drive.Client.
func (c *client) Fence() error { return c.Request(drive.Read{Method: "GET /session/status"}) }
