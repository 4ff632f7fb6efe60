package redact

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

// The rules are those of gitleaks, and find the same as its detector: in its examples, in
// lines of the corpus, and in these with a secret put in.
func TestRulesFindTheSame(t *testing.T) {
	g := NewWithT(t)
	g.Expect(string(ruleFile)).To(Equal(config.DefaultConfig), "copy config/gitleaks.toml of the module")
	logging.Logger = logging.Logger.Level(7) // zerolog.Disabled
	library, err := detect.NewDetectorDefaultConfig()
	g.Expect(err).NotTo(HaveOccurred())
	library.IgnoreGitleaksAllow = true
	ours, err := secretDetector()
	g.Expect(err).NotTo(HaveOccurred())
	found, texts := 0, 0
	compare := func(text string) {
		var want []string
		for _, f := range library.DetectString(text) {
			want = append(want, f.Secret)
		}
		got := ours.find(text)
		found, texts = found+len(got), texts+1
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%.300q: found %q, not %q", text, got, want)
		}
	}
	secrets := []string{ghToken, awsKey, fullAnt, antKey, `password = "` + "Zq8" + `Rt5Lw2Xv9Nb4Mc7Kd1"`, `api_key: ` + "hunter" + `2hunter3hunter4`,
		"ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
		"-----BEGIN RSA PRIVATE" + " KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA7Zq8Rt5Lw2Xv9Nb4\n", 8) + "-----END RSA PRIVATE" + " KEY-----",
		"https://hooks.slack.com/services/" + "T0A1B2C3D/B0A1B2C3D/" + "a1B2c3D4e5F6g7H8i9J0k1L2", "xox" + "b-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", `SECRET_KEY=` + "${NAME}"}
	for i, s := range secrets {
		for _, frame := range []string{"%", "first\n%\nlast", "\n%", `{"token":"%"}`, "key = '%'", "export API_TOKEN=%", "% " + secrets[(i+1)%len(secrets)]} {
			compare(strings.Replace(frame, "%", s, 1))
		}
	}
	step := 29 // some seconds
	if racesample.Enabled {
		step = 301
	}
	ids, err := fixtures.Embedded().CaseIDs()
	g.Expect(err).NotTo(HaveOccurred())
	for n := 0; n < len(ids); n += 4 * step {
		b, err := fs.ReadFile(fixtures.Embedded().FS, ids[n]+".txtar")
		g.Expect(err).NotTo(HaveOccurred())
		lines := strings.SplitAfter(string(b), "\n")
		compare(string(b))
		for i, line := range lines {
			if i%step == 0 && len(line) < 4000 {
				at := len(line) / 2
				compare(line[:at] + " " + secrets[i%len(secrets)] + " " + line[at:])
			}
		}
	}
	t.Logf("%d secrets in %d texts", found, texts)
	g.Expect(found).To(BeNumerically(">", texts/4))
}
