package owamp

import (
	"context"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/proto/control"
	"github.com/pathwise-net/pathwise/proto/endpoint"
)

// follower tells of packets that the server receives while their session runs. It fetches them on a connection of its own: on that of the test
// nothing but Stop-Sessions may be sent meanwhile (RFC 4656, section 3.7). One goroutine at a time uses it.
type follower struct {
	packets int // of the session
	tell    func(Record)
	told    []uint16 // by number: how many records of the packet were told
	lost    marks
	next    int      // below it every packet came or was lost
	records []Record // that were told
}

// followEvery is how often records are fetched: what people watch changes twice a second, and it costs the path two packets each time.
const followEvery = 500 * time.Millisecond

// run fetches until ctx ends, or the server refuses it.
func (f *follower) run(ctx context.Context, of *test, id control.SID) {
	client := of.Client
	client.Mode = of.Connection.Mode
	t, err := client.connect(ctx, []netip.AddrPort{endpoint.AddrPort(of.Conn.RemoteAddr())})
	if err != nil {
		return
	}
	defer t.close()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		s, err := t.fetch(fetch{uint32(f.next), lastSequence, id})
		if err != nil {
			return
		}
		f.take(s)
	}
}

// take tells of what is new in a session as it was fetched, whole or from f.next on.
func (f *follower) take(s *Session) {
	came := map[uint32]uint16{}
	for _, r := range s.Records {
		at := int(r.Sequence)
		if at >= f.packets {
			continue // it is none of the session's
		}
		if r.Lost() {
			f.lost.set(at)
			continue
		}
		if more := at + 1 - len(f.told); more > 0 {
			f.told = append(f.told, make([]uint16, more)...)
		}
		if came[r.Sequence]++; came[r.Sequence] > f.told[at] {
			f.told[at]++
			f.records = append(f.records, r)
			f.tell(r)
		}
	}
	for f.next < len(f.told) && f.told[f.next] > 0 || f.lost.has(f.next) {
		f.next++
	}
}
