package generated

import (
	"fmt"
	"time"
)

// Scattered are so many hosts anywhere in a continent: their names are a prefix and a number from 1.
func Scattered(prefix string, n int, seed uint64) []Host {
	dice := History{Seed: seed}
	hosts := make([]Host, n)
	for i := range hosts {
		hosts[i] = Host{Name: fmt.Sprintf("%s%d", prefix, i+1), Address: fmt.Sprintf("10.%d.%d.1", i/250, i%250),
			East: 3000 * dice.dice(i, 7, 0), North: 2000 * dice.dice(i, 8, 0)}
	}
	return hosts
}

// Day is a small History for pages to show: the day that ends at end, of a full mesh of these hosts.
func Day(hosts []Host, end time.Time, seed uint64) History {
	return History{Hosts: hosts, Start: end.Add(-24 * time.Hour), End: end, Seed: seed, Tests: []Test{
		{Tool: Ping, Every: 5 * time.Minute},
		{Tool: Throughput, Every: 2 * time.Hour},
		{Tool: Trace, Every: 30 * time.Minute},
	}}
}
