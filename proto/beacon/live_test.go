package beacon

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/input"
)

// patience is enough for anything here, on a machine that does much else.
const patience = 30 * time.Second

// onLoopback is a member that begins at once and is soon done. IPv6 has no route to groups over loopback: TestLab has them.
func onLoopback(name string) Config {
	return Config{Group: netip.MustParseAddr("239.255.86.3"), Interface: "lo", Name: name, Count: 20, Interval: 10 * time.Millisecond,
		Settle: 500 * time.Millisecond}
}

// together runs members, of which none begins before all listen, and returns their reports.
func together(t *testing.T, members []Config) []Report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type outcome struct {
		member int
		report Report
		err    error
	}
	joined, begin, ended := make(chan struct{}, len(members)), make(chan struct{}), make(chan outcome, len(members))
	for i, c := range members {
		c.Joined = func() { joined <- struct{}{}; <-begin }
		go func() {
			report, err := c.Run(ctx)
			ended <- outcome{i, report, err}
		}()
	}
	for range members {
		select {
		case <-joined:
		case o := <-ended:
			t.Fatalf("member %d: %v", o.member, o.err)
		}
	}
	close(begin)
	reports := make([]Report, len(members))
	for range members {
		o := <-ended
		if o.err != nil {
			t.Fatalf("member %d: %v", o.member, o.err)
		}
		reports[o.member] = o.report
	}
	return reports
}

// Members on one host know the whole matrix, on which they agree, and leave when all know it. Another group at their port is none of theirs.
func TestLoopback(t *testing.T) {
	t.Parallel()
	other := onLoopback("d")
	other.Group = netip.MustParseAddr("239.255.86.4")
	reports := together(t, []Config{onLoopback("a"), onLoopback("b"), onLoopback("c"), other})
	if r := reports[3]; len(r.Members) != 1 || len(r.Pairs) != 0 || r.Counts.Probes+r.Counts.Foreign+r.Counts.Refused != 0 {
		t.Errorf("alone: %+v", r)
	}
	ways := map[string]Figures{}
	for i, r := range reports[:3] {
		if !r.Complete || len(r.Pairs) != 6 {
			t.Errorf("member %d: complete: %t, %d pairs", i, r.Complete, len(r.Pairs))
		}
		if took := r.Ended.Sub(r.Began); took > 10*time.Second {
			t.Errorf("member %d waited for nobody: %v", i, took)
		}
		for _, p := range r.Pairs {
			way, f := fmt.Sprintf("%s > %s", p.Sender.Name, p.Receiver.Name), p.Figures
			if before, known := ways[way]; known && before != f {
				t.Errorf("%s:\n%+v\n%+v", way, before, f)
			}
			ways[way] = f
			if f.Judged() != 20 || f.Received != 20 || f.Duplicates+f.Reordered+f.Remarked != 0 || f.Hops != 0 || f.Delay.Min < 0 || f.Delay.P95 > patience {
				t.Errorf("%s: %+v", way, f)
			}
		}
	}
}

// A member that is ended tells what it sent by then, so that the other waits for no more of it; both report what they know.
func TestEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	defer cancel(nil)
	stays, leaves := onLoopback("stays"), onLoopback("leaves")
	stays.Group, leaves.Group = netip.MustParseAddr("239.255.86.5"), netip.MustParseAddr("239.255.86.5")
	stays.Count, leaves.Count = 150, MostProbes
	leaves.Progress = func(r Report) {
		if len(r.Pairs) > 0 && r.Pairs[0].Sender.Sent >= 50 {
			cancel(enough)
		}
	}
	left := make(chan Report, 1)
	go func() {
		r, err := leaves.Run(ctx)
		if !errors.Is(err, enough) {
			t.Errorf("ended with %v", err)
		}
		left <- r
	}()
	r, err := stays.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := <-left
	if len(gone.Members) != 2 || len(r.Members) != 2 {
		t.Fatalf("%+v\n%+v", gone, r)
	}
	from := r.Pairs[1] // to the one that stays
	if sent := gone.Members[0].Sent; sent < 50 || from.Sender.Sent != sent || !from.Sender.Done || !from.Final || from.Figures.To != sent || from.Figures.Lost() != 0 {
		t.Errorf("of %d probes: %+v", sent, from)
	}
}

func TestNoInterface(t *testing.T) {
	c := onLoopback("a")
	c.Interface = "none0"
	if _, err := c.Run(t.Context()); err == nil || !input.Bad(err) {
		t.Errorf("%v", err)
	}
}
