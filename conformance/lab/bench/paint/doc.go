// Package paint measures the chat page in a real browser, beside a control: a page that
// appends the text of the same events to one text node, and does nothing else. It is not
// part of the stable interface.
//
// Three loads are measured. A turn: from the click on send, over the stages that the page
// marks, to the frame that shows the first text. A flood: deltas as fast as the server
// takes them, until a frame shows the last one, and how old the oldest delta was that no
// frame showed. A stored session: from its choice to the frame that shows its newest
// messages, and until the browser is idle; and the longest task while all of it is
// scrolled through.
//
// The server runs in this process, with a session that needs no runtime, so that the
// figures are those of the way from an event to the screen.
package paint

import "github.com/turnspec/turnspec/conformance/lab/bench"

// The contenders. UseChat takes part if it was built, by `make usechat`.
const (
	Page    = "page"
	Control = bench.DOM
	UseChat = bench.Chat
)

// The loads.
const (
	Turn  = "turn"
	Flood = "page-flood"
)

// Config configures a run.
type Config struct {
	Deltas   int   // of the flood
	Events   []int // of the stored sessions
	Repeats  int
	UseChat  string // the file with the page of useChat; "": it does not take part
	Turnspec string // the version that measured
	Progress func(done, total int, what string)
}
