package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/lab/bench/curve"
	"github.com/turnspec/turnspec/conformance/report/table"
)

func TestTable(t *testing.T) {
	now := figures{Build: 10 * time.Second, Size: 46e6, Start: 16 * time.Millisecond, Spawn: time.Millisecond, Suite: curve.Point{N: 300_000, Wall: 60, CPU: 120, Memory: 1 << 29}}
	base := now
	base.Build = 20 * time.Second
	for name, x := range map[string]struct {
		base figures
		want string
	}{
		"alone": {figures{}, `
|  | figure | target |  |
|---|---|---|---|
| ` + "`turnspec run`" + ` | 60.0 s | 90 s | reached |
| processor time of the suite | 120.0 s | 0.5 times base |  |
| runs of the suite | 300000 |  |  |
| processor time of a run | 0.40 ms |  |  |
| memory of the suite | 512 MiB | 1 GiB | reached |
| released program | 46.0 MB | 45 MB | not reached |
| ` + "`turnspec version`" + ` | 16.00 ms | 30 ms | reached |
| ` + "`true`" + ` | 1.00 ms |  |  |
| processor time of a build without a cache | 10.0 s | 0.5 times base |  |
`},
		"beside a base": {base, `
|  | figure | target |  | base | times base |
|---|---|---|---|---|---|
| ` + "`turnspec run`" + ` | 60.0 s | 90 s | reached | 60.0 s | 1.00 |
| processor time of the suite | 120.0 s | 0.5 times base | not reached | 120.0 s | 1.00 |
| runs of the suite | 300000 |  |  | 300000 | 1.00 |
| processor time of a run | 0.40 ms |  |  | 0.40 ms | 1.00 |
| memory of the suite | 512 MiB | 1 GiB | reached | 512 MiB | 1.00 |
| released program | 46.0 MB | 45 MB | not reached | 46.0 MB | 1.00 |
| ` + "`turnspec version`" + ` | 16.00 ms | 30 ms | reached | 16.00 ms | 1.00 |
| ` + "`true`" + ` | 1.00 ms |  |  | 1.00 ms | 1.00 |
| processor time of a build without a cache | 10.0 s | 0.5 times base | reached | 20.0 s | 0.50 |
`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var b strings.Builder
			w := table.New(&b)
			w.Sections([]table.Section{newTable(now, x.base)})
			g.Expect(w.Err()).NotTo(HaveOccurred())
			g.Expect("\n" + b.String()).To(Equal(x.want))
		})
	}
}
