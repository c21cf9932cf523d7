package iperf3

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
)

// A search finds the maximum IP-layer capacity while one UDP test runs (RFC 9097): each loadrate.FeedbackTime the receiver reports to the sender, over
// the UDP stream itself and against its direction, and the sender adjusts its rate. Both ends have to be Pathwise:
//
//	sender                                   receiver
//	datagrams at a rate  ==================> counts them, in sub-intervals of a second
//	adjusts the rate     <------------------ report, 28 bytes, each 50 ms
//	no report for 1 s: stops                 no datagram for 1 s: no more reports

// ErrNoReports means that a search ended because the receiver's reports did not come any more.
var ErrNoReports = errors.New("the far end's reports stopped: the sender of a search stops after a second without one (RFC 9097)")

// longestSearch bounds the sub-intervals that a receiver keeps; RFC 9097 has 10 s for a test.
const longestSearch = 5 * time.Minute

// shortestSearch has one whole sub-interval at least behind the slow ones of the start.
const shortestSearch = 2 * time.Second

// SearchExtra asks for a search.
type SearchExtra struct {
	// Key is drawn by the client, and in each report: who does not know it, and forges the receiver's address, changes no rate.
	Key int64 `json:"key"`
}

// HelloSearch is a server's answer to a SearchExtra.
type HelloSearch struct {
	Most int64 `json:"most_bits_per_second"` // of IP packets: it sends no faster
}

// SubInterval is what the receiver of a search counted in loadrate.SubInterval. Delays are above the least of the whole test.
type SubInterval struct {
	Bytes        int64   `json:"bytes"` // of IP packets, with their headers
	Packets      int64   `json:"packets"`
	Lost         int64   `json:"lost,omitempty"` // whose loss was seen in it
	Reordered    int64   `json:"reordered,omitempty"`
	Duplicates   int64   `json:"duplicates,omitempty"`
	LeastSeconds float64 `json:"delay_least_seconds"`
	MeanSeconds  float64 `json:"delay_mean_seconds"`
	MostSeconds  float64 `json:"delay_most_seconds"`
}

// checkSearch returns an error, bad input, for a search that cannot be.
func (c *Config) checkSearch() error {
	switch {
	case !c.Search:
		return nil
	case c.Proto != UDP || c.Bidir || c.Parallel > 1:
		return badConfig("search", "rfc9097", "works for one UDP stream in one direction")
	case c.Bytes > 0 || c.Blocks > 0 || c.Omit > 0 || c.Burst > 0 || c.Train != nil:
		return badConfig("search", "rfc9097", "takes a time alone: leave out bytes, blocks, omit and burst")
	case c.Duration != 0 && (c.Duration < shortestSearch || c.Duration > longestSearch):
		return badConfig("duration", c.Duration, fmt.Sprintf("must be %v to %v for a search by RFC 9097", shortestSearch, longestSearch))
	}
	return nil
}

// possible reports whether sub-intervals are such as a receiver may tell.
func possible(all []SubInterval) bool {
	if len(all) > int(longestSearch/loadrate.SubInterval)+1 {
		return false
	}
	for _, s := range all {
		counts := s.Bytes >= 0 && s.Packets >= 0 && s.Lost >= 0 && s.Reordered >= 0 && s.Duplicates >= 0
		if !counts || !(s.LeastSeconds >= 0 && s.LeastSeconds <= s.MeanSeconds && s.MeanSeconds <= s.MostSeconds && s.MostSeconds <= longest) {
			return false
		}
	}
	return true
}

// newSearch asks for a search, with a key of its own.
func newSearch() (*SearchExtra, error) {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("draw a key: %w", err)
	}
	return &SearchExtra{Key: int64(binary.BigEndian.Uint64(b[:]) >> 1)}, nil
}

func (p Params) search() *SearchExtra {
	if p.Pathwise == nil {
		return nil
	}
	return p.Pathwise.Search
}

// badSearch reports whether the parameters ask for a search that cannot be.
func (p Params) badSearch() bool {
	limits := p.Time <= 0 || p.Time > number(longestSearch/time.Second) || p.Num > 0 || p.BlockCount > 0 || p.Omit > 0
	return p.search() != nil && (limits || !bool(p.UDP) || bool(p.Bidir) || p.Parallel > 1 || p.Burst > 0 || p.train() != nil)
}

// searchMost is how fast this end sends at most, in bit/s of IP packets.
func (p Policy) searchMost(params Params) int64 {
	if !params.Reverse {
		return loadrate.Most
	}
	return min(p.MaxRate, loadrate.Most)
}

// PacketHeaders are the bytes of the headers of IP and UDP before each datagram to or from an address.
func PacketHeaders(peer netip.Addr) int {
	const udp, four, six = 8, 20, 40
	if peer.Unmap().Is4() {
		return four + udp
	}
	return six + udp
}

// A report of the receiver, big-endian:
//
//	| "PWcr" | number : 32 | key : 64 | packets : 32 | errors : 32 | delay : 32 |     delay in microseconds
const reportSize = 28

var reportMark = [4]byte{'P', 'W', 'c', 'r'}

// putReport appends the datagram of a report, of which the number counts from 1.
func putReport(b []byte, key int64, number uint32, r loadrate.Report) []byte {
	limit := func(v int64) uint32 { return uint32(min(max(v, 0), 1<<32-1)) }
	b = binary.BigEndian.AppendUint32(append(b, reportMark[:]...), number)
	b = binary.BigEndian.AppendUint64(b, uint64(key))
	b = binary.BigEndian.AppendUint32(b, limit(r.Packets))
	b = binary.BigEndian.AppendUint32(b, limit(r.Errors))
	return binary.BigEndian.AppendUint32(b, limit(r.Delay.Microseconds()))
}

// parseReport reads such a datagram; ok is false of anything else, and of one with another key.
func parseReport(b []byte, key int64) (number uint32, r loadrate.Report, ok bool) {
	if len(b) != reportSize || [4]byte(b) != reportMark || binary.BigEndian.Uint64(b[8:]) != uint64(key) {
		return 0, r, false
	}
	r.Packets, r.Errors = int64(binary.BigEndian.Uint32(b[16:])), int64(binary.BigEndian.Uint32(b[20:]))
	r.Delay = time.Duration(binary.BigEndian.Uint32(b[24:])) * time.Microsecond
	return binary.BigEndian.Uint32(b[4:]), r, true
}

// SubIntervals are what the receiver of a search counted in each second; none: the test was no search, or brought none.
func (r *Report) SubIntervals() []SubInterval {
	for _, s := range r.Streams {
		for _, e := range []*StreamExtra{s.LocalExtra, s.RemoteExtra} {
			if e != nil && !e.Sender && e.SubIntervals != nil {
				return e.SubIntervals
			}
		}
	}
	return nil
}
