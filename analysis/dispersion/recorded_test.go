package dispersion

import (
	"encoding/json"
	"os"
	"testing"
)

// read reads what was recorded.
func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// arrival is a packet of a set of trains, which are recorded in the order of sending: its number in the set, from 1, when it arrived, and when it was sent, in ns.
type arrival [3]int64

// recorded are the trains of a set of steps, by what arrived.
func recorded(steps []Step, size int, arrivals []arrival) []Train {
	var trains []Train
	for _, step := range steps {
		t := Train{Sent: step.Packets, Size: size}
		for len(arrivals) > 0 && arrivals[0][0] <= int64(step.Packets) {
			t.Packets = append(t.Packets, Packet{Index: int(arrivals[0][0] - 1), At: arrivals[0][1], Sent: arrivals[0][2]})
			arrivals = arrivals[1:]
		}
		for i := range arrivals {
			arrivals[i][0] -= int64(step.Packets)
		}
		trains = append(trains, t)
	}
	return trains
}

// Trains as they came on a host with two processors and six programs that took all they could get, through a link of 100 Mbit/s.
// The sender was stopped up to 30 times in a train; by all that arrived, the capacity would be 48 Mbit/s.
func TestRecordedBusySender(t *testing.T) {
	var r struct {
		Train    struct{ Packets, Trains int }
		Packet   int
		Arrivals []arrival
	}
	read(t, "busy-sender.json", &r)
	trains := recorded(repeated(r.Train.Trains, Step{Packets: r.Train.Packets}), r.Packet, r.Arrivals)
	Align(trains)
	wants(t, "recorded", NarrowestLink(trains), 100e6*1500/1538, 0.01)
}

// Trains as they came through the kernel's token bucket filter of 50 Mbit/s, whose bucket of 5 kB lets three packets pass at once and a fourth early. Five
// packets then take as long as on a link of 120 or 130 Mbit/s. The filter counts the 14 bytes of Ethernet's header.
func TestRecordedBucketOfThree(t *testing.T) {
	for _, c := range []struct {
		file string
		goal Goal
		want Doubt
	}{{"bucket-of-three.json", Goal{}, ""}, {"bucket-of-three-light.json", Goal{Light: true}, Slowing}} {
		var r struct {
			Packet int
			Sets   [][]arrival
		}
		read(t, c.file, &r)
		s := Study{Goal: c.goal, Size: r.Packet}
		for _, arrivals := range r.Sets {
			s.Add(recorded(s.Next(), r.Packet, arrivals))
		}
		got := s.Findings().Capacity
		if got.Doubt != c.want {
			t.Errorf("%s: %+v, want the doubt %q", c.file, got, c.want)
		}
		if c.want == "" {
			wants(t, c.file, got, 50e6*1480/1494, 0.01)
		}
	}
}
