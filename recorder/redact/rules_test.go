package redact

import (
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"github.com/zricethezav/gitleaks/v8/logging"

	"github.com/turnspec/turnspec/fixtures"
	"github.com/turnspec/turnspec/fixtures/racesample"
)

var update = flag.Bool("update", false, "write secret_rules.json")

// TestRulesAreThoseOfTheModule compares the file of rules with those of the module. Rules for
// files with certain names, and descriptions, are left out.
func TestRulesAreThoseOfTheModule(t *testing.T) {
	g := NewWithT(t)
	type allowlist struct {
		Condition, RegexTarget    string
		Regexes, StopWords, Paths []string
	}
	var module struct {
		Allowlist allowlist
		Rules     []struct {
			ID, Regex, Path string
			SecretGroup     int
			Entropy         float64
			Keywords        []string
			Allowlists      []allowlist
		}
	}
	g.Expect(toml.Unmarshal([]byte(config.DefaultConfig), &module)).To(Succeed())
	data := func(a allowlist) allowlistData {
		return allowlistData{Condition: a.Condition, RegexTarget: a.RegexTarget, Regexes: a.Regexes, StopWords: a.StopWords, Paths: len(a.Paths) > 0}
	}
	want := ruleData{Allowlist: data(module.Allowlist)}
	for _, r := range module.Rules {
		if r.Regex == "" || r.Path != "" {
			continue
		}
		n := len(want.Rules)
		want.Rules = append(want.Rules, slices.Grow(ruleData{}.Rules, 1)[:1]...)
		rule := &want.Rules[n]
		rule.ID, rule.Regex, rule.SecretGroup, rule.Entropy, rule.Keywords = r.ID, r.Regex, r.SecretGroup, r.Entropy, r.Keywords
		for _, a := range r.Allowlists {
			rule.Allowlists = append(rule.Allowlists, data(a))
		}
	}
	b, err := json.MarshalIndent(want, "", " ")
	g.Expect(err).NotTo(HaveOccurred())
	b = append(b, '\n')
	if *update {
		g.Expect(os.WriteFile("secret_rules.json", b, 0o644)).To(Succeed())
		return
	}
	g.Expect(string(ruleFile)).To(Equal(string(b)), "run `go test ./recorder/redact -run TestRulesAre -update`")
}

// The rules find the same as the detector of gitleaks: in
// lines of the corpus, and in these with a secret put in.
func TestRulesFindTheSame(t *testing.T) {
	g := NewWithT(t)
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
