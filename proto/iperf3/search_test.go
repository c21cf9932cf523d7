package iperf3

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
)

func TestReport(t *testing.T) {
	want := loadrate.Report{Packets: 417, Errors: 12, Delay: 31 * time.Millisecond}
	b := putReport(nil, 1<<40+7, 3, want)
	if number, got, ok := parseReport(b, 1<<40+7); number != 3 || got != want || !ok || len(b) != reportSize {
		t.Errorf("report %d of %d bytes: %+v, want %+v", number, len(b), got, want)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "a byte too many": append(b[:len(b):len(b)], 0), "another mark": append([]byte("PWcs"), b[4:]...),
		"an answer of the handshake": udpAnswer[:]} {
		if _, _, ok := parseReport(bad, 1<<40+7); ok {
			t.Errorf("%s is taken for a report", name)
		}
	}
	if _, _, ok := parseReport(b, 1<<40+8); ok {
		t.Error("a report with another key is taken")
	}
}

func FuzzReport(f *testing.F) {
	f.Add(putReport(nil, 1, 2, loadrate.Report{Packets: 3, Errors: 4, Delay: time.Second}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if number, r, ok := parseReport(b, 1); ok && !cmp.Equal(putReport(nil, 1, number, r), b) {
			t.Errorf("%x is read as %d %+v", b, number, r)
		}
	})
}

// What a receiver reports and keeps of datagrams that came: of 100 bytes with headers of 28.
func TestMeter(t *testing.T) {
	m := meter{headers: 28}
	var track Tracker
	came := func(at time.Duration, transit time.Duration, numbers ...uint64) {
		for _, n := range numbers {
			track.Add(n, 0, 0)
		}
		m.take(at, 100*len(numbers), len(numbers), transit, &track)
	}
	came(-time.Millisecond, 5*time.Second, 1)
	came(100*time.Millisecond, 5*time.Second+4*time.Millisecond, 2, 4)
	first := m.report()
	came(900*time.Millisecond, 5*time.Second+time.Millisecond, 3, 4, 5)
	second := m.report()
	came(1995*time.Millisecond, 5*time.Second-time.Millisecond, 8)
	third, none := m.report(), m.report()
	want := []loadrate.Report{{Packets: 3, Errors: 1, Delay: 2666666}, {Packets: 3, Errors: 1, Delay: time.Millisecond}, {Packets: 1, Errors: 2}, {}}
	if diff := cmp.Diff(want, []loadrate.Report{first, second, third, none}); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
	parts := []SubInterval{
		{Bytes: 6 * 128, Packets: 6, Reordered: 1, Duplicates: 1, LeastSeconds: 0.001, MeanSeconds: 0.002833333, MostSeconds: 0.005},
		{Bytes: 128, Packets: 1, Lost: 2},
	}
	if diff := cmp.Diff(parts, m.subIntervals()); diff != "" || !possible(parts) {
		t.Errorf("sub-intervals (-want +got):\n%s", diff)
	}
	m.last = 1985 * time.Millisecond
	if got := m.subIntervals(); len(got) != 1 {
		t.Errorf("%d sub-intervals, though the second was not over", len(got))
	}
}

// A search over loopback goes up from its first rate on, and does not go beyond the policy of a server that sends; its datagrams are those
// that both ends counted.
func TestSearch(t *testing.T) {
	const most = 30_000_000
	addr := serve(t, Policy{MaxRate: most, MaxTests: 2})
	for name, reverse := range map[string]bool{"forward": false, "reverse": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, addr, Config{Proto: UDP, Search: true, Duration: shortestSearch, Reverse: reverse, Length: 1000})
			got, direction := r.SubIntervals(), Forward
			if reverse {
				direction = Reverse
			}
			total := r.Total(direction)
			if len(got) < 1 || len(got) > 2 || r.Config.Rate != loadrate.Least || r.Peer.Search == nil {
				t.Fatalf("sub-intervals %+v, begun at %d, peer %+v", got, r.Config.Rate, r.Peer)
			}
			last := got[len(got)-1]
			if rate := last.Bytes * 8; rate < 5_000_000 || reverse && rate > most*101/100 || last.Bytes != last.Packets*1028 {
				t.Errorf("%d bit/s in the last sub-interval: %+v", rate, last)
			}
			if want := map[bool]int64{true: most, false: loadrate.Most}[reverse]; r.Peer.Search.Most != want {
				t.Errorf("the peer says it sends %d at most, want %d", r.Peer.Search.Most, want)
			}
			if total.Packets < last.Packets || total.ReceivedBytes > total.SentBytes {
				t.Errorf("totals %+v", total)
			}
		})
	}
}

// What cannot be searched is refused before anything is sent, and by a server as well.
func TestSearchRefused(t *testing.T) {
	for _, c := range []Config{{Search: true}, {Proto: UDP, Search: true, Parallel: 2}, {Proto: UDP, Search: true, Bidir: true}, {Proto: UDP, Search: true, Bytes: 1},
		{Proto: UDP, Search: true, Omit: time.Second}, {Proto: UDP, Search: true, Duration: time.Second}, {Proto: UDP, Search: true, Duration: time.Hour}} {
		if err := c.Validate(); err == nil {
			t.Errorf("%+v passes", c)
		}
	}
	c := Config{Proto: UDP, Search: true, Length: 1000}.withDefaults()
	for name, change := range map[string]func(*Params){"": func(*Params) {}, "no time": func(p *Params) { p.Time = 0 }, "an hour": func(p *Params) { p.Time = 3600 },
		"bytes": func(p *Params) { p.Num = 1 }, "streams": func(p *Params) { p.Parallel = 2 }, "tcp": func(p *Params) { p.UDP, p.TCP = false, true }} {
		p := c.params()
		p.Pathwise.Search = &SearchExtra{Key: 1}
		change(&p)
		if got := p.check(); (got != 0) != (name != "") {
			t.Errorf("%q: code %d", name, got)
		}
	}
	if err := (&Config{Search: true}).validateStock(); err == nil {
		t.Error("a search against a stock server passes")
	}
}

// A sender whose receiver reports nothing stops by itself, so that nobody who vanishes leaves a stream behind.
func TestSearchStopsWithoutReports(t *testing.T) {
	t.Parallel()
	deaf, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	conn, err := net.Dial("udp", deaf.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s, err := newStream(0, conn, true, true, true)
	if err != nil {
		t.Fatal(err)
	}
	p := Config{Proto: UDP, Search: true, Length: 1000}.withDefaults().params()
	p.Pathwise.Search = &SearchExtra{Key: 1}
	x := newTransfer(p)
	x.streams = []*stream{s}
	x.start = time.Now()
	if err := x.sendUDP(s); !errors.Is(err, ErrNoReports) {
		t.Errorf("error %v", err)
	}
	if rate := float64(s.count.Load()) * 8 / time.Since(x.start).Seconds(); rate > 1.1*loadrate.Least {
		t.Errorf("it sent %.3g bit/s without a report", rate)
	}
}
