package beacon

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

func TestValidate(t *testing.T) {
	good := Config{Group: netip.MustParseAddr("239.1.2.3"), Name: "a"}
	for want, change := range map[string]func(*Config){
		"":                            func(*Config) {},
		`group "10.0.0.1"`:            func(c *Config) { c.Group = netip.MustParseAddr("10.0.0.1") },
		`group "invalid IP"`:          func(c *Config) { c.Group = netip.Addr{} },
		`group "ff02::5%eth0"`:        func(c *Config) { c.Group = netip.MustParseAddr("ff02::5%eth0") },
		`name "two words"`:            func(c *Config) { c.Name = "two words" },
		`port "70000"`:                func(c *Config) { c.Port = 70000 },
		`count "10001"`:               func(c *Config) { c.Count = MostProbes + 1 },
		`size "79"`:                   func(c *Config) { c.Size = 79 },
		`TTL "256"`:                   func(c *Config) { c.TTL = 256 },
		`DSCP "64"`:                   func(c *Config) { c.DSCP = 64 },
		`interval "9ms": give 10ms`:   func(c *Config) { c.Interval = 9 * time.Millisecond },
		`settle "2m0s": give 1ms to`:  func(c *Config) { c.Settle = 2 * time.Minute },
		`grace "1s": give 2s to 1m0s`: func(c *Config) { c.Grace = time.Second },
	} {
		c := good
		change(&c)
		err := c.Validate()
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) || !input.Bad(err) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got, want := good.Longest(), 2*time.Second+99*100*time.Millisecond+10*time.Second; got != want {
		t.Errorf("takes %v at the most, want %v", got, want)
	}
}
