package redact

import (
	"regexp"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
)

// encodedRuns finds what this expression finds, in less time.
func TestEncodedRuns(t *testing.T) {
	encoded := regexp.MustCompile(`[A-Za-z0-9+/_-]{24,}={0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([aZ0+/_= é.-]|[b-z]{20,30}={0,3}){0,8}`).Draw(t, "text")
		NewWithT(t).Expect(encodedRuns(text)).To(Equal(encoded.FindAllString(text, -1)))
	})
}
