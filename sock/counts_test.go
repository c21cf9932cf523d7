package sock

import (
	"net"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCounts(t *testing.T) {
	for name, c := range map[string]struct {
		got, want map[string]uint64
	}{
		"netstat": {ParseNetstat("Tcp: RtoMin MaxConn InSegs\nTcp: 200 -1 12\nTcpExt: ListenDrops\nTcpExt: 3\n"),
			map[string]uint64{"Tcp.RtoMin": 200, "Tcp.InSegs": 12, "TcpExt.ListenDrops": 3}},
		"netstat cut off": {ParseNetstat("Tcp: RtoMin\n"), map[string]uint64{}},
		"snmp6":           {ParseNamed("Udp6InErrors   7\nodd\nIp6 x\n", "a."), map[string]uint64{"a.Udp6InErrors": 7}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCountsSince(t *testing.T) {
	got := Counts{"more": 7, "same": 3, "anew": 1, "new": 9}.Since(Counts{"more": 4, "same": 3, "anew": 8})
	if diff := cmp.Diff(Counts{"more": 3}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A datagram to a port where nothing listens is counted, and the interface of an address is found.
func TestReadCounts(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	before := ReadCounts(loopback)
	if _, told := before["link.rx_errors"]; !told {
		t.Errorf("nothing of the interface: %v", before)
	}
	listener, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to := listener.LocalAddr().(*net.UDPAddr)
	listener.Close()
	conn, err := net.DialUDP("udp4", nil, to)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if more := ReadCounts(loopback).Since(before); more["Udp.NoPorts"] == 0 {
		t.Errorf("a datagram that nobody took is not counted: %v", more)
	}
}

func FuzzParseCounts(f *testing.F) {
	f.Add("Tcp: RtoMin MaxConn\nTcp: 200 -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		ParseNetstat(text)
		ParseNamed(text, "")
	})
}
