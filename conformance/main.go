package conformance

import (
	"os"

	"github.com/turnspec/turnspec/fakes/relay"
	"github.com/turnspec/turnspec/fakes/servers"
)

// Main runs this program as a stand-in, or as an MCP server of a scenario, if the suite
// started it as one, and then does not return. The process tier starts the test program
// again under the name of a runtime. A program that uses it calls Main first in main, a test in TestMain:
//
//	func TestMain(m *testing.M) {
//		conformance.Main()
//		os.Exit(m.Run())
//	}
func Main() {
	if handled, code := relay.Main(); handled {
		os.Exit(code)
	}
	if m := servers.Get(); m != nil {
		if handled, code := m.Main(os.Args); handled {
			os.Exit(code)
		}
	}
}
