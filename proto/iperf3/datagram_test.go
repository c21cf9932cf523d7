package iperf3

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDatagram(t *testing.T) {
	var b [16]byte
	PutDatagram(b[:], 3*time.Second+250*time.Microsecond, 0x01020304, false)
	want := [16]byte{0, 0, 0, 3, 0, 0, 0, 250, 1, 2, 3, 4}
	if b != want {
		t.Errorf("32-bit header % x, want % x", b, want)
	}
	PutDatagram(b[:], 3*time.Second, 1<<40, true)
	if sent, seq, ok := ParseDatagram(b[:], true); !ok || sent != 3*time.Second || seq != 1<<40 {
		t.Errorf("64-bit header read back as %v, %d, %v", sent, seq, ok)
	}
	for name, bad := range map[string][]byte{"short": b[:11], "empty": nil, "sequence 0": make([]byte, 12)} {
		if _, _, ok := ParseDatagram(bad, false); ok {
			t.Errorf("%s datagram accepted", name)
		}
	}
}

func TestTracker(t *testing.T) {
	tests := []struct {
		name string
		seqs []uint64
		want Tracker
	}{
		{"in order", []uint64{1, 2, 3}, Tracker{Highest: 3, Received: 3}},
		{"one lost", []uint64{1, 3, 4}, Tracker{Highest: 4, Received: 3, Lost: 1, LossRuns: 1}},
		{"first lost", []uint64{3}, Tracker{Highest: 3, Received: 1, Lost: 2, LossRuns: 1}},
		{"late", []uint64{1, 3, 2, 4}, Tracker{Highest: 4, Received: 4, Reordered: 1}},
		{"twice", []uint64{1, 2, 2, 3}, Tracker{Highest: 3, Received: 4, Duplicates: 1}},
		{"late twice, one lost", []uint64{1, 4, 2, 2}, Tracker{Highest: 4, Received: 4, Lost: 1, LossRuns: 1, Reordered: 1, Duplicates: 1}},
		{"two runs", []uint64{2, 5, 6}, Tracker{Highest: 6, Received: 3, Lost: 3, LossRuns: 2}},
		{"late, from the midst of a run", []uint64{1, 5, 3}, Tracker{Highest: 5, Received: 3, Lost: 2, LossRuns: 2, Reordered: 1}},
		{"late, the whole of a run", []uint64{1, 4, 6, 5}, Tracker{Highest: 6, Received: 4, Lost: 2, LossRuns: 1, Reordered: 1}},
		{"late, the first of all", []uint64{3, 1}, Tracker{Highest: 3, Received: 2, Lost: 1, LossRuns: 1, Reordered: 1}},
		{"late, a run from its end", []uint64{4, 3, 2, 1}, Tracker{Highest: 4, Received: 4, Reordered: 3}},
		{"far ahead", []uint64{1, 100_000, 99_999, 99_999}, Tracker{Highest: 100_000, Received: 4, Lost: 99_997, LossRuns: 1, Reordered: 1, Duplicates: 1}},
		{"beyond the window", []uint64{1, 10_000, 2}, Tracker{Highest: 10_000, Received: 3, Lost: 9_997, LossRuns: 1, Reordered: 1}},
		{"the window wraps", []uint64{1, 4097, 4097 + 4096}, Tracker{Highest: 8193, Received: 3, Lost: 8190, LossRuns: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got Tracker
			for _, seq := range test.seqs {
				got.Add(seq, 0, 0)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreUnexported(Tracker{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestJitter(t *testing.T) {
	var got Tracker
	for i, transit := range []time.Duration{5, 5 + 16, 5, 5} { // RFC 1889 A.8: J += (|D| - J) / 16
		sent := time.Duration(i) * time.Millisecond
		got.Add(uint64(i+1), sent, sent+transit*time.Microsecond)
	}
	j := time.Duration(0)
	for _, d := range []time.Duration{16, 16, 0} {
		j += (d*time.Microsecond - j) / 16
	}
	if got.Jitter != j {
		t.Errorf("jitter %v, want %v", got.Jitter, j)
	}
}

func BenchmarkTracker(b *testing.B) {
	var t Tracker
	for i := range b.N {
		t.Add(uint64(i+1), time.Duration(i), time.Duration(i))
	}
}

func TestPacerKeepsTheAverage(t *testing.T) {
	p := pacer{rate: 8_000_000} // 1 MB/s
	now := time.Unix(100, 0)
	start := now
	for range 100 {
		now = now.Add(max(0, p.next(now, 1000)))
	}
	if took := now.Sub(start); took != 99*time.Millisecond { // the first goes at once
		t.Errorf("100 kB at 1 MB/s took %v, want 99ms", took)
	}
	now = now.Add(10 * time.Second) // a stall: only maxBehind of it may be made up for
	free := 0
	for p.next(now, 1000) <= 0 {
		free++
	}
	if want := int(maxBehind / time.Millisecond); free < want || free > want+1 {
		t.Errorf("%d writes at once after a stall, want %d", free, want)
	}
}
