package iperf3

import (
	"testing"
	"time"
)

// In whatever steps a sender is woken, it sends the rate asked for, in no larger bursts than are due in what it may make up for.
func TestPace(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		name    string
		rate    int64
		burst   int
		late    func(i int) time.Duration // of the i-th wake-up
		sent    float64                   // share of the rate
		largest int                       // datagrams of 1000 bytes at once
	}{
		{"one by one", 8e6, 0, func(int) time.Duration { return 20 * us }, 1, 1},
		{"several a wake-up", 800e6, 0, func(int) time.Duration { return 10 * us }, 1, 7},
		{"late by 300 us each time", 80e6, 0, func(int) time.Duration { return 300 * us }, 1, 4},
		{"off its processor for 5 ms of each 20", 80e6, 0, func(i int) time.Duration {
			if i%150 == 149 {
				return 5 * time.Millisecond
			}
			return 0
		}, 0.77, 6},
		{"the same, of a fast one", 8e9, 0, func(i int) time.Duration {
			if i%100 == 99 {
				return 5 * time.Millisecond
			}
			return 0
		}, 0.70, 2001},
		{"bursts asked for", 80e6, 10, func(int) time.Duration { return 10 * us }, 1, 10},
		{"slow bursts", 8e3, 3, func(int) time.Duration { return 0 }, 1, 3},
	} {
		p := newPace(1000, c.rate, c.burst, 0)
		gap := float64(8000e9) / float64(c.rate)
		sent, largest, now := 0, 0, time.Duration(0)
		for i := 0; sent < 20_000; i++ {
			n, wait := p.next(now, 1<<20)
			if (n == 0) != (wait > 0) {
				t.Fatalf("%s: %d datagrams and a wait of %v", c.name, n, wait)
			}
			if n == 0 {
				now += wait + c.late(i/2)
			}
			sent += n
			largest = max(largest, n)
		}
		if share := float64(sent) * gap / float64(now); share < c.sent-0.01 || share > c.sent+0.01 || largest > c.largest {
			t.Errorf("%s: %.3f of the rate, up to %d at once; want %.2f and %d", c.name, share, largest, c.sent, c.largest)
		}
	}
}

// A call takes no more than it can, and what is left is due at once.
func TestPaceMost(t *testing.T) {
	p := newPace(1000, 8e9, 0, 0)
	if n, wait := p.next(time.Millisecond, 64); n != 64 || wait != 0 {
		t.Errorf("%d datagrams, wait %v", n, wait)
	}
	if n, wait := p.next(time.Millisecond, 64); n != 64 || wait != 0 {
		t.Errorf("then %d datagrams, wait %v", n, wait)
	}
}
