package control

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/probe"
)

const (
	// openBefore and openAfter a run its listener stands, so that hosts whose clocks differ by less still meet.
	openBefore = 5 * time.Second
	openAfter  = 5 * time.Second
	// secretSize is the length of iperf3's cookie, which the secret of ResponderIperf3 is: 36 characters of 32 kinds are 180 bits.
	secretSize = 36
	// alphabet is that of iperf3's own cookies (iperf_util.c, make_cookie), which are base32 in small letters.
	alphabet = "abcdefghijklmnopqrstuvwxyz234567"
)

// newSecret draws the one-time secret of a listener.
func newSecret() string {
	random := make([]byte, secretSize)
	_, _ = rand.Read(random) // never fails: see crypto/rand
	for i, b := range random {
		random[i] = alphabet[b%byte(len(alphabet))]
	}
	return string(random)
}

// newID draws the ID of a run that starts then.
func newID(start time.Time) string {
	return ulid.MustNew(ulid.Timestamp(start), rand.Reader).String()
}

// switchboard gives out the ports of hosts: no two runs that may overlap get the same one.
type switchboard struct {
	busy    map[string][]lease // by host, by from
	longest time.Duration      // of all leases that there were: none that began earlier before a time is still on
}

type lease struct {
	port        int
	from, until time.Time
}

func newSwitchboard() *switchboard { return &switchboard{busy: map[string][]lease{}} }

// take returns the lowest port of first to last that is free on the host from then until then, and keeps it for that time.
func (s *switchboard) take(host string, first, last int, from, until time.Time) (int, error) {
	leases := s.busy[host]
	end, _ := slices.BinarySearchFunc(leases, until, func(l lease, t time.Time) int { return l.from.Compare(t) })
	taken := map[int]bool{}
	for i := end - 1; i >= 0 && leases[i].from.Add(s.longest).After(from); i-- {
		if leases[i].until.After(from) {
			taken[leases[i].port] = true
		}
	}
	for port := first; port <= last; port++ {
		if taken[port] {
			continue
		}
		s.lease(host, lease{port, from, until})
		return port, nil
	}
	return 0, fmt.Errorf("all ports from %d to %d of %s are taken at %s; give it a wider range", first, last, host,
		from.UTC().Format(time.RFC3339))
}

func (s *switchboard) lease(host string, l lease) {
	leases := s.busy[host]
	at, _ := slices.BinarySearchFunc(leases, l.from, func(l lease, t time.Time) int { return l.from.Compare(t) })
	s.busy[host] = slices.Insert(leases, at, l)
	s.longest = max(s.longest, l.until.Sub(l.from))
}

// keep notes the port that a run has.
func (s *switchboard) keep(r *measure.Run) {
	if r.Responder != nil && r.Responder.Port != 0 {
		s.lease(r.Target, lease{r.Responder.Port, r.Start.Add(-openBefore), closes(r)})
	}
}

// release gives back the port of a run that will not take place.
func (s *switchboard) release(r *measure.Run) {
	if r.Responder == nil || r.Responder.Port == 0 {
		return
	}
	leases, from := s.busy[r.Target], r.Start.Add(-openBefore)
	at, _ := slices.BinarySearchFunc(leases, from, func(l lease, t time.Time) int { return l.from.Compare(t) })
	for ; at < len(leases) && leases[at].from.Equal(from); at++ {
		if leases[at].port == r.Responder.Port {
			s.busy[r.Target] = slices.Delete(leases, at, at+1)
			return
		}
	}
}

// free forgets leases that ended before now.
func (s *switchboard) free(now time.Time) {
	for host, leases := range s.busy {
		s.busy[host] = slices.DeleteFunc(leases, func(l lease) bool { return l.until.Before(now) })
	}
}

// opening is what the target of a run opens for it. peer is the address that the source comes from, "" if not known.
func opening(r *measure.Run, peer string) fleet.Opening {
	return fleet.Opening{
		Run: r.ID, Source: r.Source, From: r.Start.Add(-openBefore), Until: closes(r), Peer: peer, Responder: *r.Responder,
	}
}

// closes is when what the target opened for a run is closed, used or not.
func closes(r *measure.Run) time.Time { return r.Limit().Add(openAfter) }

// deal sorts runs into a plan for each host: what it does as source, and what it opens as target.
func deal(runs []measure.Run, number uint64, issued, from, until time.Time, peer func(r *measure.Run) string) map[string]*fleet.Plan {
	plans := map[string]*fleet.Plan{}
	plan := func(host string) *fleet.Plan {
		if plans[host] == nil {
			plans[host] = &fleet.Plan{Host: host, Number: number, Issued: issued, From: from, Until: until}
		}
		return plans[host]
	}
	for i := range runs {
		r := &runs[i]
		source := plan(r.Source)
		source.Runs = append(source.Runs, *r)
		if r.Responder != nil {
			target := plan(r.Target)
			target.Opens = append(target.Opens, opening(r, peer(r)))
		}
	}
	return plans
}

// settable is why a caller may not set what a Request sets; nil: they may.
func settable(kind string, parameters map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if (probe.Catalogue{}).Outward(kind, name) {
			return &Denial{Limit: name, Value: fmt.Sprint(parameters[name]), Want: "it left out: for others' tests only the mesh file says that"}
		}
	}
	return nil
}
