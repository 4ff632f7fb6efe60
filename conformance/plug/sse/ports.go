package sse

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// The ports that sidecars get. Systems choose the ports of clients above them (from 32768 on
// Linux, from 49152 elsewhere), so no connection takes one between its choice and the start of
// the sidecar.
const (
	firstPort = 20000
	lastPort  = 32767
)

// portTries is how many ports are tried. Few are in use.
const portTries = 1000

// reservePort returns a free port of a host, which no other sidecar is given until free is
// called, also by another process: if two runs gave their sidecars the same one, one of them
// would test the sidecar of the other. The UDP port of that number says so, because the sidecar
// itself must be able to listen at the TCP port.
func reservePort(host string) (port string, free func(), err error) {
	for range portTries {
		port = strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		address := net.JoinHostPort(host, port)
		var held net.PacketConn
		if held, err = net.ListenPacket("udp", address); err != nil {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", address); err != nil {
			_ = held.Close()
			continue
		}
		_ = l.Close()
		return port, func() { _ = held.Close() }, nil
	}
	return "", nil, fmt.Errorf("no free port from %d to %d: %w", firstPort, lastPort, err)
}
