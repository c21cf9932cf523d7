package iperf3

import (
	"bytes"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/sock"
)

// oneStream is a transfer of one TCP stream and the far end of its connection. Its send buffer is small, so that
// calls that carry much are cut short.
func oneStream(t *testing.T, p Params, sender bool) (*transfer, *net.TCPConn) {
	t.Helper()
	ln, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		_, err := sock.SetSendBuffer(c, 20_000)
		return err
	}}
	near, err := d.DialContext(t.Context(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStream(0, near, sender, sender, true)
	if err != nil {
		t.Fatal(err)
	}
	transfer := newTransfer(p)
	transfer.active, transfer.streams = true, []*stream{s}
	t.Cleanup(func() { transfer.closeStreams(); far.Close() })
	return transfer, far.(*net.TCPConn)
}

// What arrives is the payload from its beginning, piece after piece, however the calls are cut, and no byte more.
func TestPayloadArrives(t *testing.T) {
	source := payload(300_001)
	for _, test := range []struct {
		name      string
		bytes     int
		length    number
		eventLoop bool
		source    []byte
	}{
		{name: "a byte", bytes: 1, length: defaultTCPLength},
		{name: "a piece", bytes: pieceSize, length: defaultTCPLength},
		{name: "a piece and a byte", bytes: pieceSize + 1, length: defaultTCPLength},
		{name: "calls and some", bytes: 2*writeSize + pieceSize + 7, length: defaultTCPLength},
		{name: "a length asked for", bytes: 300_000, length: 1000},
		{name: "an event loop", bytes: writeSize + 7, length: defaultTCPLength, eventLoop: true},
		{name: "a source", bytes: len(source), length: defaultTCPLength, source: source},
		{name: "a source in an event loop", bytes: len(source), length: defaultTCPLength, source: source, eventLoop: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			tr, far := oneStream(t, Params{TCP: true, Parallel: 1, Len: test.length, Num: number(test.bytes),
				Pathwise: &ParamsExtra{EventLoop: test.eventLoop}}, true)
			want := test.source
			if want == nil {
				for piece := payload(int(min(pieceSize, max(test.length, pieceSize)))); len(want) < test.bytes; {
					want = append(want, piece...)
				}
				want = want[:test.bytes]
			} else {
				tr.source = bytes.NewReader(test.source)
			}
			tr.begin(&monitor{})
			got := make([]byte, test.bytes)
			far.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.ReadFull(far, got); err != nil {
				t.Fatal(err)
			}
			<-tr.sent
			tr.settle()
			tr.closeStreams()
			if more, err := io.ReadAll(far); err != nil || len(more) > 0 {
				t.Errorf("%d bytes more, %v", len(more), err)
			}
			if test.length == defaultTCPLength && !bytes.Equal(got, want) {
				t.Error("other bytes came than were to be sent")
			}
			if n := tr.streams[0].count.Load(); n != int64(test.bytes) {
				t.Errorf("the sender counted %d bytes, want %d", n, test.bytes)
			}
		})
	}
}

// A stream ends at once when its test does, and says so at once when its peer is gone, whatever it waits for.
func TestStreamEndsAtOnce(t *testing.T) {
	flood := func(far *net.TCPConn) { // ends with the connection
		go func() {
			for b := make([]byte, 1<<20); ; {
				if _, err := far.Write(b); err != nil {
					return
				}
			}
		}()
	}
	silence := func(*net.TCPConn) {}
	for _, test := range []struct {
		name   string
		params Params
		sender bool
		far    func(*net.TCPConn)
	}{
		{"nobody reads", Params{Len: defaultTCPLength}, true, silence},
		{"nobody reads an event loop", Params{Len: defaultTCPLength, Pathwise: &ParamsExtra{EventLoop: true}}, true, silence},
		{"nobody reads what is paced", Params{Len: defaultTCPLength, Bandwidth: 1_000_000_000}, true, silence},
		{"paced once in hours", Params{Len: defaultTCPLength, Bandwidth: 1}, true, silence},
		{"nobody writes", Params{}, false, silence},
		{"always more to read", Params{}, false, flood},
	} {
		for name, end := range map[string]func(*transfer, *net.TCPConn){
			"test": func(tr *transfer, _ *net.TCPConn) { tr.settle() },
			"peer": func(tr *transfer, far *net.TCPConn) {
				far.SetLinger(0) // a reset, as of a process that was killed
				far.Close()
				if tr.params.Bandwidth == 1 { // it notices when it writes next
					return
				}
				select {
				case <-tr.failed:
				case <-tr.received:
				case <-time.After(10 * time.Second):
					t.Errorf("%s: the loss of the peer went unnoticed", test.name)
				}
			},
		} {
			t.Run(test.name+", end of "+name, func(t *testing.T) {
				test.params.TCP, test.params.Parallel = true, 1
				tr, far := oneStream(t, test.params, test.sender)
				test.far(far)
				tr.begin(&monitor{})
				for deadline := time.Now().Add(10 * time.Second); test.name != "nobody writes" && tr.params.Bandwidth != 1; {
					info, err := sock.MemInfo(tr.streams[0].raw)
					if err != nil || time.Now().After(deadline) {
						t.Fatal("the stream did not begin", err)
					}
					if info.SendQueued > 0 || tr.streams[0].count.Load() > 0 {
						break
					}
				}
				began := time.Now()
				end(tr, far)
				tr.settle()
				if took := time.Since(began); took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}
