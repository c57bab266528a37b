//go:build linux

package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// MTU is the largest packet between hosts in bytes, as on Ethernet.
const MTU = 1500

// maxHosts bounds the hosts of a network.
const maxHosts = 32

// first is the address of the first host; the others follow.
var first = [4]byte{10, 77, 0, 1}

// Network is the hosts, and the links between all of them.
type Network struct {
	random func() float64
	packets,
	bytes atomic.Int64

	mu    sync.Mutex // of what follows, for those who change it
	hosts []*Host
	ports [maxHosts]atomic.Pointer[os.File]
	links [maxHosts][maxHosts]atomic.Pointer[link]
}

// NewNetwork is a network without hosts. The seed decides which packets are lost of those that may be.
func NewNetwork(seed uint64) *Network { return &Network{random: seeded(seed)} }

// Add adds a host with the next address, on good links to all others.
func (n *Network) Add(name string) (*Host, error) { return n.add(name, false) }

// AddSelf adds the namespace of this process as a host, which must be one without any other interface.
func (n *Network) AddSelf(name string) (*Host, error) { return n.add(name, true) }

func (n *Network) add(name string, self bool) (*Host, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	index := len(n.hosts)
	if index == maxHosts {
		return nil, fmt.Errorf("host %s: there are %d already", name, maxHosts)
	}
	address := first
	address[3] += byte(index)
	h := &Host{Name: name, Address: netip.AddrFrom4(address), index: index, self: self}
	if err := n.plug(h); err != nil {
		return nil, err
	}
	n.hosts = append(n.hosts, h)
	return h, nil
}

// plug makes a host's namespace and interface, and carries what comes out of it.
func (n *Network) plug(h *Host) error {
	if err := h.open(); err != nil {
		return err
	}
	device := h.device
	n.ports[h.index].Store(device)
	go n.forward(h.index, device)
	return nil
}

// Renew puts a new namespace in the place of a host's: a machine that was never there before, with the name and the address of the
// old one. Nothing must run in that any more. Its links stay as they are.
func (n *Network) Renew(h *Host) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ports[h.index].Store(nil)
	h.close()
	return n.plug(h)
}

// Close ends the network. What still runs in its hosts is alone.
func (n *Network) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.hosts {
		n.ports[h.index].Store(nil)
		h.close()
	}
	for i := range n.links {
		for j := range n.links[i] {
			n.set(i, j, Condition{})
		}
	}
}

// Set has the packets from one host to another go by a condition from now on. What is on its way arrives as it would have.
func (n *Network) Set(from, to *Host, c Condition) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.set(from.index, to.index, c)
}

func (n *Network) set(from, to int, c Condition) {
	var l *link
	if c.Cut || c.Delay > 0 || c.Loss > 0 || c.Rate > 0 {
		l = newLink(c, n.random, func(bytes []byte) { n.deliver(to, bytes) })
	}
	if old := n.links[from][to].Swap(l); old != nil {
		old.close()
	}
}

// SetBoth is Set for both directions.
func (n *Network) SetBoth(a, b *Host, c Condition) {
	n.Set(a, b, c)
	n.Set(b, a, c)
}

// Others are all hosts but one.
func (n *Network) Others(h *Host) (others []*Host) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range n.hosts {
		if o != h {
			others = append(others, o)
		}
	}
	return others
}

// Carried is how many packets and bytes have arrived since the beginning.
func (n *Network) Carried() (packets, bytes int64) { return n.packets.Load(), n.bytes.Load() }

// forward sends what comes out of a host to where it goes, until its interface is closed.
func (n *Network) forward(from int, device *os.File) {
	for bytes := make([]byte, 1<<16); ; {
		size, err := device.Read(bytes)
		if errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil || !isIPv4(bytes[:size]) {
			continue
		}
		to := destinationOf(bytes)
		index := int(to[3]) - int(first[3])
		if [3]byte(to[:3]) != [3]byte(first[:3]) || index < 0 || index >= maxHosts {
			continue
		}
		if l := n.links[from][index].Load(); l != nil {
			l.send(bytes[:size], time.Now())
		} else {
			n.deliver(index, bytes[:size])
		}
	}
}

// deliver puts a packet into a host, if that is there.
func (n *Network) deliver(to int, bytes []byte) {
	device := n.ports[to].Load()
	if device == nil {
		return
	}
	if _, err := device.Write(bytes); err == nil { // else its queue is full, or it was closed
		n.packets.Add(1)
		n.bytes.Add(int64(len(bytes)))
	}
}
