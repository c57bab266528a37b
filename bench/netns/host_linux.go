package netns

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Host is a machine: a namespace with an interface.
type Host struct {
	Name    string
	Address netip.Addr

	index int
	self  bool

	mu     sync.Mutex
	space  *os.File // the namespace
	device *os.File // the other end of its interface
}

// At is an address of the host with a port.
func (h *Host) At(port int) string { return netip.AddrPortFrom(h.Address, uint16(port)).String() } //nolint:gosec // a port

// open makes the namespace and the interface.
func (h *Host) open() error {
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and the thread ends with this function, as it is in the namespace
		failed <- h.openHere()
	}()
	if err := <-failed; err != nil {
		return fmt.Errorf("make host %s: %w", h.Name, err)
	}
	return nil
}

// openHere moves this thread into a new namespace, if the host is not this process's, and makes the interface there.
func (h *Host) openHere() error {
	if !h.self {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
	}
	space, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	device, err := openInterface(h.Address)
	if err != nil {
		_ = space.Close()
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.space, h.device = space, device
	return nil
}

func (h *Host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.device.Close()
	_ = h.space.Close()
}

// Listen listens at a port of the host.
func (h *Host) Listen(port int) (l net.Listener, err error) {
	err = h.within(func() (err error) {
		l, err = net.Listen("tcp4", h.At(port))
		return err
	})
	return l, err
}

// ListenPacket listens at a UDP port of the host.
func (h *Host) ListenPacket(port int) (c net.PacketConn, err error) {
	err = h.within(func() (err error) {
		c, err = net.ListenPacket("udp4", h.At(port))
		return err
	})
	return c, err
}

// within calls do on a thread in the namespace: sockets belong to where they were made.
func (h *Host) within(do func() error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // see open
		err := unix.Setns(int(h.space.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = do()
		}
		failed <- err
	}()
	if err := <-failed; err != nil {
		return fmt.Errorf("on host %s: %w", h.Name, err)
	}
	return nil
}

// enterArgument is the first argument of a process that becomes a command in a host.
const enterArgument = "netns-enter"

// Prepare has a command run in the host when it starts: by this program, whose main function calls Enter first.
func (h *Host) Prepare(cmd *exec.Cmd) {
	h.mu.Lock()
	defer h.mu.Unlock()
	cmd.Args = append([]string{os.Args[0], enterArgument, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/proc/self/exe"
	cmd.ExtraFiles = []*os.File{h.space} // file 3
}

// Enter becomes the command that Prepare was told of, if this process was started for that; else it returns at once.
func Enter() error {
	if len(os.Args) < 3 || os.Args[1] != enterArgument {
		return nil
	}
	runtime.LockOSThread()
	if err := unix.Setns(3, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter a network namespace: %w", err)
	}
	unix.CloseOnExec(3)
	return syscall.Exec(os.Args[2], os.Args[2:], os.Environ()) //nolint:gosec // what Prepare was given
}
