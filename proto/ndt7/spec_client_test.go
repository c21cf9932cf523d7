package ndt7_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const specProtocol = "net.measurementlab.ndt.v7"

// specResult is what a client by the specification knows after one test.
type specResult struct {
	bitsPerSecond float64          // of a download by what came, of an upload by the server's TCPInfo; 0: it does not know
	bytes         int64            // of binary messages, received or sent
	elapsed       time.Duration    // since the handshake
	messages      []map[string]any // the server's measurements
	sizes         map[int64]int    // of binary messages received
	code          int              // that the server closed with; 0: it did not
}

// specTest runs the test of a path ("download" or "upload") for at most 10 s, and less where the server closes.
func specTest(conn net.Conn, test, query string) (specResult, error) {
	r := specResult{sizes: map[int64]int{}}
	s, status, err := upgrade(conn, "/ndt/v7/"+test+query, specProtocol)
	if err != nil {
		return r, err
	}
	if status != http.StatusSwitchingProtocols {
		return r, fmt.Errorf("status %d", status)
	}
	began := time.Now()
	_ = conn.SetDeadline(began.Add(13 * time.Second)) // the specification's upper bound
	ended := make(chan error, 1)
	if test == "download" {
		err = s.read(&r, began)
	} else {
		go func() { ended <- s.read(&r, began) }()
		r.bytes = s.load(10 * time.Second)
		_ = s.send(opClose, binary.BigEndian.AppendUint16(nil, 1000)) // it may have been sent in answer to the server's
		err = <-ended
		for _, m := range r.messages {
			tcp, _ := m["TCPInfo"].(map[string]any)
			received, _ := tcp["BytesReceived"].(float64)
			elapsed, _ := tcp["ElapsedTime"].(float64)
			if received > 0 && elapsed > 0 {
				r.bitsPerSecond = received * 8 / (elapsed * 1e-6)
			}
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return r, err
}

// load sends binary messages for a time, or until a close frame was sent.
func (s *plainSocket) load(d time.Duration) (total int64) {
	message := make([]byte, 1<<13)
	for until := time.Now().Add(d); time.Now().Before(until); {
		if s.send(opBinary, message) != nil {
			return total
		}
		total += int64(len(message))
		if len(message) < 1<<20 && int64(len(message)) < total/16 {
			message = make([]byte, 2*len(message))
		}
	}
	return total
}

// read takes what the server sends until it ends the connection.
func (s *plainSocket) read(r *specResult, began time.Time) error {
	for {
		op, final, payload, length, err := s.receive()
		if err != nil {
			return err
		}
		if !final && op != opBinary && op != opContinuation {
			return fmt.Errorf("opcode %d in fragments", op)
		}
		switch op {
		case opBinary, opContinuation:
			r.bytes += length
			r.sizes[length]++
			r.elapsed = time.Since(began)
			r.bitsPerSecond = float64(r.bytes) * 8 / r.elapsed.Seconds()
		case opText:
			var m map[string]any
			if err := json.Unmarshal(payload, &m); err != nil {
				return err
			}
			r.messages = append(r.messages, m)
		case opPing:
			if err := s.send(opPong, payload); err != nil {
				return err
			}
		case opClose:
			if len(payload) >= 2 {
				r.code = int(binary.BigEndian.Uint16(payload))
			}
			_ = s.send(opClose, payload) // the server closes the connection
		}
	}
}
