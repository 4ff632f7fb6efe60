package claude

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/turnspec/turnspec/adapters"
	"github.com/turnspec/turnspec/adapters/event"
	"github.com/turnspec/turnspec/adapters/internal/session"
	"github.com/turnspec/turnspec/adapters/op"
	"github.com/turnspec/turnspec/adapters/proc"
)

// executableVar names the program, as in the vendor's own clients.
const executableVar = "CLAUDE_CODE_EXECUTABLE"

// Adapter is the adapter for Claude Code. It has no state.
type Adapter struct{}

// New returns the adapter for Claude Code.
func New() Adapter { return Adapter{} }

// Capabilities implements adapters.Adapter. There is no steering: the runtime
// puts a message that arrives while a tool runs into the turn (via merge).
func (Adapter) Capabilities() adapters.Capabilities {
	return adapters.Capabilities{
		Runtime: runtimeName, Permissions: true, Thinking: true, Background: true, Subagents: true, Priority: true,
		Can: op.SetOf(op.SetModel, op.SetMode, op.StopAll, op.StopTask, op.Withdraw, op.Rewind, op.Compact, op.Rename, op.List).And(
			"resume", "fork", "fork_at", "instructions", "effort", "max_requests", "max_cost", "extra_dirs", "setting_sources", "stream_tool_input",
			"mcp", "tools", "hooks", "schema", "judge"),
	}
}

// Open implements adapters.Adapter.
func (a Adapter) Open(ctx context.Context, o adapters.Options) (adapters.Session, error) {
	if err := a.Capabilities().Refuse(o); err != nil {
		return nil, invalidOption("options", err)
	}
	if o.Checkpoints {
		o.Env = append(slices.Clip(proc.Environ(o.Env)), checkpointVar+"=1")
	}
	if err := checkJudgeOptions(o); err != nil {
		return nil, invalidOption("judge", err)
	}
	if o.SessionID == "" {
		o.SessionID = newUUID()
	}
	provider := o.Resume
	if o.Resume == "" || o.Fork {
		provider = newUUID()
	}
	args := buildArgs(o, provider)
	s, err := openSession(ctx, o, provider, append(args, forwardText))
	if e, ok := errors.AsType[*adapters.OpenError](err); ok && strings.Contains(e.Stderr, "unknown option '"+forwardText+"'") {
		return openSession(ctx, o, provider, args)
	}
	return s, err
}

func invalidOption(op string, err error) error {
	return &adapters.OpenError{Code: event.ErrorInvalid, Op: op, Err: err}
}

// forwardText requests text and thinking of foreground sub-agents. Older
// versions reject the option and exit; they report only the tools.
const forwardText = "--forward-subagent-text"

func openSession(ctx context.Context, o adapters.Options, provider string, args []string) (adapters.Session, error) {
	argv := append(append(executable(o), args...), o.Args...)
	c := proc.Command{Argv: argv, Dir: o.Dir, Env: o.Env}
	hint := event.SessionReady{SessionID: o.SessionID, Runtime: runtimeName, ProviderSessionID: provider}
	s, p, err := session.Open(ctx, o, c, hint, func(h session.Host) *protocol { return newProtocol(h, o, provider) })
	if err != nil {
		return nil, err
	}
	return liveSession{s, p}, nil
}

func executable(o adapters.Options) []string {
	if len(o.Command) > 0 {
		return append([]string(nil), o.Command...)
	}
	if p := proc.Getenv(o.Env, executableVar); p != "" {
		return []string{p}
	}
	return []string{"claude"}
}

// buildArgs returns the arguments of a process that serves the whole session.
// It requests echoes of accepted messages, because older versions have no other
// way to report that a message was put into a running turn.
func buildArgs(o adapters.Options, provider string) []string {
	a := []string{"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages"}
	switch {
	case o.Fork:
		a = append(a, "--resume", o.Resume, "--fork-session", "--session-id", provider)
		if o.At != "" {
			a = append(a, "--resume-session-at", o.At)
		}
	case o.Resume != "":
		a = append(a, "--resume", o.Resume)
	default:
		a = append(a, "--session-id", provider)
	}
	if o.Model != "" {
		a = append(a, "--model", o.Model)
	}
	switch {
	case o.Instructions == "":
	case o.ReplaceInstructions:
		a = append(a, "--system-prompt", o.Instructions)
	default:
		a = append(a, "--append-system-prompt", o.Instructions)
	}
	a = append(a, limitArgs(o)...)
	if o.Mode != "" {
		a = append(a, "--permission-mode", modeFlag(o.Mode))
	}
	if o.Judge != nil {
		a = append(a, settingsFlag, judgeSettings)
	}
	return append(a, mcpConfigArgs(o.MCP)...)
}

// limitArgs returns the arguments for what a session may use: reasoning, requests, money,
// folders and settings.
func limitArgs(o adapters.Options) (a []string) {
	if o.Effort != "" {
		a = append(a, "--effort", o.Effort)
	}
	if o.MaxRequests > 0 {
		a = append(a, "--max-turns", strconv.Itoa(o.MaxRequests))
	}
	if o.MaxCost > 0 {
		a = append(a, "--max-budget-usd", strconv.FormatFloat(o.MaxCost, 'f', -1, 64))
	}
	for _, dir := range o.ExtraDirs {
		a = append(a, "--add-dir", dir)
	}
	if o.SettingSources != nil {
		a = append(a, "--setting-sources="+strings.Join(o.SettingSources, ","))
	}
	return a
}

// newUUID returns a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return formatUUID(b, 4)
}

// wireUUID returns the uuid of a message on the wire: its id if that is a UUID,
// else one derived from the session and the id, so that a retry is the same
// message.
func wireUUID(session, id string) string {
	if isUUID.MatchString(id) {
		return strings.ToLower(id)
	}
	sum := sha256.Sum256([]byte(session + "\x00" + id))
	return formatUUID([16]byte(sum[:16]), 8)
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

var isUUID = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)
