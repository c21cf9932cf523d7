package sock

import (
	"testing"
	"time"
)

func TestElapsed(t *testing.T) {
	user, wall := time.Now(), time.Unix(1_000_000, 0)
	at := func(u, k time.Duration) Stamp { return Stamp{User: user.Add(u), Kernel: wall.Add(k)} }
	const ms = time.Millisecond
	tests := []struct {
		name     string
		from, to Stamp
		want     time.Duration
		kernel   bool
	}{
		{"both", at(0, 0), at(10*ms, 9*ms), 9 * ms, true},
		{"equal", at(0, 0), at(9*ms, 9*ms), 9 * ms, true},
		{"no send stamp", Stamp{User: user}, at(10*ms, 9*ms), 10 * ms, false},
		{"no receive stamp", at(0, 0), Stamp{User: user.Add(10 * ms)}, 10 * ms, false},
		{"wall clock stepped back", at(0, 0), at(10*ms, -time.Second), 10 * ms, false},
		{"wall clock stepped forward", at(0, 0), at(10*ms, time.Hour), 10 * ms, false},
	}
	for _, test := range tests {
		if got, kernel := Elapsed(test.from, test.to); got != test.want || kernel != test.kernel {
			t.Errorf("%s: %v, %v; want %v, %v", test.name, got, kernel, test.want, test.kernel)
		}
	}
}

func TestReason(t *testing.T) {
	tests := []struct {
		e    ICMPError
		want Reason
	}{
		{ICMPError{Type: 11}, TimeExceeded},
		{ICMPError{Type: 3, Code: 3}, PortUnreachable},
		{ICMPError{Type: 3, Code: 13}, Prohibited},
		{ICMPError{IPv6: true, Type: 1, Code: 4}, PortUnreachable},
		{ICMPError{IPv6: true, Type: 3}, TimeExceeded},
		{ICMPError{IPv6: true, Type: 11}, "ICMP type 11 code 0"},
		{ICMPError{Type: 3, Code: 99}, "ICMP type 3 code 99"},
	}
	for _, test := range tests {
		if got := test.e.Reason(); got != test.want {
			t.Errorf("IPv6 %v type %d code %d: %q, want %q", test.e.IPv6, test.e.Type, test.e.Code, got, test.want)
		}
	}
}
