package iperf3

import (
	"bytes"
	"context"
	"net"
	"testing"
	"time"
)

func FuzzParams(f *testing.F) {
	f.Add(captured(f, "udp-params-3.12.json"))
	f.Add([]byte(`{"udp":true,"pathwise":{"train":{"packets":5,"size":100,"trains":2,"gap_seconds":1}}}`))
	f.Add([]byte(`{"udp":true,"len":100,"pathwise":{"train":{"packets":5,"size":100,"trains":1,"gap_seconds":1.5,"steps":[{"packets":2},{"packets":3,"spacing_seconds":0.5,"rest_seconds":1}]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := DecodeParams(text)
		if err == nil && p.check() != 0 {
			t.Errorf("accepted impossible parameters %+v", p)
		}
	})
}

func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":1,"sender_has_retransmits":18446744073709551615,"streams":[{"id":1}],` +
		`"pathwise":{"samples":{"names":["a"],"rows":[[1,0.5,null],[2,3,4],[]]},"arrivals":[[1,0]],"streams":[{"stream":9}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := DecodeResults(text)
		if err != nil {
			return
		}
		transfer := &transfer{streams: []*stream{{}}} // what a client does with it
		report := &Report{Streams: make([]StreamReport, 1)}
		report.merge(transfer, r)
	})
}

func FuzzHello(f *testing.F) {
	f.Add([]byte(`{"software":"pathwise","version":"1"}`))
	f.Add([]byte(`{"software":"pathwise","version":"1","clock":{"synchronized":true,"error_seconds":0.002}}`))
	f.Add([]byte(`{"clock":{"synchronized":true,"error_seconds":-1e308}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := DecodeHello(text)
		if err != nil {
			return
		}
		if len(h.Software) > 250 {
			t.Errorf("software of %d bytes", len(h.Software))
		}
		if c := h.Clock; c != nil && c.Error != nil && (!c.Synchronized || !(*c.Error >= 0 && *c.Error <= 16)) {
			t.Errorf("clock that is synchronized %v, within %v s", c.Synchronized, *c.Error)
		}
	})
}

func FuzzServerBytes(f *testing.F) {
	f.Add(captured(f, "tcp-reverse-3.12.server"))
	f.Add([]byte{0xff})
	f.Add([]byte{0xfe, 0, 0, 0, 27, 0, 0, 0, 1})
	f.Add([]byte{9, 80, 0, 0, 0, 2, '{', '}', 10, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) { _, _, _ = walkServer(bytes.NewReader(b)) })
}

func FuzzClientBytes(f *testing.F) {
	f.Add(captured(f, "tcp-parallel-3.12.client"))
	f.Add(captured(f, "tcp-bidir-3.12.client"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _, _, _ = walkClient(bytes.NewReader(b)) })
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte{0, 0, 0, 3, 0, 0, 0, 250, 1, 2, 3, 4}, false)
	f.Fuzz(func(t *testing.T, b []byte, wide bool) {
		var tracker Tracker
		for len(b) > 0 {
			if sent, seq, ok := ParseDatagram(b, wide); ok {
				tracker.Add(seq, sent, time.Second)
			}
			b = b[1:]
		}
		if tracker.Lost < 0 || tracker.Reordered < 0 {
			t.Errorf("impossible counts %+v", tracker)
		}
	})
}

// FuzzServerState plays arbitrary bytes to a real server's state machine, after a cookie.
func FuzzServerState(f *testing.F) {
	f.Add(captured(f, "tcp-bidir-3.12.client")[CookieSize:])
	f.Add([]byte{0, 0, 0, 2, '{', '}', 4, 0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, b []byte) {
		client, server := net.Pipe()
		go func() { // ends with the pipe
			go func() { _, _ = client.Write(b); client.Close() }()
			var sink [1024]byte
			for {
				if _, err := client.Read(sink[:]); err != nil {
					return
				}
			}
		}()
		s := &Server{Policy: Policy{Timeout: 50 * time.Millisecond}}
		s.reset()
		s.takeSetup(addrPort(server.RemoteAddr()).Addr())
		ctl := &control{conn: server, ctx: context.Background(), timeout: s.policy.Timeout}
		test := &serverTest{server: s, ctl: ctl, conns: make(chan arrival, 1)}
		if err := test.do(context.Background()); err == nil {
			t.Error("a test without data connections succeeded")
		}
		server.Close()
	})
}
