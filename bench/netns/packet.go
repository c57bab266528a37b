package netns

import "encoding/binary"

// Of an IPv4 packet (RFC 791).
const (
	headerSize     = 20
	atProtocol     = 9
	atDestination  = 16
	protocolTCP    = 6
	protocolUDP    = 17
	fragmentOffset = 0x1fff
)

// isIPv4 reports whether a packet is one of IPv4 that has a header.
func isIPv4(p []byte) bool { return len(p) >= headerSize && p[0]>>4 == 4 }

// destinationOf returns the address that an IPv4 packet goes to.
func destinationOf(p []byte) [4]byte { return [4]byte(p[atDestination : atDestination+4]) }

// portsOf returns the ports of a packet of TCP or UDP, and false if it is none, or a later fragment of one.
func portsOf(p []byte) (from, to uint16, ok bool) {
	if !isIPv4(p) || p[atProtocol] != protocolTCP && p[atProtocol] != protocolUDP {
		return 0, 0, false
	}
	if binary.BigEndian.Uint16(p[6:])&fragmentOffset != 0 {
		return 0, 0, false
	}
	header := int(p[0]&15) * 4
	if len(p) < header+4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(p[header:]), binary.BigEndian.Uint16(p[header+2:]), true
}
