package lab

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnds(t *testing.T) {
	for direction, want := range map[string][2]string{"forward": {"bob", "carol"}, "reverse": {"carol", "bob"}} {
		l := LinkTruth{Between: [2]string{"bob", "carol"}, Direction: direction}
		if from, to := l.Ends(); [2]string{from, to} != want {
			t.Errorf("%s: from %s to %s, want %v", direction, from, to, want)
		}
	}
}

func TestDroppedInAll(t *testing.T) {
	l := LinkTruth{Dropped: map[string]uint64{"loss": 3, "queue": 0, "policed": 4}}
	if got := l.DroppedInAll(); got != 7 {
		t.Errorf("%d, want 7", got)
	}
}

func TestNodeNames(t *testing.T) {
	s := State{Nodes: []NodeState{
		{Name: "bob", Addresses: []string{"10.0.0.1", "fd70::1"}}, {Name: "london", Addresses: []string{"10.0.0.2"}}, {Name: "alone"}}}
	want := map[string]string{"10.0.0.1": "bob", "fd70::1": "bob", "10.0.0.2": "london"}
	if diff := cmp.Diff(want, s.NodeNames()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShapeStateAsText(t *testing.T) {
	for shape, want := range map[string]string{"": "{}", "{delay: 5ms}": "{delay: 5ms}"} {
		if got := (ShapeState{Shape: shape}).String(); got != want {
			t.Errorf("%q: %s, want %s", shape, got, want)
		}
	}
}
