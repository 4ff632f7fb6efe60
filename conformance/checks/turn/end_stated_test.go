package turn

import (
	"testing"

	"github.com/turnspec/turnspec/fixtures/wire"
)

func TestStatedEnd(t *testing.T) {
	for _, c := range []struct {
		statement wire.Statement
		want      string
	}{
		{wire.Statement{End: wire.EndCompleted}, `"completed" and no other reason`},
		{wire.Statement{End: wire.EndStopped, Reason: "aborted_tools"}, `"aborted_tools"`},
	} {
		if got := statedEnd(c.statement); got != c.want {
			t.Errorf("%+v: %s, want %s", c.statement, got, c.want)
		}
	}
}
