package sock

import (
	"testing"
	"time"
)

// A clock that is set is seen, forward and back; one that nobody sets is not, nor what is less than a step.
func TestStepped(t *testing.T) {
	var off time.Duration
	now := func() time.Time { return time.Now().Add(off) }
	for _, c := range []struct{ set, want time.Duration }{{0, 0}, {time.Second, time.Second}, {-time.Hour, -time.Hour}, {LeastStep / 4, 0}} {
		off = time.Minute
		w := WatchWall(now)
		off += c.set
		if got := w.Stepped(); (got - c.want).Abs() >= LeastStep/2 {
			t.Errorf("set by %v: stepped %v, want %v", c.set, got, c.want)
		}
	}
	if got := WatchWall(nil).Stepped(); got != 0 {
		t.Errorf("this machine's clock stepped %v", got)
	}
}
