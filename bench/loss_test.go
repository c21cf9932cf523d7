package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadLoss(t *testing.T) {
	got, err := readLoss(pinged, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := tally{sent: 3, lost: map[int]bool{2: true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Sequence numbers begin again after 65,535.
func TestReadLossBeyondSixteenBits(t *testing.T) {
	const sent = 70_000
	lost := map[int]bool{5: true, 65_535: true, 65_541: true, 69_999: true}
	var text strings.Builder
	for n := 1; n <= sent; n++ {
		if !lost[n] {
			fmt.Fprintf(&text, "64 bytes from 10.0.0.2: icmp_seq=%d ttl=64 time=0.1 ms\n", n%65536)
		}
	}
	fmt.Fprintf(&text, "\n%d packets transmitted, %d received, 0%% packet loss, time 1ms\n", sent, sent-len(lost))
	got, err := readLoss(text.String(), sent)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tally{sent: sent, lost: lost}, got, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestReadLossRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no total":       "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.1 ms\n",
		"another total":  "4 packets transmitted, 3 received\n",
		"missing lines":  "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.1 ms\n3 packets transmitted, 2 received\n",
		"sequence above": "64 bytes from 10.0.0.2: icmp_seq=70000 ttl=64 time=0.1 ms\n3 packets transmitted, 1 received\n",
	} {
		if got, err := readLoss(text, 3); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}

func FuzzReadLoss(f *testing.F) {
	f.Add(pinged)
	f.Fuzz(func(t *testing.T, text string) {
		if got, err := readLoss(text, 3); err == nil && len(got.lost) > 3 {
			t.Errorf("%d of 3 lost", len(got.lost))
		}
	})
}

func TestUnwrap(t *testing.T) {
	for _, c := range []struct {
		last int
		seq  uint16
		want int
	}{{0, 1, 1}, {65_535, 0, 65_536}, {65_536, 65_535, 65_535}, {65_534, 2, 65_538}, {200_000, 3_393, 200_001}} {
		if got := unwrap(c.last, c.seq); got != c.want {
			t.Errorf("unwrap(%d, %d) = %d, want %d", c.last, c.seq, got, c.want)
		}
	}
}

// In a real lab, ping and the truth agree, a seed drops the same packets twice, and another seed drops others.
func TestLossRepeats(t *testing.T) {
	need(t, "ping")
	const packets = 3000
	var runs []tally
	for _, seed := range []uint64{1, 1, 2} {
		r, err := countLoss(t.Context(), seed, packets)
		if err != nil {
			t.Fatal(err)
		}
		if uint64(len(r.lost)) != r.counted || r.strange != 0 {
			t.Errorf("seed %d: ping lost %d, the truth counted %d, %d met another fate", seed, len(r.lost), r.counted, r.strange)
		}
		runs = append(runs, r)
	}
	if diff := cmp.Diff(runs[0].lost, runs[1].lost); diff != "" || len(runs[0].lost) == 0 {
		t.Errorf("the same seed, twice, lost %d packets:\n%s", len(runs[0].lost), diff)
	}
	if cmp.Equal(runs[0].lost, runs[2].lost) {
		t.Error("two seeds lost the same packets")
	}
}
