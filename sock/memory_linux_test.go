package sock

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// attr encodes one netlink attribute on a little-endian machine.
func attr(kind byte, value ...byte) []byte {
	length := 4 + len(value)
	return append([]byte{byte(length), 0, kind, 0}, append(value, make([]byte, (4-length%4)%4)...)...)
}

func TestParseMemory(t *testing.T) {
	entry := append(attr(attrAge, 0xe8, 3, 0, 0, 0, 0, 0, 0), attr(attrVals, slices.Concat(
		attr(valRTTMicros, 0x40, 0x9c, 0, 0), // 40,000 us times 8 in eighths: 5 ms
		attr(valRTTVarMicros, 0xa0, 0x0f, 0, 0),
		attr(1, 40, 0, 0, 0), // the RTT again, in milliseconds
		attr(valSSThresh, 7, 0, 0, 0),
		attr(valCwnd, 10, 0, 0, 0),
		attr(valReordering, 5, 0, 0, 0),
	)...)...)
	want := Memory{Found: true, SSThreshPackets: 7, CwndPackets: 10, ReorderingPackets: 5,
		RTT: 5 * time.Millisecond, RTTVar: time.Millisecond, Age: time.Second}
	got, err := parseMemory(entry)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, broken := range [][]byte{{2, 0, 0, 0}, {99, 0, 1, 0}, attr(attrVals, attr(valCwnd, 1)...)} {
		if _, err := parseMemory(broken); err == nil {
			t.Errorf("% x: no error", broken)
		}
	}
}

func FuzzParseMemory(f *testing.F) {
	f.Add(attr(attrVals, attr(valCwnd, 1, 0, 0, 0)...))
	f.Add([]byte{5, 0, 1, 0, 9})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if m, err := parseMemory(raw); err == nil && (m.RTT < 0 || m.RTTVar < 0 || m.CwndPackets < 0) {
			t.Errorf("negative value in %+v", m)
		}
	})
}

// The kernel stores what it learnt when a connection closes, and forgets it when told to by one who may.
func TestPathMemoryLive(t *testing.T) {
	if s := ReadTCPSettings(); s.NoMetricsSave == nil || *s.NoMetricsSave != 0 {
		t.Skip("net.ipv4.tcp_no_metrics_save is not 0: the kernel remembers nothing here")
	}
	const address = "127.0.0.77" // of this test alone
	peer := netip.MustParseAddr(address)
	client, server := connection(t, address)
	send(t, client, server, 100_000)
	client.Close()
	if _, err := server.Read(make([]byte, 1)); err == nil { // the end of the stream: the client has closed
		t.Fatal("data after the end")
	}
	server.Close()
	got, err := PathMemory(peer)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Found || got.RTT <= 0 || got.RTT > time.Second {
		t.Errorf("memory of %s: %+v; want an RTT within a second", peer, got)
	}

	err = ForgetPath(peer)
	var denied *PermissionError
	switch {
	case errors.As(err, &denied):
		if os.Geteuid() == 0 && !inUserNamespace() {
			t.Errorf("root may not forget: %v", err)
		}
		return
	case err != nil:
		t.Fatal(err)
	}
	if got, err := PathMemory(peer); got.Found || err != nil {
		t.Errorf("after forgetting: %+v, %v; want nothing", got, err)
	}
	if err := ForgetPath(peer); err != nil {
		t.Errorf("forget again: %v", err)
	}
}

// inUserNamespace says whether root here is less than root on the machine.
func inUserNamespace() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true
	}
	var inside, outside, count uint32
	_, err = fmt.Sscan(string(text), &inside, &outside, &count)
	return err != nil || count != ^uint32(0) // the initial one maps all identifiers onto themselves
}

func TestPathMemoryOfStranger(t *testing.T) {
	for _, address := range []string{"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"} { // RFC 5737, RFC 3849
		if got, err := PathMemory(netip.MustParseAddr(address)); got != (Memory{}) || err != nil {
			t.Errorf("%s: %+v, %v; want nothing", address, got, err)
		}
	}
}
