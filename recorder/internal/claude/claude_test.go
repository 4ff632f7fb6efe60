package claude

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMessageUUIDIsStable(t *testing.T) {
	g := NewWithT(t)
	g.Expect(messageUUID("m1")).To(Equal("00000000-0000-4000-8000-000000006d31"))
	long := messageUUID("a-very-long-id")
	g.Expect(long).To(HaveLen(36))
	g.Expect(long).NotTo(Equal(messageUUID("another-long-id")))
	g.Expect(long).To(Equal(messageUUID("a-very-long-id")))
}
