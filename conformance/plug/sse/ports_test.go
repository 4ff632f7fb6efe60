package sse

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/turnspec/turnspec/conformance/plug"
)

// TestPortsOfSidecars checks that no port is given to two sidecars, of which another process
// may start one, and none that the system gives to connections of clients.
func TestPortsOfSidecars(t *testing.T) {
	g := NewWithT(t)
	s := &Subject{Program: plug.Program{Command: []string{"sidecar"}}, URL: "http://127.0.0.1:0"}
	from, to := 1<<16, 1<<16
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil { // only Linux has it
		if w := strings.Fields(string(b)); len(w) == 2 && w[0] == "32768" { // unless somebody changed it
			from, _ = strconv.Atoi(w[0])
			to, _ = strconv.Atoi(w[1])
		}
	}
	seen := map[string]func(){}
	for range 300 {
		_, port, free, err := s.listenAddress()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(seen).NotTo(HaveKey(port))
		seen[port] = free
		n, err := strconv.Atoi(port)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(n < from || n > to).To(BeTrue(), "%d is in the range of the ports of clients", n)
	}
	for port, free := range seen {
		_, err := net.ListenPacket("udp", "127.0.0.1:"+port)
		g.Expect(err).To(HaveOccurred(), "another process sees that the port is reserved")
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		g.Expect(err).NotTo(HaveOccurred(), "the sidecar can listen")
		g.Expect(l.Close()).To(Succeed())
		free()
		held, err := net.ListenPacket("udp", "127.0.0.1:"+port)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(held.Close()).To(Succeed())
	}
}
