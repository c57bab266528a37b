package scriptweb

import (
	"fmt"
	"net"

	"seine/internal/testing/testweb"
)

// udpTargets are the sockets that UDP attacks aim at, one for each kind of attack.
var udpTargets = []string{"udp-transport", "udp-stun", "udp-turn", "udp-candidate"}

// listenUDP opens the sockets. It logs packets as requests for /secret/NAME.
func (w *Web) listenUDP() error {
	w.udp = map[string]net.PacketConn{}
	for _, name := range udpTargets {
		socket, err := net.ListenPacket("udp4", "127.0.0.1:0") // open until the Web is closed
		if err != nil {
			return fmt.Errorf("open a UDP socket: %w", err)
		}
		w.udp[name] = socket
		go w.readUDP(name, socket)
	}
	return nil
}

func (w *Web) closeUDP() {
	for _, socket := range w.udp {
		_ = socket.Close()
	}
}

func (w *Web) readUDP(name string, socket net.PacketConn) {
	packet := make([]byte, 1<<16)
	for {
		_, from, err := socket.ReadFrom(packet)
		if err != nil {
			return // closed
		}
		w.Add(testweb.Request{Method: "UDP", Host: from.String(), Path: "/secret/" + name})
	}
}
