//go:build linux

package main

import (
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"seine/bench/netns"
)

// domain is that of the sites of the test web. Each is a registrable domain of its own, so that they are in all partitions.
const domain = "test"

// nameServer tells that all names of the domain are one host.
type nameServer struct {
	conn    net.PacketConn
	address netip.Addr
	done    chan struct{}
}

// serveNames serves on a host that is the one of the names.
func serveNames(h *netns.Host, port int) (*nameServer, error) {
	conn, err := h.ListenPacket(port)
	if err != nil {
		return nil, err
	}
	s := &nameServer{conn: conn, address: h.Address, done: make(chan struct{})}
	go s.serve()
	return s, nil
}

func (s *nameServer) close() {
	_ = s.conn.Close()
	<-s.done
}

func (s *nameServer) serve() {
	defer close(s.done)
	for question := make([]byte, 512); ; {
		n, from, err := s.conn.ReadFrom(question)
		if err != nil {
			return
		}
		if reply, err := s.answer(question[:n]); err == nil {
			_, _ = s.conn.WriteTo(reply, from) // who asked asks again
		}
	}
}

func (s *nameServer) answer(question []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	for _, q := range m.Questions {
		if !strings.HasSuffix(q.Name.String(), "."+domain+".") {
			m.RCode = dnsmessage.RCodeNameError
			continue
		}
		if q.Type == dnsmessage.TypeA {
			h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: s.address.As4()}})
		}
	}
	return m.Pack()
}
