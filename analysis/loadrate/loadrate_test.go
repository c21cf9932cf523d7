package loadrate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The table is that of RFC 9097 section 8.1 up to 10 Gbit/s, and a rate's row is the highest that is not above it.
func TestTable(t *testing.T) {
	for _, c := range []struct {
		row  int
		want int64
	}{{0, 500_000}, {1, 1e6}, {2, 2e6}, {999, 999e6}, {1000, 1e9}, {1001, 1.1e9}, {1090, 10e9}} {
		if got := rate(c.row); got != c.want || rowOf(got) != c.row || rowOf(got+499_999) != min(c.row, rowOf(Most)) {
			t.Errorf("row %d is %d bit/s, want %d; its row is %d", c.row, got, c.want, rowOf(got))
		}
	}
	if got := rowOf(0); got != 0 {
		t.Errorf("row of 0 bit/s: %d", got)
	}
}

// What each report does to the row, from each state: the pseudocode of RFC 9097 appendix A, line by line.
func TestTake(t *testing.T) {
	clear, stay := Report{Packets: 100}, Report{Packets: 100, Delay: LowDelay}
	lossy, late := Report{Packets: 100, Errors: SequenceErrors + 1}, Report{Packets: 100, Delay: HighDelay + 1}
	for name, c := range map[string]struct {
		from    Search
		reports []Report
		want    Search
	}{
		"fast up":                          {Search{0, 1090, 0}, []Report{clear, clear}, Search{20, 1090, 0}},
		"a few errors":                     {Search{0, 1090, 0}, []Report{{Packets: 1, Errors: SequenceErrors}}, Search{10, 1090, 0}},
		"not above a gigabit at once":      {Search{995, 1090, 0}, []Report{clear}, Search{1000, 1090, 0}},
		"one by one above it":              {Search{1000, 1090, 0}, []Report{clear, clear}, Search{1002, 1090, 0}},
		"not above what is allowed":        {Search{95, 100, 0}, []Report{clear, clear}, Search{100, 100, 0}},
		"stay":                             {Search{50, 1090, 1}, []Report{stay, {Packets: 1, Delay: HighDelay}}, Search{50, 1090, 1}},
		"nothing came":                     {Search{50, 1090, 1}, []Report{{}}, Search{50, 1090, 1}},
		"one down":                         {Search{50, 1090, 0}, []Report{lossy}, Search{49, 1090, 1}},
		"late is as bad":                   {Search{50, 1090, 0}, []Report{late}, Search{49, 1090, 1}},
		"clear forgets":                    {Search{50, 1090, 0}, []Report{lossy, lossy, clear, lossy}, Search{57, 1090, 1}},
		"third confirms":                   {Search{50, 1090, 0}, []Report{lossy, stay, late, lossy}, Search{18, 1090, 3}},
		"not below the first row":          {Search{12, 1090, 2}, []Report{lossy, lossy}, Search{0, 1090, 4}},
		"slow up once confirmed":           {Search{50, 1090, 3}, []Report{clear, clear}, Search{52, 1090, 3}},
		"back by many once":                {Search{50, 1090, 3}, []Report{lossy, lossy}, Search{48, 1090, 5}},
		"by one alone from a gigabit on":   {Search{1010, 1090, 2}, []Report{lossy}, Search{1009, 1090, 3}},
		"not above the last row":           {Search{1090, 1090, 0}, []Report{clear}, Search{1090, 1090, 0}},
		"lost all that was sent meanwhile": {Search{50, 1090, 0}, []Report{{Errors: 400}}, Search{49, 1090, 1}},
	} {
		s := c.from
		for _, r := range c.reports {
			s.Take(r)
		}
		if s != c.want {
			t.Errorf("%s: %+v, want %+v", name, s, c.want)
		}
	}
	if s := New(95e6, 50e6); s.Rate() != 50e6 || s.Confirmed() {
		t.Errorf("from above what is allowed the search begins at %d", s.Rate())
	}
}

// path is one to search on, in virtual time: a link behind a queue, with losses at random before it.
type path struct {
	rate  float64       // bit/s
	queue int           // packets
	loss  float64       // share of packets
	delay time.Duration // each way
	bytes int           // of a packet
}

// search sends over a path for some seconds, with a report each FeedbackTime, and returns the rate at its end in each second, in bit/s, and the search.
func (p path) search(seconds int, random *rand.Rand) ([]float64, *Search) {
	s := New(0, 0)
	rates := make([]float64, seconds)
	service := float64(p.bytes) * 8 / p.rate
	var free float64 // when the link will have sent all that waits
	var report Report
	var sum float64
	type said struct {
		at float64
		Report
	}
	var back []said
	due := FeedbackTime.Seconds()
	for now := 0.0; now < float64(seconds); now += float64(p.bytes) * 8 / float64(s.Rate()) {
		for ; due <= now; due += FeedbackTime.Seconds() {
			if report.Packets > 0 {
				report.Delay = time.Duration(sum / float64(report.Packets) * 1e9)
			}
			back = append(back, said{due + 2*p.delay.Seconds(), report})
			report, sum = Report{}, 0
		}
		for len(back) > 0 && back[0].at <= now {
			s.Take(back[0].Report)
			back = back[1:]
		}
		waits := max(0, free-now)
		if random.Float64() < p.loss || waits > float64(p.queue)*service {
			report.Errors++
			continue
		}
		free = max(free, now) + service
		report.Packets++
		sum += waits
		if at := int(free + p.delay.Seconds()); at < seconds {
			rates[at] += float64(p.bytes) * 8
		}
	}
	return rates, s
}

// Over paths whose capacity is known, the best second is at it, within a few percent, however the queue is, and with a loss that is none of congestion.
func TestSearchFindsCapacity(t *testing.T) {
	for name, c := range map[string]struct {
		path
		within float64
	}{
		"100 Mbit/s, 20 packets, 0.1 % lost": {path{100e6, 20, 0.001, 10 * time.Millisecond, 1250}, 0.02},
		"100 Mbit/s, 20 packets":             {path{100e6, 20, 0, 10 * time.Millisecond, 1250}, 0.01},
		"100 Mbit/s, a queue of 250 ms":      {path{100e6, 2500, 0.001, 10 * time.Millisecond, 1250}, 0.02},
		"100 Mbit/s, 300 ms away":            {path{100e6, 200, 0.001, 150 * time.Millisecond, 1250}, 0.03},
		"10 Mbit/s, 5 packets":               {path{10e6, 5, 0, 20 * time.Millisecond, 1250}, 0.03},
		"1.5 Mbit/s, 20 packets":             {path{1.5e6, 20, 0, 20 * time.Millisecond, 1250}, 0.05},
		"800 Mbit/s, 100 packets":            {path{800e6, 100, 0.0005, 5 * time.Millisecond, 1500}, 0.02},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				rates, s := c.path.search(10, rand.New(rand.NewPCG(seed, 9097)))
				got := slices.Max(rates)
				if got < (1-c.within)*c.rate || got > 1.001*c.rate {
					t.Errorf("seed %d: %.4g bit/s of %.4g at the best second of %.3g; it ends at %d", seed, got, c.rate, rates, s.Rate())
				}
			}
		})
	}
}
