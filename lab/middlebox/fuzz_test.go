package middlebox

import (
	"math/rand/v2"
	"testing"

	"github.com/pathwise-net/pathwise/lab/packet"
)

const everything = `{nat: {outside: z, idle: 2s, filtering: address, ipv6: true, entries: 50, forward: [{port: 80, to: web}]},
  firewall: {inside: [a], idle: 1s, allow: [{target_port: 80}], deny: [{port: 81}], reject: true},
  icmp: {rate: 5, transit: true}, strip: [wscale, sack, timestamps, mptcp, tfo, unknown], mss: 1360,
  dscp: {EF: 0, default: CS1}, ecn: bleach, randomize_sequence: true}`

// FuzzBox sends any packet both ways through a box that does everything, and then the errors about what came out: the
// box must not panic, nor spoil a checksum that was right.
func FuzzBox(f *testing.F) {
	for _, b := range [][]byte{syn1, dataIn1, syn6, echoPacket(hostA, hostZ, false, 1), echoPacket(hostA6, hostZ6, true, 1),
		udpPacket(ap(hostA6, 1), ap(hostZ6, 80), "x"), tcp(ap(hostZ, 1), ap(router, 80), syn, synOptions, ""),
		errorAbout(f, hostZ, syn1, packet.TooBigFor), errorAbout(f, hostZ6, syn6, packet.TooBigFor),
		errorAbout(f, hostZ, tcp(ap(router, 4000), ap(hostZ, 80), ack, ackOptions, "data"), packet.HopsUsedUp)} {
		f.Add(b, int64(0))
	}
	b := New(read(f, everything), place, 1)
	now := int64(0)
	f.Fuzz(func(t *testing.T, data []byte, wait int64) {
		whole, ok := packet.Whole(data)
		if !ok {
			return
		}
		now += wait & 0xffffffff
		got, _ := through(t, b, now, whole, insideNumber, outsideNumber)
		through(t, b, now, whole, outsideNumber, insideNumber)
		through(t, b, now, whole, insideNumber, insideNumber)
		if got == nil {
			return
		}
		if e := packet.Complaint(&packet.Pool{}, hostZ, &packet.Packet{Data: got}, packet.HopsUsedUp, 0); e != nil {
			through(t, b, now, e.Data, outsideNumber, insideNumber)
		}
	})
}

// TestRandomTraffic does what FuzzBox does with packets that are well formed, so that they get far, and repeats it with
// the same seed: the fates must be the same, and the tables must keep their bounds and agree with each other.
func TestRandomTraffic(t *testing.T) {
	run := func() ([]byte, Counts) {
		r := rand.New(rand.NewPCG(1, 2))
		b := New(read(t, everything), place, 1)
		var fates []byte
		now := int64(0)
		for range 20000 {
			now += r.Int64N(second / 50)
			data, from, to := randomPacket(r)
			got, cause := through(t, b, now, data, from, to)
			fates = append(append(fates, byte(cause)), got...)
			if got != nil && r.IntN(4) == 0 {
				if e := packet.Complaint(&packet.Pool{}, hostZ, &packet.Packet{Data: got}, packet.HopsUsedUp, 0); e != nil {
					through(t, b, now, e.Data, to, from)
				}
			}
			checkTables(t, b)
		}
		return fates, b.Counts()
	}
	fates, counts := run()
	again, _ := run()
	if string(fates) != string(again) {
		t.Error("the same seed and packets met another fate")
	}
	if counts.Translated == 0 || counts.Untranslated == 0 || counts.Filtered == 0 || counts.ICMPLimited == 0 || counts.Stripped == 0 ||
		counts.Randomized == 0 || counts.Clamped == 0 {
		t.Errorf("something was not tried: %+v", counts)
	}
}

// randomPacket is of one of few connections, so that packets meet again.
func randomPacket(r *rand.Rand) (data []byte, from, to int) {
	from, to = insideNumber, outsideNumber
	source, target := hostA, hostZ
	port, service := uint16(4000+r.IntN(40)), uint16(79+r.IntN(3))
	if r.IntN(3) == 0 {
		source = hostA2
	}
	if r.IntN(4) == 0 {
		source, target = hostA6, hostZ6
	}
	if r.IntN(2) == 0 {
		from, to = to, from
		source, target = target, router
		if source.Is6() {
			target = router6
		}
		port, service = service, port
	}
	switch r.IntN(4) {
	case 0:
		return udpPacket(ap(source, port), ap(target, service), "payload"), from, to
	case 1:
		return echoPacket(source, target, r.IntN(2) == 0, port), from, to
	case 2:
		return tcp(ap(source, port), ap(target, service), syn, synOptions, ""), from, to
	}
	flags := []byte{ack, ack, ack, synAck, fin, rst}[r.IntN(6)]
	return tcp(ap(source, port), ap(target, service), flags, ackOptions, "payload"), from, to
}

func checkTables(t *testing.T, b *Box) {
	t.Helper()
	n := b.nat
	if n.ages.used > 50 || len(n.byInside) != n.ages.used+len(n.forwards) || len(n.byOutside) != len(n.byInside) {
		t.Fatalf("%d mappings, %d inside, %d outside", n.ages.used, len(n.byInside), len(n.byOutside))
	}
	taken := 0
	for _, r := range n.ranges {
		taken += r.taken
	}
	if taken != len(n.byOutside) {
		t.Fatalf("%d ports are counted as taken, %d are", taken, len(n.byOutside))
	}
	if w := b.wall; len(w.known) != w.ages.used {
		t.Fatalf("%d connections, %d keys", w.ages.used, len(w.known))
	}
}

// benchmark sends packets of some connections from inside to outside, and copies each twice, which costs a few ns.
func benchmark(b *testing.B, config string) {
	c := &Config{}
	if config != "" {
		c = read(b, config)
	}
	box := New(c, place, 1)
	const flows = 64
	var packets [flows]*packet.Packet
	for i := range packets {
		packets[i] = &packet.Packet{Data: tcp(ap(hostA, uint16(4000+i)), ap(hostZ, 80), syn, ackOptions, "payload")}
		if i > 0 {
			box.Leave(0, packets[i], insideNumber, outsideNumber)
		}
	}
	var keep [128]byte
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		p := packets[i%flows]
		copy(keep[:], p.Data)
		box.Arrive(int64(i), p, insideNumber)
		box.Leave(int64(i), p, insideNumber, outsideNumber)
		copy(p.Data, keep[:len(p.Data)])
	}
}

func BenchmarkNothing(b *testing.B)  { benchmark(b, "") }
func BenchmarkNAT(b *testing.B)      { benchmark(b, "nat: {outside: z}") }
func BenchmarkFirewall(b *testing.B) { benchmark(b, "firewall: {inside: [a]}") }
func BenchmarkStrip(b *testing.B)    { benchmark(b, "strip: [wscale, sack]") }
func BenchmarkAll(b *testing.B) {
	benchmark(b, "{nat: {outside: z}, firewall: {inside: [a]}, icmp: filtered, strip: [wscale], mss: 1360, dscp: 0, ecn: bleach}")
}
