package link

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

func BenchmarkDirection(b *testing.B) {
	for _, c := range []struct{ name, shape string }{
		{"bare", "{}"},
		{"plain", "{rate: 1gbit, delay: 1ms, loss: 0.1%}"},
		{"long", "{rate: 1gbit, delay: 100ms, loss: 0.1%}"},
		{"unpaced", "{delay: 1ms, loss: 0.1%}"},
		{"full", "{rate: 1gbit, delay: 10ms, jitter: {spread: 1ms, distribution: normal}, loss: {gilbert: {ratio: 1%, burst: 5}}, " +
			"duplicate: 0.1%, reorder: 0.1%, corrupt: 0.1%, queue: {codel: {}}, police: {rate: 2gbit, burst: 1MB}}"},
		{"trace", "{trace: {opportunities: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}, queue: 10000p}"},
		{"shaper", "{shaper: {rate: 900mbit, burst: 100kB}, queue: 10000p}"},
		{"rule", "{rules: [{match: {protocol: udp, port: 5201}, rate: 1gbit, delay: 10ms}]}"},
	} {
		b.Run(c.name, func(b *testing.B) { drive(b, c.shape, 1, 12_500) })
	}
	b.Run("flows=1000", func(b *testing.B) { drive(b, "{rules: [{per: flow, rate: 10mbit, delay: 10ms}]}", 1000, 12_500) })
}

// drive sends one packet after another, each from the next of some ports, so many nanoseconds apart.
func drive(b *testing.B, shape string, ports int, gap int64) {
	var pool packet.Pool
	out := Out{Deliver: func(_ int64, k *packet.Packet) { pool.Put(k) },
		Drop: func(_ int64, k *packet.Packet, _ packet.Cause) { pool.Put(k) }}
	d := New(0, 1, 0, shapeOf(b, shape), &pool, out)
	headers := make([][]byte, ports)
	for i := range headers {
		headers[i] = make([]byte, 1500)
		packet.UDP(headers[i], netip.AddrPortFrom(bob.Addr(), uint16(i+1)), carol, 0, 64)
	}
	at := int64(0)
	one := func(i int) {
		at += gap
		d.Step(at)
		k := pool.Get(1500)
		copy(k.Data, headers[i%ports][:28])
		d.Accept(at, k)
	}
	for i := range 20_000 { // until as many fly as will
		one(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		one(i)
	}
}

// What the harness itself takes: a packet from the pool and back.
func BenchmarkHarness(b *testing.B) {
	var pool packet.Pool
	b.ReportAllocs()
	for b.Loop() {
		pool.Put(pool.Get(1500))
	}
}

func BenchmarkMedium(b *testing.B) {
	for _, mode := range []string{"half", "mismatch"} {
		b.Run(mode, func(b *testing.B) {
			var pool packet.Pool
			out := Out{Deliver: func(_ int64, k *packet.Packet) { pool.Put(k) },
				Drop: func(_ int64, k *packet.Packet, _ packet.Cause) { pool.Put(k) }}
			m := NewMedium()
			var ends [2]*Direction
			for i := range ends {
				ends[i] = New(0, 1, i, shapeOf(b, fmt.Sprintf("{rate: 100mbit, duplex: %s}", mode)), &pool, out)
				ends[i].Join(0, m, i)
			}
			b.ReportAllocs()
			for i, at := 0, int64(0); b.Loop(); i++ {
				at += 150_000
				ends[i%2].Step(at)
				k := pool.Get(1500)
				packet.UDP(k.Data[:28], bob, carol, 0, 64)
				ends[i%2].Accept(at, k)
			}
		})
	}
}

func BenchmarkSuperPackets(b *testing.B) {
	r := newRig(b, 1, "{delay: 10ms, loss: 0.01%}")
	r.d.sink = Out{Deliver: func(_ int64, k *packet.Packet) { r.pool.Put(k) },
		Drop: func(_ int64, k *packet.Packet, _ packet.Cause) { r.pool.Put(k) }}
	b.ReportAllocs()
	for at := int64(0); b.Loop(); at += 50_000 {
		r.d.Step(at)
		r.d.Accept(at, r.superPacket(44))
	}
}
