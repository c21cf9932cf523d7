package probe

import (
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/proto/retrace"
)

// A route back is traced as slowly as a rate wants, as far as it may be; a search by large packets goes as it does.
func TestPaceTraceBack(t *testing.T) {
	to := netip.MustParseAddr("192.0.2.7")
	ask := retrace.Ask{Protocol: retrace.UDP, MaxTTL: 30, Queries: 3, Timeout: time.Second, Interval: time.Millisecond}
	sized := ask
	sized.Size = 1300
	for _, c := range []struct {
		name   string
		ask    retrace.Ask
		rate   float64
		within bool
	}{
		{"no rate", ask, 0, false}, {"high rate", ask, 10e6, true}, {"a tenth of a megabit", ask, 1e5, true}, {"the least", ask, 20e3, true},
		{"too low", ask, 1e3, false}, {"by large packets", sized, 1e6, true}, {"by large packets, too low", sized, 1e5, false},
	} {
		paced := PaceTraceBack(to, c.ask, c.rate)
		if got := TraceBackDemand(to, paced).BitsPerSecond <= c.rate; got != c.within {
			t.Errorf("%s: within the rate: %v; one packet each %v", c.name, got, paced.Interval)
		}
		if paced.Interval > retrace.MostInterval || (c.rate == 0 || c.rate == 10e6 || c.ask.Size > 0) && paced != c.ask {
			t.Errorf("%s: %+v", c.name, paced)
		}
	}
}
