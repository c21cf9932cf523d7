package queue

import (
	"math/rand/v2"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// loads are the disciplines, each with a configuration, and how many packets wait in the steady state of steady.
var loads = []struct {
	name    string
	config  Config
	waiting int
}{
	{"idle", Config{}, 0},
	{"tail", Config{}, 100},
	{"tail full", limited(Amount{Packets: 100}, TailDrop), 100},
	{"head full", limited(Amount{Packets: 100}, HeadDrop), 100},
	{"random full", limited(Amount{Packets: 100}, RandomDrop), 100},
	{"red idle", Config{Discipline: Discipline{RED: &RED{Min: Amount{Packets: 50}}}}, 0},
	{"red", Config{Discipline: Discipline{RED: &RED{Min: Amount{Packets: 50}, Max: Amount{Packets: 250}}, ECN: true}}, 100},
	{"codel", Config{Discipline: Discipline{CoDel: &CoDel{}}}, 100},
	{"codel dropping", Config{Discipline: Discipline{CoDel: &CoDel{}}}, 1000}, // 8 ms
	{"classes", threeClasses(), 100},
}

// steady returns a function that lets one packet come to a queue and one leave. Packets are used again.
func steady(c Config, waiting int) (step func()) {
	var free []*packet.Packet
	keep := func(p *packet.Packet) {
		packet.SetECN(p.Data, ect0)
		free = append(free, p)
	}
	q := New(&c, Line{Rate: 1.5e9}, rand.New(rand.NewPCG(1, 1)), Out{Drop: func(_ int64, p *packet.Packet, _ packet.Cause) { keep(p) }})
	codes := []byte{0, ef, le, 0}
	for i := range 2 * (waiting + 4) {
		free = append(free, coded(0, 1500, 0, codes[i%4], ect0))
	}
	var now int64
	return func() {
		now += 8000
		p := free[len(free)-1]
		free = free[:len(free)-1]
		p.Came = now
		q.Push(now, p)
		if q.Len() > waiting || len(free) < 4 {
			if p := q.Pop(now); p != nil {
				keep(p)
			}
		}
	}
}

// One operation is a packet that comes, and one that leaves or is dropped.
func BenchmarkQueue(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			step := steady(l.config, l.waiting)
			for range 1000 {
				step()
			}
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

// No packet costs an allocation.
func TestNoAllocation(t *testing.T) {
	for _, l := range loads {
		step := steady(l.config, l.waiting)
		for range 1000 {
			step()
		}
		if n := testing.AllocsPerRun(10_000, step); n != 0 {
			t.Errorf("%s: %v allocations a packet", l.name, n)
		}
	}
}
