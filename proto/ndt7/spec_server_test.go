package ndt7_test

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// specServer is a server by the specification. It has no TCP_INFO: what a kernel would count it counts itself.
type specServer struct {
	lasts  time.Duration
	silent bool // it sends no measurements
	query  atomic.Value
}

// serveSpec serves until the test ends, at an address.
func serveSpec(t *testing.T, s *specServer) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return l.Addr().String()
}

func (s *specServer) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 1<<16)
	request, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	path := request.URL.Path
	if request.Header.Get("Sec-WebSocket-Protocol") != specProtocol || path != "/ndt/v7/download" && path != "/ndt/v7/upload" {
		fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		return
	}
	s.query.Store(request.URL.RawQuery)
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: %s\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", specProtocol, accepted(request.Header.Get("Sec-WebSocket-Key")))
	socket := &plainSocket{conn: conn, in: in}
	if path == "/ndt/v7/download" {
		s.download(socket)
	} else {
		s.upload(socket)
	}
}

func (s *specServer) download(to *plainSocket) {
	began, said, total := time.Now(), time.Now(), int64(0)
	message := make([]byte, 1<<13)
	for time.Since(began) < s.lasts {
		if to.send(opBinary, message) != nil {
			return
		}
		total += int64(len(message))
		if len(message) < 1<<20 && int64(len(message)) < total/16 {
			message = make([]byte, 2*len(message))
		}
		if time.Since(said) > 100*time.Millisecond {
			s.say(to, "download", began, total)
			said = time.Now()
		}
	}
	_ = to.send(opClose, binary.BigEndian.AppendUint16(nil, 1000))
	for op := byte(0); op != opClose; {
		var err error
		if op, _, _, _, err = to.receive(); err != nil {
			return
		}
	}
}

// upload goes on until the client closes, as a server may that leaves the end to it.
func (s *specServer) upload(from *plainSocket) {
	began, said, total := time.Now(), time.Now(), int64(0)
	for {
		op, _, payload, length, err := from.receive()
		if err != nil {
			return
		}
		switch op {
		case opBinary, opContinuation:
			total += length
			if time.Since(said) > 100*time.Millisecond {
				s.say(from, "upload", began, total)
				said = time.Now()
			}
		case opClose:
			_ = from.send(opClose, payload) // then the connection ends
			return
		}
	}
}

func (s *specServer) say(to *plainSocket, test string, began time.Time, total int64) {
	if s.silent {
		return
	}
	elapsed := time.Since(began).Microseconds()
	text, _ := json.Marshal(map[string]any{
		"AppInfo": map[string]any{"ElapsedTime": elapsed, "NumBytes": total},
		"ConnectionInfo": map[string]any{"Client": to.conn.RemoteAddr().String(), "Server": to.conn.LocalAddr().String(),
			"UUID": "spec", "StartTime": began.Format(time.RFC3339Nano)},
		"Origin": "server", "Test": test,
		"TCPInfo": map[string]any{"BytesReceived": total, "ElapsedTime": elapsed, "MinRTT": 20, "RTT": 40, "RTTVar": 7,
			"SomethingNew": "beside what is specified"},
	})
	_ = to.send(opText, text)
}
