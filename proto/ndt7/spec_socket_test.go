package ndt7_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
)

// This file and its neighbours spec_client_test.go and spec_server_test.go are ends of ndt7 of their own, written from the specification
// (m-lab/ndt-server, spec/ndt7-protocol.md v0.11.0) and RFC 6455 alone. They use nothing of package ndt7 and none of the libraries it uses.

// Frames' opcodes (RFC 6455, 5.2).
const (
	opContinuation = 0x0
	opText         = 0x1
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

// plainSocket is a WebSocket by hand. One goroutine reads; several may write.
type plainSocket struct {
	conn   net.Conn
	in     *bufio.Reader
	masks  bool // a client masks what it sends (RFC 6455, 5.3)
	mu     sync.Mutex
	closed bool // a close frame was sent
}

// accepted is what a server answers to a client's key (RFC 6455, 4.2.2).
func accepted(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// upgrade asks for a WebSocket. The status is 101 where there is one.
func upgrade(conn net.Conn, path, protocol string) (*plainSocket, int, error) {
	const key = "DOdm+5/Cm3WwvhfcAlhJoQ=="
	request := "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: " + key + "\r\nUser-Agent: spec/1\r\n"
	if protocol != "" {
		request += "Sec-WebSocket-Protocol: " + protocol + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return nil, 0, err
	}
	in := bufio.NewReaderSize(conn, 1<<16)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, 0, err
	}
	if answer.StatusCode == http.StatusSwitchingProtocols {
		if got := answer.Header.Get("Sec-WebSocket-Accept"); got != accepted(key) {
			return nil, 0, fmt.Errorf("accepted the key as %q", got)
		}
		if got := answer.Header.Get("Sec-WebSocket-Protocol"); got != protocol {
			return nil, 0, fmt.Errorf("selected the subprotocol %q", got)
		}
	}
	return &plainSocket{conn: conn, in: in, masks: true}, answer.StatusCode, nil
}

// receive reads a frame, or, of a binary message, its length alone.
func (s *plainSocket) receive() (op byte, final bool, payload []byte, length int64, err error) {
	var head [2]byte
	if _, err = io.ReadFull(s.in, head[:]); err != nil {
		return
	}
	op, final = head[0]&0xf, head[0]&0x80 != 0
	length = int64(head[1] & 0x7f)
	var wide [8]byte
	switch length {
	case 126:
		_, err = io.ReadFull(s.in, wide[6:])
		length = int64(binary.BigEndian.Uint64(wide[:]))
	case 127:
		_, err = io.ReadFull(s.in, wide[:])
		length = int64(binary.BigEndian.Uint64(wide[:]))
	}
	if err != nil {
		return
	}
	var mask [4]byte
	if head[1]&0x80 != 0 {
		if _, err = io.ReadFull(s.in, mask[:]); err != nil {
			return
		}
	}
	if op == opBinary || op == opContinuation {
		_, err = io.CopyN(io.Discard, s.in, length)
		return
	}
	if length > 1<<16 {
		err = fmt.Errorf("a frame of %d bytes with opcode %d", length, op)
		return
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(s.in, payload)
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return
}

func (s *plainSocket) send(op byte, payload []byte) error {
	head := []byte{0x80 | op}
	flag := byte(0)
	if s.masks {
		flag = 0x80
	}
	switch n := len(payload); {
	case n < 126:
		head = append(head, flag|byte(n))
	case n < 1<<16:
		head = binary.BigEndian.AppendUint16(append(head, flag|126), uint16(n))
	default:
		head = binary.BigEndian.AppendUint64(append(head, flag|127), uint64(n))
	}
	if s.masks {
		mask := binary.BigEndian.AppendUint32(nil, rand.Uint32())
		head = append(head, mask...)
		masked := make([]byte, len(payload))
		for i, b := range payload {
			masked[i] = b ^ mask[i%4]
		}
		payload = masked
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = op == opClose
	if _, err := s.conn.Write(append(head, payload...)); err != nil {
		return err
	}
	return nil
}
