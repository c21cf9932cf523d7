package sock

import (
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// SYNs by hand, from RFC 791, RFC 8200 and RFC 9293: what arrived is read, and what is cut short or no SYN is not.
func TestParseSYN(t *testing.T) {
	v4 := "4538003c00004000290600000a000001c0000207" + // DSCP 14, no ECN, TTL 41
		"c0001f4000000001000000 00a0c2faf000000000" + "020405b4" + "0402" + "080a0000000100000000" + "01" + "030307"
	v6 := "6b80000000140640" + strings.Repeat("0", 30) + "01" + strings.Repeat("0", 30) + "02" + "0007115b0000000100000000" + "5002 0400 0000 0000"
	for text, want := range map[string]*SYN{
		v4: {Source: netip.MustParseAddrPort("10.0.0.1:49152"), Target: netip.MustParseAddrPort("192.0.2.7:8000"), TTL: 41, DSCP: 14, Window: 64240,
			ECNAsked: true, Options: []int{2, 4, 8, 3}, MSS: 1460, WindowScale: 7, SACK: true, Timestamps: true},
		v6: {Source: netip.MustParseAddrPort("[::1]:7"), Target: netip.MustParseAddrPort("[::2]:4443"), TTL: 64, DSCP: 46, Window: 1024, WindowScale: -1},
		v6[:106] + "42" + v6[108:]: {Source: netip.MustParseAddrPort("[::1]:7"), Target: netip.MustParseAddrPort("[::2]:4443"), TTL: 64, DSCP: 46, Window: 1024,
			WindowScale: -1}, // ECE alone
		"": nil, v4[:60]: nil, "55" + v4[2:]: nil, v6[:100]: nil, "4511003c00004000291100000a000001c0000207" + v4[40:]: nil,
	} {
		b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, err := ParseSYN(b)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: %+v, %v", text, got, err)
		} else if want != nil {
			if diff := cmp.Diff(*want, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		}
	}
}

// What the kernel saved of a connection over loopback is what its other end is.
func TestSavedSYN(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		var config net.ListenConfig
		config.SetMultipathTCP(false) // whose sockets do not have the option
		l, err := config.Listen(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		raw, err := l.(*net.TCPListener).SyscallConn()
		if err == nil {
			err = SaveSYN(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		far, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		s, err := SavedSYN(far)
		if err != nil || s.Source.String() != near.LocalAddr().String() || s.Target.String() != l.Addr().String() || s.TTL != 64 || s.MSS < 1000 {
			t.Errorf("%s: %+v, %v", address, s, err)
		}
		if _, err := SavedSYN(far); err == nil {
			t.Error("the kernel tells it twice")
		}
	}
}

func FuzzParseSYN(f *testing.F) {
	f.Add([]byte("\x45\x00\x00\x28\x00\x00\x40\x00\x40\x06\x00\x00\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x07\x00\x07\x00\x00\x00\x00\x00\x00\x00\x00\x60\x02\x04\x00\x00\x00\x00\x00\x02\x04\x05\xb4"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ParseSYN(b)
		if err == nil && (!s.Source.IsValid() || !s.Target.IsValid() || s.DSCP > 63 || len(s.Options) > 20) {
			t.Errorf("%x: %+v", b, s)
		}
	})
}
