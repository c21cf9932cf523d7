package sock

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"syscall"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/sys/unix"
)

// SendBuffer returns the size of the send buffer in bytes as the kernel accounts for it: payload and bookkeeping.
func SendBuffer(c syscall.RawConn) (int, error) { return buffer(c, "send", unix.SO_SNDBUF) }

// ReceiveBuffer returns the size of the receive buffer in bytes as the kernel accounts for it: payload and bookkeeping.
func ReceiveBuffer(c syscall.RawConn) (int, error) { return buffer(c, "receive", unix.SO_RCVBUF) }

// SetSendBuffer asks for a send buffer of the given number of bytes and returns what was granted. The kernel first cuts
// the request to net.core.wmem_max, then doubles it to leave room for its bookkeeping (socket(7)), and it stops tuning
// the buffer of this socket by itself. So a grant below twice the request means that the limit was hit.
func SetSendBuffer(c syscall.RawConn, bytes int) (granted int, err error) {
	return setBuffer(c, "send", unix.SO_SNDBUF, bytes)
}

// SetReceiveBuffer does for the receive buffer what SetSendBuffer does for the send buffer; its limit is
// net.core.rmem_max. The window scale of a TCP connection is chosen in the handshake: to matter for it, the call must
// come before connect or listen.
func SetReceiveBuffer(c syscall.RawConn, bytes int) (granted int, err error) {
	return setBuffer(c, "receive", unix.SO_RCVBUF, bytes)
}

func buffer(c syscall.RawConn, which string, option int) (int, error) {
	n, err := getInt(c, unix.SOL_SOCKET, option)
	if err != nil {
		return 0, fmt.Errorf("read %s buffer: %w", which, err)
	}
	return n, nil
}

func setBuffer(c syscall.RawConn, which string, option, bytes int) (int, error) {
	if bytes <= 0 || bytes > 1<<30 { // the kernel doubles it into a signed 32-bit number
		return 0, &input.Error{Field: which + " buffer", Value: strconv.Itoa(bytes),
			Remedy: "give a number of bytes from 1 to 1073741824"}
	}
	if err := SetInt(c, unix.SOL_SOCKET, option, bytes); err != nil {
		return 0, fmt.Errorf("set %s buffer to %d bytes: %w", which, bytes, err)
	}
	return buffer(c, which, option)
}

// BufferUse is how full the buffers of a socket are, in bytes of kernel accounting (SO_MEMINFO, linux/sock_diag.h).
type BufferUse struct {
	ReceiveAlloc  int // held by data that the application has not read
	ReceiveBuffer int // the limit on ReceiveAlloc
	SendAlloc     int // held by packets below the socket
	SendBuffer    int // the limit on SendQueued
	SendQueued    int // held by data not yet acknowledged
	Backlog       int
	Drops         int // packets, not bytes: dropped because the receive buffer was full
}

// MemInfo reads how full the buffers of a socket are.
func MemInfo(c syscall.RawConn) (BufferUse, error) {
	memory, err := control(c, func(fd int) (BufferUse, error) {
		var raw [unix.SK_MEMINFO_VARS * 4]byte
		n, err := getBytes(fd, unix.SOL_SOCKET, unix.SO_MEMINFO, raw[:])
		return parseBufferUse(raw[:n]), err
	})
	if err != nil {
		return BufferUse{}, fmt.Errorf("read SO_MEMINFO: %w", err)
	}
	return memory, nil
}

// ReadTCPValues reads what the kernel says of a connection: TCPInfo.Values, and how full its buffers are, in bytes.
func ReadTCPValues(c syscall.RawConn) (map[string]float64, error) {
	info, err := ReadTCPInfo(c)
	if err != nil {
		return nil, err
	}
	values := info.Values()
	if use, err := MemInfo(c); err == nil {
		values["send_queued_bytes"], values["send_buffer_bytes"] = float64(use.SendQueued), float64(use.SendBuffer)
		values["receive_held_bytes"], values["receive_buffer_bytes"] = float64(use.ReceiveAlloc), float64(use.ReceiveBuffer)
	}
	return values, nil
}

// parseBufferUse decodes the array of 32-bit numbers that SO_MEMINFO returns; older kernels return fewer of them.
func parseBufferUse(raw []byte) BufferUse {
	at := func(index int) int {
		if 4*index+4 > len(raw) {
			return 0
		}
		return int(binary.NativeEndian.Uint32(raw[4*index:]))
	}
	return BufferUse{
		ReceiveAlloc:  at(unix.SK_MEMINFO_RMEM_ALLOC),
		ReceiveBuffer: at(unix.SK_MEMINFO_RCVBUF),
		SendAlloc:     at(unix.SK_MEMINFO_WMEM_ALLOC),
		SendBuffer:    at(unix.SK_MEMINFO_SNDBUF),
		SendQueued:    at(unix.SK_MEMINFO_WMEM_QUEUED),
		Backlog:       at(unix.SK_MEMINFO_BACKLOG),
		Drops:         at(unix.SK_MEMINFO_DROPS),
	}
}
