package record

import (
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// A packet's whole account: begin, delivery, and the fold of the one that the ring forgets for it.
func BenchmarkPacket(b *testing.B) {
	for _, c := range []struct {
		name        string
		flows, size int
	}{{"one flow", 1, 0}, {"64 flows", 64, 0}, {"4096 flows", 4096, 0}} {
		b.Run(c.name, func(b *testing.B) {
			var pool packet.Pool
			packets := make([]*packet.Packet, c.flows)
			for i := range packets {
				packets[i] = udp(&pool, i, 1500)
			}
			book, i := New(Config{}), 0
			once := func() {
				p := packets[i%len(packets)]
				t := int64(i) * 8000
				book.Begin(p, t)
				book.Delivered(p, t+10e6+int64(i%512)*9999, t+10e6+int64(i%512)*9999+int64(i%1024)*100)
				i++
			}
			for range DefaultRecords + 10_000 { // the steady state: all chunks are there
				once()
			}
			b.ReportAllocs()
			for b.Loop() {
				once()
			}
		})
	}
}

func BenchmarkPassed(b *testing.B) {
	var pool packet.Pool
	p := udp(&pool, 0, 1500)
	for name, feed := range map[string]*Feed{"nobody follows": nil, "followed": NewFeed(1<<12, true, true)} {
		b.Run(name, func(b *testing.B) {
			book, events := New(Config{}), make([]Event, 1<<11)
			if feed != nil {
				book.Follow(feed)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				book.Passed(1, p, 1, 0, Delivered, packet.Kept)
				if feed != nil && i%(1<<11) == 0 {
					feed.Drain(events)
				}
			}
		})
	}
}

func BenchmarkStep(b *testing.B) {
	book := New(Config{})
	traffic(book, 100_000)
	r := book.ReadAll()
	b.ReportAllocs()
	for b.Loop() {
		if !r.Step() {
			r = book.ReadAll()
		}
	}
}

func BenchmarkCapture(b *testing.B) {
	c, err := NewCapture(nothing{}, zero, []Interface{{Name: "a"}})
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 1500)
	b.ReportAllocs()
	for b.Loop() {
		c.Packet(0, 1, data, Seen{Number: 1})
	}
	b.ReportMetric(float64(c.Missed())/float64(b.N), "missed/op")
	if err := c.Close(0); err != nil {
		b.Fatal(err)
	}
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }
