package netns

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// device is what makes interfaces.
const device = "/dev/net/tun"

// netmask is that of the network in which all hosts are.
var netmask = []byte{255, 255, 255, 0}

// openInterface makes the interface of the namespace that this thread is in, and returns its other end: what the namespace sends is
// read there, packet by packet, and what is written arrives.
func openInterface(address netip.Addr) (*os.File, error) {
	fd, err := unix.Open(device, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", device, err)
	}
	const name = "net0"
	err = ioctl(fd, name, unix.TUNSETIFF, "make it", func(r *unix.Ifreq) error {
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		return nil
	})
	if err == nil {
		err = configure(name, address)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), device), nil
}

// configure gives the interface its address, and brings it up, and the loopback interface, too.
func configure(name string, address netip.Addr) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket: %w", err)
	}
	defer func() { _ = unix.Close(s) }()
	up := func(r *unix.Ifreq) error { r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING); return nil }
	for _, step := range []struct {
		name, what string
		call       uint
		set        func(*unix.Ifreq) error
	}{
		{"lo", "bring it up", unix.SIOCSIFFLAGS, up},
		{name, "set its address", unix.SIOCSIFADDR, func(r *unix.Ifreq) error { return r.SetInet4Addr(address.AsSlice()) }},
		{name, "set its netmask", unix.SIOCSIFNETMASK, func(r *unix.Ifreq) error { return r.SetInet4Addr(netmask) }},
		{name, "set its MTU", unix.SIOCSIFMTU, func(r *unix.Ifreq) error { r.SetUint32(MTU); return nil }},
		{name, "bring it up", unix.SIOCSIFFLAGS, up},
	} {
		if err := ioctl(s, step.name, step.call, step.what, step.set); err != nil {
			return err
		}
	}
	return nil
}

// ioctl does something to an interface.
func ioctl(fd int, name string, call uint, what string, set func(*unix.Ifreq) error) error {
	r, err := unix.NewIfreq(name)
	if err == nil {
		err = set(r)
	}
	if err == nil {
		err = unix.IoctlIfreq(fd, call, r)
	}
	if err != nil {
		return fmt.Errorf("interface %s: %s: %w", name, what, err)
	}
	return nil
}
