package stat

import "testing"

func TestConnected(t *testing.T) {
	there := []Passage{{0, Lost}, {1, 1.2}, {2, Lost}, {3, 3.2}}
	back := []Passage{{0.5, 0.7}, {1.1, Lost}, {2.5, 2.7}, {3.5, Lost}}
	type verdict struct{ connected, known bool }
	of := func(connected, known bool) verdict { return verdict{connected, known} }
	yes, no, unknown := verdict{true, true}, verdict{false, true}, verdict{}
	for _, c := range []struct {
		name                    string
		from, to                float64
		one, other, both, turns verdict
	}{
		{"the whole time", 0, 4, yes, yes, yes, yes},
		{"before the first packet", -2, -1, unknown, unknown, unknown, unknown},
		{"one lost packet there, nothing back", 0, 0.2, no, unknown, unknown, unknown},
		{"the packet back left before the one there arrived", 0, 1.5, yes, yes, yes, no},
		{"each way in its time, and no answer in it", 0.5, 2, yes, yes, yes, no},
		{"an answer that left later", 1, 2.7, yes, yes, yes, yes},
		{"an answer that arrives too late", 1, 2.6, yes, yes, yes, no},
		{"both ends of an interval belong to it", 1, 1, yes, unknown, unknown, unknown},
		{"the answers are lost", 3, 4, yes, no, no, no},
	} {
		if got := of(Connected(there, c.from, c.to)); got != c.one {
			t.Errorf("%s, there (4.4): %v, want %v", c.name, got, c.one)
		}
		if got := of(Connected(back, c.from, c.to)); got != c.other {
			t.Errorf("%s, back (4.4): %v, want %v", c.name, got, c.other)
		}
		if got := of(ConnectedBothWays(there, back, c.from, c.to)); got != c.both {
			t.Errorf("%s, both ways (5.4): %v, want %v", c.name, got, c.both)
		}
		if got := of(ConnectedInTurn(there, back, c.from, c.to)); got != c.turns {
			t.Errorf("%s, in turn (6.4): %v, want %v", c.name, got, c.turns)
		}
	}
	if there[0].Made() || !there[1].Made() {
		t.Error("a lost packet has instantaneous connectivity, or one that arrived has none")
	}
	// Section 6.4: T1 + dT1 <= T2, so that a packet may leave at the very moment in which another arrives.
	if got := of(ConnectedInTurn([]Passage{{0, 1}}, []Passage{{1, 2}}, 0, 2)); got != yes {
		t.Errorf("an answer at once: %v, want %v", got, yes)
	}
}
