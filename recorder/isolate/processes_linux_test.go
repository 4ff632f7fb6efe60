package isolate

import (
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestRemoveKillsLeftProcesses(t *testing.T) {
	g := NewWithT(t)
	rooms, err := NewRooms()
	g.Expect(err).NotTo(HaveOccurred())
	left := exec.Command("sh", "-c", "while :; do read line; done < /dev/zero")
	left.Env = rooms.Env()
	g.Expect(left.Start()).To(Succeed())
	g.Expect(rooms.Remove()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- left.Wait() }()
	g.Eventually(ended).WithTimeout(20 * time.Second).Should(Receive(MatchError(ContainSubstring("killed"))))
}
