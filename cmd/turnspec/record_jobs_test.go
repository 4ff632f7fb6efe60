package main

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestShard(t *testing.T) {
	g := NewWithT(t)
	s, err := parseShard("1/3")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s).To(Equal(shard{1, 3}))
	for _, bad := range []string{"", "3/3", "-1/2", "1", "a/b", "0/0"} {
		_, err := parseShard(bad)
		g.Expect(err).To(HaveOccurred(), bad)
	}
}

// What belongs to a recording stays with it when several tell at once.
func TestPass(t *testing.T) {
	g := NewWithT(t)
	var told []string
	pass(strings.NewReader("same  a  1s\nDIFF  b: recorded anew, it differs:\n- x\n+ y\nok    c\n1 recordings differ\n"), func(s string) { told = append(told, s) })
	g.Expect(told).To(Equal([]string{"same  a  1s\n", "DIFF  b: recorded anew, it differs:\n- x\n+ y\n", "ok    c\n1 recordings differ\n"}))
}
