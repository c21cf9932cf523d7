package iperf3

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/stat"
)

// Losses, order and copies are what package stat says of all numbers together, of whatever came.
func TestTrackerCountsAsStat(t *testing.T) {
	random := rand.New(rand.NewPCG(4737, 2))
	for range 200 {
		var came []uint64
		sent := 1 + random.IntN(300)
		for seq := 1; seq <= sent; seq++ {
			for range []int{0, 1, 1, 1, 1, 2}[random.IntN(6)] {
				came = append(came, uint64(seq))
			}
		}
		for i := range came { // some are late by a few places
			if random.IntN(5) == 0 {
				j := min(i+random.IntN(8), len(came)-1)
				came[i], came[j] = came[j], came[i]
			}
		}
		var got Tracker
		lost := make([]bool, 0)
		for _, seq := range came {
			got.Add(seq, 0, 0)
			for uint64(len(lost)) < seq {
				lost = append(lost, true)
			}
			lost[seq-1] = false
		}
		runs := stat.LossRuns(lost)
		missing := 0
		for _, n := range runs {
			missing += n
		}
		want := [4]int64{int64(missing), int64(len(runs)), int64(stat.Reordered(came)), int64(stat.Duplication(came).Extra)}
		if have := [4]int64{got.Lost, got.LossRuns, got.Reordered, got.Duplicates}; have != want {
			t.Fatalf("%v: lost, runs, reordered and copies %v, want %v", came, have, want)
		}
	}
}

// Numbers of 32 bits go on beyond their end, in order and out of it.
func TestWiden(t *testing.T) {
	for _, c := range []struct {
		highest uint64
		seq     uint32
		want    uint64
	}{
		{0, 1, 1}, {5, 7, 7}, {5, 3, 3}, {0, math.MaxUint32, math.MaxUint32}, {math.MaxUint32, 0, 1 << 32}, {math.MaxUint32 - 1, 3, 1<<32 + 3},
		{1<<32 + 3, math.MaxUint32, math.MaxUint32}, {5<<32 + 9, 8, 5<<32 + 8},
	} {
		if got := (&Tracker{Highest: c.highest}).Widen(c.seq); got != c.want {
			t.Errorf("%d after %d is %d, want %d", c.seq, c.highest, got, c.want)
		}
	}
}

// message appends a control message.
func message(b []byte, level, kind uint32, data ...byte) []byte {
	b = binary.NativeEndian.AppendUint64(b, uint64(unix.SizeofCmsghdr+len(data)))
	b = binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(b, level), kind)
	b = append(b, data...)
	return append(b, make([]byte, -len(data)&7)...)
}

func word(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

func TestReadBeside(t *testing.T) {
	stamp := binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint64(nil, 3), 7)
	all := message(nil, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS_NEW, stamp...)
	all = message(all, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, word(9)...)
	all = message(all, unix.IPPROTO_IP, unix.IP_TOS, 46<<2)
	all = message(all, unix.IPPROTO_IP, unix.IP_TTL, word(64)...)
	all = message(all, unix.SOL_UDP, unix.UDP_GRO, word(1448)...)
	all = message(all, unix.IPPROTO_IP, unix.IP_RECVFRAGSIZE, word(1500)...)
	want := beside{stamp: 3_000_000_007, merged: 1448, dscp: 46, marked: true, drops: 9, dropsTold: true, fragment: 1500}
	if diff := cmp.Diff(want, readBeside(all), cmp.AllowUnexported(beside{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for n := range all {
		_ = readBeside(all[:n]) // cut anywhere, it is read as far as it goes
	}
}

func FuzzReadBeside(f *testing.F) {
	f.Add(message(nil, unix.SOL_UDP, unix.UDP_GRO, word(1448)...))
	f.Fuzz(func(t *testing.T, control []byte) { _ = readBeside(control) })
}

// Where the socket's buffer holds less than comes between two looks, the host loses datagrams, and says so: on loopback no path does.
func TestReceiverSaysWhatItLost(t *testing.T) {
	addr := serve(t, Policy{})
	for name, c := range map[string]Config{
		"in one piece": {Window: 150_000, Rate: 20_000_000_000},
		"one by one":   {Window: 10_000, Rate: 3_000_000_000, NoOffload: true},
	} {
		c.Proto, c.Duration, c.Length = UDP, 300*time.Millisecond, 1448
		sum := run(t, addr, c).Total(Forward)
		host := sum.Ends[1].HostLost
		if sum.Lost == 0 || host > sum.Lost || float64(host) < 0.9*float64(sum.Lost) {
			t.Errorf("%s: %d of %d lost datagrams are the host's; want all of some", name, host, sum.Lost)
		}
		if sum.ReceivedBytes != (sum.Packets-sum.Lost)*1448 {
			t.Errorf("%s: %d bytes came of %d datagrams less %d", name, sum.ReceivedBytes, sum.Packets, sum.Lost)
		}
		if together := sum.Ends[0].Together; (together > 1) == c.NoOffload {
			t.Errorf("%s: up to %d datagrams in a piece", name, together)
		}
	}
}

// Each way has its own rate where both ends are ours.
func TestRateOfEachWay(t *testing.T) {
	for _, proto := range []string{TCP, UDP} {
		r := run(t, serve(t, Policy{}), Config{Proto: proto, Duration: time.Second, Bidir: true, Rate: 20_000_000, ReverseRate: 60_000_000})
		for way, want := range map[string]float64{Forward: 20e6, Reverse: 60e6} {
			if got := r.Total(way).Goodput(); got < 0.8*want || got > 1.2*want {
				t.Errorf("%s, %s: %.3g bit/s, want %.3g", proto, way, got, want)
			}
		}
	}
}

// Percentiles of the variation need no more memory for more datagrams, and no common clock.
func TestVariation(t *testing.T) {
	s := &stream{}
	for i := range 100_000 {
		transit := time.Hour + time.Duration(i%20)*time.Microsecond // by clocks that are an hour apart
		s.vary(uint64(i+1), transit)
	}
	ipdv, pdv := s.variation.p95()
	if len(s.variation.kept) > keptTransits || math.Abs(pdv-18e-6) > 1.5e-6 || math.Abs(ipdv-1e-6) > 1e-7 {
		t.Errorf("of %d kept: IPDV %v, PDV %v; want 1 and 18 µs", len(s.variation.kept), ipdv, pdv)
	}
}
