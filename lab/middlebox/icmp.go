package middlebox

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
)

// ICMP is what happens to ICMP errors. In a lab file: pass, filtered, or {rate: 10/s, burst: 6, transit: true}. The zero
// value lets them pass.
type ICMP struct {
	// Filtered drops those in transit: the classic black hole of path MTU discovery (RFC 2923). The router's own go.
	Filtered bool `yaml:"-" json:"filtered,omitempty"`
	// Rate is the most that the router itself sends (RFC 1812 section 4.3.2.8); 0: no limit.
	Rate    PerSecond `yaml:"rate" json:"rate,omitempty"`
	Burst   Number    `yaml:"burst" json:"burst,omitempty"`     // so many at once after a rest; 0: defaultBurst
	Transit bool      `yaml:"transit" json:"transit,omitempty"` // the limit is for those in transit, too
}

// PerSecond is a number of packets a second.
type PerSecond float64

// defaultBurst is what Linux allows towards one peer (XRLIM_BURST_FACTOR in net/ipv4/route.c).
const defaultBurst = 6

// maxBurst keeps burst times interval within an int64 of nanoseconds.
const maxBurst = 1000

// The bounds of a rate keep the time between two packets a sensible number of nanoseconds.
const (
	minPerSecond = 1e-6
	maxPerSecond = 1e9
)

func parsePerSecond(text string) (PerSecond, error) {
	digits, unit, _ := strings.Cut(text, "/")
	seconds := map[string]float64{"": 1, "s": 1, "min": 60, "h": 3600}[unit]
	v, err := strconv.ParseFloat(digits, 64)
	v /= seconds
	if err != nil || seconds == 0 || !(v >= minPerSecond && v <= maxPerSecond) {
		return 0, fmt.Errorf("%q: want packets a second, such as 10/s, 0.5 or 30/min", text)
	}
	return PerSecond(v), nil
}

// String prints what parsePerSecond reads.
func (r PerSecond) String() string { return strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s" }

func (i *ICMP) validate() error {
	switch {
	case i == nil || *i == ICMP{}:
		return nil
	case i.Filtered && *i != ICMP{Filtered: true}:
		return document.Errorf("icmp: want either filtered or a rate")
	case i.Filtered:
		return nil
	case !(i.Rate >= minPerSecond && i.Rate <= maxPerSecond):
		return document.Errorf("icmp: rate: %v: want packets a second, such as 10/s", float64(i.Rate))
	case i.Burst < 0 || i.Burst > maxBurst:
		return document.Errorf("icmp: burst: %d: want 1 to %d", i.Burst, maxBurst)
	}
	return nil
}

// String returns YAML that reads back.
func (i *ICMP) String() string {
	switch {
	case i.Filtered:
		return "filtered"
	case i.Rate == 0:
		return "pass"
	}
	var f flow
	f.add(true, "rate", i.Rate.String())
	f.add(i.Burst != 0, "burst", strconv.Itoa(int(i.Burst)))
	f.add(i.Transit, "transit", "true")
	return f.String()
}

// errorFilter decides about ICMP errors.
type errorFilter struct {
	filtered, transit bool
	limit             bucket
}

func newErrorFilter(c *ICMP) *errorFilter {
	if c == nil || *c == (ICMP{}) {
		return nil
	}
	f := &errorFilter{filtered: c.Filtered, transit: c.Transit}
	if c.Rate > 0 {
		burst := cmp.Or(c.Burst, defaultBurst)
		f.limit.interval = max(1, int64(math.Round(1e9/float64(c.Rate))))
		f.limit.slack = f.limit.interval * int64(burst-1)
	}
	return f
}

// pass decides about an error in transit.
func (f *errorFilter) pass(t int64, counts *Counts) bool {
	switch {
	case f.filtered:
		counts.ICMPFiltered++
		return false
	case f.transit && !f.limit.take(t):
		counts.ICMPLimited++
		return false
	}
	return true
}

// bucket is a token bucket, kept as the time at which the next packet would come if all came evenly (the virtual
// scheduling form of the generic cell rate algorithm, ITU-T I.371 annex A): a packet may come slack before it. The zero
// value lets all pass.
type bucket struct {
	interval, slack int64
	next            int64
}

func (b *bucket) take(t int64) bool {
	if b.interval == 0 {
		return true
	}
	if t < b.next-b.slack {
		return false
	}
	b.next = max(t, b.next) + b.interval
	return true
}
