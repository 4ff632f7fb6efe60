package patient_test

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/internal/patient"
)

func TestMain(m *testing.M) {
	patient.Parallel()
	os.Exit(m.Run())
}

// TestParallel checks that more tests than cores run at once, unless the command line
// sets the number. `go test -parallel 3` tests the second case.
func TestParallel(t *testing.T) {
	given := ""
	for i, a := range os.Args {
		if a == "-test.parallel" && i+1 < len(os.Args) {
			given = os.Args[i+1]
		} else if len(a) > 15 && a[:15] == "-test.parallel=" {
			given = a[15:]
		}
	}
	want := given
	if given == "" {
		want = strconv.Itoa(8 * runtime.GOMAXPROCS(0))
	}
	gomega.NewWithT(t).Expect(flag.Lookup("test.parallel").Value.String()).To(gomega.Equal(want))
}
