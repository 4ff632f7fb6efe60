package drive

// codex exec runs a turn and ends: a session that lives between turns is a file,
// and nothing of it can be asked for.

const execRuntime = "codexexec"

func (c *codexExec) compact() error { return errCannot(execRuntime, "sums up a history") }

func (c *codexExec) revert(string) error { return errCannot(execRuntime, "takes turns back") }

func (c *codexExec) rewind(string, bool) error { return errCannot(execRuntime, "puts files back") }

func (c *codexExec) archive() error { return errCannot(execRuntime, "puts a session away") }

func (c *codexExec) name(string) error { return errCannot(execRuntime, "names a session") }

func (c *codexExec) raw(string) error { return errCannot(execRuntime, "is a line") }
