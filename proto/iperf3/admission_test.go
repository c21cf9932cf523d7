package iperf3

import (
	"errors"
	"net/netip"
	"testing"
)

// A port that is open for one peer refuses every other host, and its handshakes are not theirs to take.
func TestOnlyThePeer(t *testing.T) {
	for _, test := range []struct {
		peer string
		want error
	}{
		{"127.0.0.1", nil},
		{"::ffff:127.0.0.1", nil}, // the same host
		{"127.0.0.2", ErrPeerLost},
		{"::1", ErrPeerLost},
	} {
		addr := serve(t, Policy{Peer: netip.MustParseAddr(test.peer)})
		for name, c := range map[string]Config{"tcp": {Bytes: 1000, Parallel: 2}, "udp": {Proto: UDP, Bytes: 1000}} {
			_, err := (&Client{Addr: addr, Config: c}).Run(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("%s, open for %s: error is %v, want %v", name, test.peer, err, test.want)
			}
		}
	}
}
