package probe

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/sock"
)

// The share that opened is of all tries, and round trips are of those that were answered, refusals among them.
func TestReduceConnect(t *testing.T) {
	for name, c := range map[string]struct {
		all  []measure.PortAttempt
		want map[measure.Metric]float64
	}{
		"none":   {nil, map[measure.Metric]float64{}},
		"silent": {[]measure.PortAttempt{{Outcome: measure.PortSilent}}, map[measure.Metric]float64{measure.PortOpenRatio: 0}},
		"one of four": {[]measure.PortAttempt{{Outcome: measure.PortSilent}, {Outcome: measure.PortRefused, RTTSeconds: new(0.03)},
			{Outcome: measure.PortOpen, RTTSeconds: new(0.01)}, {Outcome: measure.PortUnreachable}},
			map[measure.Metric]float64{measure.PortOpenRatio: 0.25, measure.RTTMin: 0.01, measure.RTTMean: 0.02, measure.RTTMedian: 0.02, measure.RTTMax: 0.03}},
	} {
		r := &measure.Result{Metrics: map[measure.Metric]float64{}}
		reduceConnect(c.all, r)
		if diff := cmp.Diff(c.want, r.Metrics, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if d := r.Distributions[measure.RTTs]; len(c.want) > 1 && cmp.Equal(d, measure.Distribution{}) {
			t.Errorf("%s: no distribution of round trips", name)
		}
	}
}

// Of segments those count that open a connection or refuse it; ICMP errors are called by what they mean.
func TestPacketKind(t *testing.T) {
	for want, seen := range map[string]sock.Tapped{
		measure.PacketSYN:    {Flags: sock.FlagSYN},
		measure.PacketSYNACK: {Flags: sock.FlagSYN | sock.FlagACK},
		measure.PacketRST:    {Flags: sock.FlagRST | sock.FlagACK},
		"":                   {Flags: sock.FlagACK | sock.FlagFIN},
		"port unreachable":   {Error: &sock.ICMPError{Type: 3, Code: 3}},
	} {
		if got := packetKind(seen); got != want {
			t.Errorf("%+v: %q, want %q", seen, got, want)
		}
	}
}

// What a server says is told by its first line, as far as it is printable and short.
func TestBannerOf(t *testing.T) {
	long := bytes.Repeat([]byte("a"), 200)
	for said, want := range map[string]string{
		"SSH-2.0-OpenSSH_9.2\r\n": "SSH-2.0-OpenSSH_9.2", "220 mail\r\n250 more\r\n": "220 mail", "\x1b[31mred\x00": ".[31mred.", "": "",
		string(long): string(long[:80]),
	} {
		if got := bannerOf([]byte(said)); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// A port is called by its name and address, by its address alone where that is all, and in brackets where that is of IPv6.
func TestConnectCalled(t *testing.T) {
	for want, c := range map[string]struct{ target, to string }{
		"carol:22 (10.0.0.2)": {"carol", "10.0.0.2:22"}, "10.0.0.2:22": {"10.0.0.2", "10.0.0.2:22"}, "[2001:db8::2]:22": {"2001:db8::2", "[2001:db8::2]:22"},
	} {
		p := Connect{Target: c.target, Port: 22}
		if got := p.called(netip.MustParseAddrPort(c.to)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What cannot be is refused before anything is sent.
func TestConnectRefuses(t *testing.T) {
	for field, p := range map[string]Connect{"target": {}, "port": {Target: "a", Port: -1}, "count": {Target: "a", Count: -1}, "timeout": {Target: "a", Timeout: -1}} {
		if _, err := p.Do(t.Context()); !blamesCaller(err) || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// Packets are of two addresses and a port, whichever of this host's ports they came from. What comes to a link-local address does not name its interface.
func TestConnectWants(t *testing.T) {
	for _, c := range []struct {
		to, here, near, far string
		want                bool
	}{
		{"10.0.0.2:22", "10.0.0.1", "10.0.0.1:4000", "10.0.0.2:22", true}, {"10.0.0.2:22", "10.0.0.1", "10.0.0.1:4000", "10.0.0.3:22", false},
		{"10.0.0.2:22", "10.0.0.1", "10.0.0.1:4000", "10.0.0.2:23", false}, {"10.0.0.2:22", "10.0.0.1", "10.0.0.4:4000", "10.0.0.2:22", false},
		{"[fe80::2%eth0]:22", "fe80::1", "[fe80::1]:4000", "[fe80::2]:22", true},
	} {
		r := connectRun{to: netip.MustParseAddrPort(c.to), near: measure.PortNear{Address: c.here}}
		if got := r.wants(netip.MustParseAddrPort(c.near), netip.MustParseAddrPort(c.far)); got != c.want {
			t.Errorf("to %s from %s: %s, %s: %v", c.to, c.here, c.near, c.far, got)
		}
	}
}

// On this host itself both ends are watched: a port on which nobody listens is refused, and the text says so first.
func TestConnectItself(t *testing.T) {
	r, err := Connect{Target: "127.0.0.2", Port: 9, Count: 1}.Do(t.Context())
	if err != nil || r.Samples.Port == nil || r.Samples.Port.Finding != "nothing-listens" {
		t.Fatalf("%v: %+v", err, r.Samples.Port)
	}
	var text bytes.Buffer
	WriteText(&text, r)
	if got, _, _ := bytes.Cut(text.Bytes(), []byte("\n")); string(got) != "nothing listens on 127.0.0.2:9" {
		t.Errorf("%q", got)
	}
	want := measure.Demand{DurationSeconds: 3*2.1 + 1.5, Bytes: 2 * 3 * 5 * 98, BitsPerSecond: 8 * 5 * 98 / 0.1}
	got, err := Demand(measure.Task{Kind: "connect"})
	got.ResultBytes = 0 // see TestResultBytes
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
