package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnspec/turnspec/recorder/capture"
	"github.com/turnspec/turnspec/recorder/redact"
)

// liveFlags are the flags of record --live.
type liveFlags struct {
	out, runtime string
	yes          bool
}

// recordLive relays between a client and a user's own runtime, byte for byte. It
// writes nothing before the user has seen what it would write, and agreed.
func recordLive(cmd *cobra.Command, argv []string, f liveFlags) error {
	switch {
	case len(argv) == 0:
		return errors.New("--live needs the command of the runtime: turnspec record --live --out FILE -- codex app-server")
	case f.out == "":
		return errors.New("--live needs --out FILE: stdout belongs to the client")
	}
	if _, err := os.Stat(f.out); err == nil {
		return fmt.Errorf("%s exists: name another file", f.out)
	}
	if !f.yes { // do not let a session begin that cannot be written
		tty, err := openTerminal()
		if err != nil {
			return err
		}
		_ = tty.Close()
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	wire, exit, err := capture.Live(cmd.Context(), argv, capture.Stdio{In: cmd.InOrStdin(), Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Signals: signals})
	if err != nil {
		return err
	}
	h := capture.Head{Name: "live/session", Recorded: time.Now().Format(time.DateOnly) + " turnspec record --live"}
	if err := whose(&h, f.runtime, wire); err != nil {
		return err
	}
	b, err := capture.Make(h, redact.Here(), wire)
	if err != nil {
		return err
	}
	if !f.yes {
		if err := agreed(f.out, b); err != nil {
			return err
		}
	}
	if err := put(io.Discard, f.out, b); err != nil {
		return err
	}
	if exit.Code != 0 {
		return exitError(exit.Code)
	}
	return nil
}

// agreed shows what would be written and asks at the terminal, since stdin belongs
// to the client.
func agreed(file string, b []byte) error {
	tty, err := openTerminal()
	if err != nil {
		return err
	}
	defer func() { _ = tty.Close() }()
	preview(tty, file, b)
	fmt.Fprint(tty, "Write it? [y/N] ")
	answer, err := bufio.NewReader(tty).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errors.New("nothing was written")
	}
	return nil
}

// openTerminal opens the terminal that the program was started from.
func openTerminal() (*os.File, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.New("there is no terminal at which to ask whether the recording may be written: add --yes to agree in advance")
	}
	return tty, nil
}

// preview prints the beginning of each line, and what was replaced.
func preview(out io.Writer, file string, b []byte) {
	const width, most = 160, 40
	n := 0
	for line := range bytes.Lines(b) {
		if n++; n <= most {
			line = bytes.TrimRight(line, "\n")
			fmt.Fprintf(out, "%.*s\n", width, line)
		}
	}
	if n > most {
		fmt.Fprintf(out, "… %d more lines\n", n-most)
	}
	fmt.Fprintf(out, "%s: %d lines, %d bytes; replaced: %d secrets, %d paths of the home, %d pieces of prose.\n", file, n, len(b),
		bytes.Count(b, []byte("<secret:")), bytes.Count(b, []byte("<home>")), bytes.Count(b, []byte("<elided:")))
}
