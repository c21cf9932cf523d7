package diagnose

import "testing"

// The hosts are what limits a transfer where the path passes what they send and nothing holds TCP but the program, which writes as fast as it can. A path that
// is narrower than the host keeps the send buffer full, loses packets, or makes them wait.
func TestHostsLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change map[Name]float64
		want   bool
	}{
		{"room for half of the time", nil, true},
		{"all of it sent again in vain", map[Name]float64{Retransmits: 900, Spurious: 900}, true},
		{"some of it lost", map[Name]float64{Retransmits: 900}, false},
		{"a queue", map[Name]float64{LoadedRoundTrip: 0.005}, false},
		{"a queue of others", map[Name]float64{IdleRoundTrip: 0.005}, false},
		{"the send buffer is full", map[Name]float64{RoomShare: 0.1}, false},
		{"the send buffer is small", map[Name]float64{SendBufferShare: 0.3}, false},
		{"the window is", map[Name]float64{ReceiveWindowShare: 0.6}, false},
		{"a rate that somebody asked for", map[Name]float64{AskedRate: 1e9}, false},
		{"a file", map[Name]float64{Sourced: 1}, false},
		{"trains told the capacity", map[Name]float64{Capacity: 100e9}, false},
		{"trains told nothing", map[Name]float64{TrainsPass: 0}, false},
	} {
		s := (&Subject{Kind: OfWay, Name: "forward"}).with(map[Name]float64{TrainsPass: 1, Steady: 10e9, Segments: 100_000, EmptyRoundTrip: 0.0001, IdleRoundTrip: 0.0001,
			LoadedRoundTrip: 0.0003, RoomShare: 0.5, MSS: 1448})
		s = s.with(c.change)
		if got := hostsLimit(s); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
