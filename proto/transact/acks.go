package transact

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// Acks says when a responder acknowledges a part of a request whose rest has not come (TCP_QUICKACK, tcp(7)). An answer carries the
// acknowledgement of a whole request, whatever is set.
type Acks byte

// The zero value leaves it to the kernel, which acknowledges the first segments of a connection at once and delays later ones.
const (
	AcksByKernel Acks = iota
	AcksAtOnce
	AcksDelayed
)

// receive reads the rest of a request. The kernel forgets TCP_QUICKACK with what it sends and receives, so that it is set before each read:
// setting it also sends the acknowledgement that is due for what was read before.
func receive(conn net.Conn, left int, acks Acks) error {
	for part := make([]byte, min(left, readBytes)); left > 0; {
		if err := setAcks(conn, acks); err != nil {
			return err
		}
		n, err := conn.Read(part[:min(left, len(part))])
		left -= n
		if err != nil && left > 0 {
			return err
		}
	}
	return nil
}

func setAcks(conn net.Conn, acks Acks) error {
	if acks == AcksByKernel {
		return nil
	}
	c, ok := conn.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("reach socket: %w", err)
	}
	atOnce := 0
	if acks == AcksAtOnce {
		atOnce = 1
	}
	if err := sock.SetInt(raw, unix.IPPROTO_TCP, unix.TCP_QUICKACK, atOnce); err != nil {
		return fmt.Errorf("set TCP_QUICKACK: %w", err)
	}
	return nil
}
