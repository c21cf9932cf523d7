package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pathwise-net/pathwise/proto/owamp"
	"github.com/pathwise-net/pathwise/stat"
)

// owampSessionsFlag makes this program many OWAMP clients at once, each of which has a session there and one back. It prints what became of their
// packets as an owampSeen. Both ends share this machine's clock, so that no packet comes before it left.
const owampSessionsFlag = "-owamp-sessions" // ADDRESS:PORT SESSIONS PACKETS/S-OF-EACH SECONDS

// owampSeen is what became of the packets of all sessions. Delays are in seconds.
type owampSeen struct {
	Sent        int     `json:"sent_packets"`
	Lost        int     `json:"lost_packets"`
	Skipped     int     `json:"skipped_packets"` // that their sender was too late for
	Repeated    int     `json:"repeated_records"`
	Misplaced   int     `json:"misplaced_stamps"` // packets that came before they left, by their stamps
	DelayMedian float64 `json:"delay_median_seconds"`
	DelayP99    float64 `json:"delay_p99_seconds"`
}

func runOWAMPSessions(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("%s: want ADDRESS:PORT SESSIONS PACKETS/S SECONDS", owampSessionsFlag)
	}
	to, err := netip.ParseAddrPort(args[0])
	if err != nil {
		return err
	}
	var n [3]int
	for i := range n {
		if n[i], err = strconv.Atoi(args[i+1]); err != nil {
			return err
		}
	}
	seen, err := playOWAMP(to, n[0]/2, n[1], n[2])
	if err != nil {
		return err
	}
	return printJSON(os.Stdout, seen)
}

// owampConnects is between the connections of two clients: more than 64 of one network that are not yet set up a server does not let in.
const owampConnects = 10 * time.Millisecond

// playOWAMP has so many clients each measure both ways for so many seconds, their packets evenly spread over each interval.
func playOWAMP(to netip.AddrPort, clients, rate, seconds int) (owampSeen, error) {
	interval := time.Second / time.Duration(rate)
	terms := owamp.Terms{Packets: rate * seconds, Slots: owamp.Periodic(interval, rate*seconds), Timeout: time.Second}
	reports, errs := make([]*owamp.Report, clients), make([]error, clients)
	var group sync.WaitGroup
	began := time.Now()
	for i := range clients {
		time.Sleep(time.Until(began.Add(time.Duration(i) * (owampConnects + interval/time.Duration(clients)))))
		group.Go(func() {
			reports[i], errs[i] = owamp.Client{Timeout: 10 * time.Second}.Measure(context.Background(), []netip.AddrPort{to}, owamp.Plan{Forward: &terms, Reverse: &terms})
		})
	}
	group.Wait()
	var seen owampSeen
	var delays []float64
	for i, r := range reports {
		if errs[i] != nil {
			return seen, fmt.Errorf("client %d: %w", i, errs[i])
		}
		for _, s := range []*owamp.Session{r.Forward, r.Reverse} {
			delays = append(delays, seen.add(s)...)
		}
	}
	if len(delays) > 0 {
		slices.Sort(delays)
		seen.DelayMedian, seen.DelayP99 = stat.Median(delays), stat.Quantile(delays, 0.99)
	}
	return seen, nil
}

// add counts the packets of a session, and returns their delays.
func (seen *owampSeen) add(s *owamp.Session) (delays []float64) {
	skipped := 0
	for _, k := range s.Skipped {
		skipped += int(k.Last) - int(k.First) + 1
	}
	seen.Sent += int(s.Next) - skipped
	seen.Skipped += skipped
	came := map[uint32]bool{}
	for _, r := range s.Records {
		switch {
		case r.Lost():
			seen.Lost++
			continue
		case came[r.Sequence]:
			seen.Repeated++
			continue
		case r.Delay() < 0:
			seen.Misplaced++
		}
		came[r.Sequence] = true
		delays = append(delays, r.Delay().Seconds())
	}
	return delays
}
