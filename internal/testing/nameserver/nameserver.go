// Package nameserver is a DNS server for tests with answers that can change.
package nameserver

import (
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Server is a name server.
type Server struct {
	Address string // with its port
	mu      sync.Mutex
	answers map[string][]string // by name, with the trailing dot
	asked   int
}

// New starts a name server that knows no names yet.
func New(t *testing.T) *Server {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: c.LocalAddr().String(), answers: make(map[string][]string)}
	done := make(chan struct{})
	go func() { defer close(done); s.serve(c) }()
	t.Cleanup(func() { _ = c.Close(); <-done })
	return s
}

func (s *Server) serve(c net.PacketConn) {
	buf := make([]byte, 512)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
			continue
		}
		if reply, err := s.answer(&m); err == nil {
			_, _ = c.WriteTo(reply, from) // the client may be gone
		}
	}
}

func (s *Server) answer(m *dnsmessage.Message) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	q := m.Questions[0]
	m.Response, m.Additionals = true, nil
	h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}
	for _, text := range s.answers[q.Name.String()] {
		switch a := netip.MustParseAddr(text); {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	if s.answers[q.Name.String()] == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	return m.Pack()
}

// Say sets the addresses of a name. Without addresses the name exists but resolves to nothing.
func (s *Server) Say(name string, addresses ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name+"."] = addresses
}

// Asked returns the number of queries so far.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}
