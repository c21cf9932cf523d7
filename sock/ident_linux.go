package sock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ident is an ICMP echo identifier that no other raw echo socket of this package has, in whatever process of the host,
// until it is freed. The kernel sees to that for its datagram sockets, but knows no identifiers of raw ones. So an
// abstract Unix socket holds it by its name: such a name belongs to the network namespace, as ICMP does, is given once,
// and goes with its process however that ends. Other programs, which do not know of this, may still choose the same
// identifier.
type ident struct {
	number uint16
	holder *os.File // the Unix socket
}

// reserveIdent takes the first identifier that is free, from one on. Where that one is random, it is hardly one to
// which replies were still on their way when it was freed.
func reserveIdent(first uint16) (ident, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ident{}, fmt.Errorf("reserve identifier: %w", os.NewSyscallError("socket", err))
	}
	i := ident{number: first, holder: os.NewFile(uintptr(fd), "identifier")}
	for range 1 << 16 {
		err = unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@pathwise/echo/%04x", i.number)}) // @: abstract
		if err == nil {
			return i, nil
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			break
		}
		i.number++
	}
	i.free()
	return ident{}, fmt.Errorf("reserve identifier: %w", os.NewSyscallError("bind", err))
}

// free gives the identifier back.
func (i ident) free() {
	if i.holder != nil {
		i.holder.Close()
	}
}
