package sock

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadTCPInfo asks the kernel for the TCP_INFO of a TCP connection.
func ReadTCPInfo(c syscall.RawConn) (TCPInfo, error) {
	info, err := control(c, func(fd int) (TCPInfo, error) {
		var raw [512]byte // Linux 6.18 fills 280; room for the growth of years
		n, err := getBytes(fd, unix.IPPROTO_TCP, unix.TCP_INFO, raw[:])
		return ParseTCPInfo(raw[:n]), err
	})
	if err != nil {
		return TCPInfo{}, fmt.Errorf("read TCP_INFO: %w", err)
	}
	return info, nil
}

// InfoOf asks for the TCP_INFO of a connection of package net.
func InfoOf(conn net.Conn) (TCPInfo, error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return TCPInfo{}, errors.ErrUnsupported
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return TCPInfo{}, err
	}
	return ReadTCPInfo(raw)
}
