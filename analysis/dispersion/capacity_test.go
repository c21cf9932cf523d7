package dispersion

import (
	"math"
	"testing"
)

// spread are trains that a link spread, without those packets that lost names.
func spread(trains, packets, size int, rate float64, lost ...int) []Train {
	var all []Train
	for range trains {
		t := Train{Sent: packets, Size: size}
		at := 0.0
		for i := range packets {
			gone := false
			for _, k := range lost {
				gone = gone || k == i
			}
			if !gone { // what is lost does not keep the link busy
				t.Packets = append(t.Packets, Packet{Index: i, At: int64(at * 1e9)})
				at += float64(size) * 8 / rate
			}
		}
		all = append(all, t)
	}
	Align(all)
	return all
}

// wants checks a capacity within a share.
func wants(t *testing.T, what string, c Capacity, rate, share float64) {
	t.Helper()
	if !c.Known() || off(c.BitsPerSecond, rate) > share {
		t.Errorf("%s: %+v, want %v bit/s", what, c, rate)
	}
}

// What a peer may send, whatever it is, is no crash and no capacity out of nothing.
func TestNonsense(t *testing.T) {
	for _, packets := range [][]Packet{
		nil, {{}}, {{Index: -5, At: 1}, {Index: math.MaxInt, At: 2}, {Index: math.MinInt, At: 3}}, {{Index: 1, At: 7}, {Index: 2, At: 7}, {Index: 3, At: 7}},
		{{At: math.MinInt64}, {At: math.MaxInt64, Index: 1}, {Sent: math.MinInt64, Index: 2}},
	} {
		for _, paced := range []bool{false, true} {
			s := Study{Goal: Goal{Free: true}, Size: 1500}
			for steps := s.Next(); len(steps) > 0; steps = s.Next() {
				var trains []Train
				for _, step := range steps {
					trains = append(trains, Train{Sent: step.Packets, Size: 1500, Paced: paced, Packets: packets})
				}
				s.Add(trains)
			}
			if f := s.Findings(); f.Capacity.Certain() || f.Free.Certain() {
				t.Errorf("%v: %+v", packets, f)
			}
		}
	}
}

// A receiver that sleeps through a third of a train and then gets it all at once does not spoil it.
func TestStalledReceiver(t *testing.T) {
	trains := spread(5, 30, 1500, 100e6)
	for _, t := range trains {
		for i := range 10 {
			t.Packets[i].At = t.Packets[10].At
		}
	}
	wants(t, "a third at once", NarrowestLink(trains), 100e6, 0.02)
}

// A sender that is off its processor again and again leaves the narrowest link idle, for as long as it likes: what comes of it is the
// link's rate, or nothing.
func TestBusySender(t *testing.T) {
	const link = 100e6
	for _, c := range []struct {
		name     string
		each     float64 // s to send one
		burst    int     // datagrams that it sends until it is off
		off      float64 // s
		wantNone bool
	}{
		{"one stop", 20e-6, 128, 50e-3, false}, {"short stops", 40e-6, 25, 3e-3, false}, {"long stops", 20e-6, 44, 20e-3, false},
		{"as slow as the link", 130e-6, 256, 0, true}, {"stops after each", 20e-6, 1, 0.2e-3, true},
	} {
		trains := make([]Train, 3)
		sent, free, seq := 0.0, 0.0, 0
		for k := range trains {
			trains[k] = Train{Sent: 256, Size: 1500}
			for i := range 256 {
				seq++
				if sent += c.each; seq%c.burst == 0 {
					sent += c.off
				}
				free = max(free, sent) + 12e3/link
				trains[k].Packets = append(trains[k].Packets, Packet{Index: i, At: int64((free + 0.02) * 1e9), Sent: int64((sent + 1000) * 1e9)})
			}
		}
		Align(trains)
		got := NarrowestLink(trains)
		if c.wantNone && got.Doubt != Slow {
			t.Errorf("%s: %+v, want none", c.name, got)
		} else if !c.wantNone {
			wants(t, c.name, got, link, 0.01)
		}
	}
}

// A train whose head a limit on bursts lets pass, and of the rest only single packets, does not tell the rate of the line before it as that of the
// link; one that a short queue cut does tell it.
func TestCutTrains(t *testing.T) {
	const lan, link = 1e9, 50e6 // bit/s before the narrow place, and of it
	for _, packets := range []int{32, 256} {
		for _, room := range []int{8, 10, 20} { // packets that fit the queue
			trains := make([]Train, 5)
			for k := range trains {
				trains[k] = Train{Sent: packets, Size: 1500}
				free := 0.0
				for i := range packets {
					at := float64(i) * 12e3 / lan // s
					if waiting := max(0, free-at) * link / 12e3; waiting < float64(room) {
						free = max(free, at) + 12e3/link
						trains[k].Packets = append(trains[k].Packets, Packet{Index: i, At: int64(free * 1e9)})
					}
				}
			}
			Align(trains)
			wants(t, "a queue", NarrowestLink(trains), link, 0.02)
		}
	}
}

// Some packets of a train that overflowed a queue come by a longer way, long after the others.
func TestLatePackets(t *testing.T) {
	var lost []int
	for i := 180; i < 256; i++ {
		lost = append(lost, i)
	}
	trains := spread(5, 256, 1500, 50e6, lost...)
	for _, t := range trains {
		for i := 40; i < len(t.Packets); i += 50 {
			t.Packets[i].At += 60e6
		}
	}
	Align(trains)
	wants(t, "late", NarrowestLink(trains), 50e6, 0.05)
}

// A receiving host that takes packets in groups of eight, as adapters do that coalesce interrupts, either tells the rate by longer spans, or says so.
func TestGroups(t *testing.T) {
	for _, packets := range []int{16, 256} {
		trains := spread(5, packets, 1500, 100e6)
		for _, t := range trains {
			for i := range t.Packets {
				last := min(i-i%8+7, len(t.Packets)-1)
				t.Packets[i].At = int64(last)*120_000 + int64(i%8)*2_000
			}
		}
		c := NarrowestLink(trains)
		if c.Certain() && off(c.BitsPerSecond, 100e6) > 0.05 || packets == 256 && !c.Known() {
			t.Errorf("groups in trains of %d: %+v", packets, c)
		}
	}
}

func TestNearest(t *testing.T) {
	for rate, want := range map[float64]string{97.5e6: "Fast Ethernet", 9.75e6: "Ethernet", 1.5e6: "T1", 51e6: "OC-1", 48.7e6: "", 943e6: "", 975e6: "Gigabit Ethernet", 3e6: ""} {
		s, near := Nearest(rate, 1500)
		if near != (want != "") || near && s.Name != want {
			t.Errorf("%v: %v, %v; want %q", rate, s, near, want)
		}
	}
}
