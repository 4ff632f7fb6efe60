package conformance

import (
	"os"

	"github.com/turnspec/turnspec/fakes/relay"
)

// Main does what the suite has started this program for, if it has: to be the
// stand-in of a runtime. Then it does not return. A program that plays with real
// processes calls it first in main, a test in TestMain:
//
//	func TestMain(m *testing.M) {
//		conformance.Main()
//		os.Exit(m.Run())
//	}
func Main() {
	if handled, code := relay.Main(); handled {
		os.Exit(code)
	}
}
