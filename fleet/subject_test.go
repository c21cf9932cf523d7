package fleet

import (
	"strings"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"ucl", "UCL", "a.b", "a%2Eb", "a%b", "a b", "*", ">", "a_b-c", "é", "\x00", "10.0.0.1", "fe80::1"} {
		got := token(name)
		if strings.ContainsAny(got, ".*> \t\r\n") || got == "" {
			t.Errorf("%q becomes %q, which is no token", name, got)
		}
		if before, twice := seen[got]; twice {
			t.Errorf("%q and %q both become %q", before, name, got)
		}
		seen[got] = name
		if back := hostOf(subjectLive+got+".run", subjectLive); back != name {
			t.Errorf("%q becomes %q becomes %q", name, got, back)
		}
	}
}

func TestBackoff(t *testing.T) {
	for _, c := range []struct {
		n      int
		random float64
		want   time.Duration
	}{
		{1, 0, 500 * time.Millisecond}, {1, 1, time.Second}, {2, 1, 2 * time.Second}, {4, 0, 4 * time.Second},
		{6, 1, 30 * time.Second}, {1000, 0.5, 22500 * time.Millisecond},
	} {
		if got := backoff(c.n, 30*time.Second, func() float64 { return c.random }); got != c.want {
			t.Errorf("attempt %d, draw %v: %v, want %v", c.n, c.random, got, c.want)
		}
	}
}
