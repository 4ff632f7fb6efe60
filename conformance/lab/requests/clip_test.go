package requests

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestClipTexts(t *testing.T) {
	g := gomega.NewWithT(t)
	for value, want := range map[string]string{
		`{"code":-1,"message":"one two three four five six seven","data":["a b"]}`: `{"code":-1,"message":"one two three four five <elided:10>","data":["a b"]}`,
		`"one two three four five"`: `"one two three four five"`,
		`{"message":`:               `{"message":`,
	} {
		g.Expect(string(clipTexts([]byte(value)))).To(gomega.Equal(want))
	}
}
