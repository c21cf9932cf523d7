package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// transactIn runs `pathwise transact carol` on bob.
func transactIn(t *testing.T, l *lab.Lab, args ...string) *measure.Result {
	t.Helper()
	out, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := l.Start(t.Context(), "bob", selfCommand(writer, nil, append([]string{"transact", "carol", "--json"}, args...)...))
	writer.Close()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if status, err := p.Wait(); err != nil || status != exitDone {
		t.Fatalf("transact %v: exit status %d, %v", args, status, err)
	}
	var r measure.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return &r
}

// What transactions take is what the lab makes of them: round trips; the 40 ms that a Linux receiver delays acknowledgements, where a
// second piece waits for one; and a timer of 200 ms and more where the lab dropped a packet.
func TestTransactBesideTruth(t *testing.T) {
	t.Parallel()
	carrying(t)
	const trip = 0.04
	carried(t, setting{rate: "50mbit", rtt: 40 * ms, seed: 1}, func(l *lab.Lab) error {
		for _, c := range []struct {
			args             []string
			ideal            float64
			moreThan, within float64 // that the usual one takes beyond the ideal, and the least
		}{
			{nil, trip, 0, .015},
			{[]string{"--new"}, 2 * trip, 0, .015},
			{[]string{"--turns", "5"}, 5 * trip, 0, .03},
			{[]string{"--writes", "2"}, trip, .035, .1},
			{[]string{"--writes", "2", "--nodelay"}, trip, 0, .015},
		} {
			r := transactIn(t, l, append(c.args, "-c", "8", "-i", "10ms")...)
			m := r.Metrics
			ideal, least, usual := m[measure.TransactionIdeal], m[measure.TransactionMin], m[measure.TransactionMedian]
			if ideal < c.ideal || ideal > c.ideal*1.05 || usual-ideal < c.moreThan || least-ideal > c.within || m[measure.TransactionsDone] != 8 {
				return fmt.Errorf("%v: %v", c.args, r.Metrics)
			}
			if gather := r.Metrics[measure.RequestGather]; (gather > .03) != (c.moreThan > 0) {
				return fmt.Errorf("%v: the far end waited %v s for the rest of a request", c.args, gather)
			}
		}
		if err := l.Set("denver", "chicago", "loss=10%"); err != nil {
			return err
		}
		r := transactIn(t, l, "-c", "30", "-i", "10ms")
		truth, err := l.Truth()
		if err != nil {
			return err
		}
		dropped := 0.
		for _, link := range truth.Links {
			dropped += float64(link.Dropped["loss"])
		}
		again := r.Metrics[measure.Retransmits]
		if dropped == 0 || again == 0 || again > 2*dropped || // a probe of the tail may be sent for an acknowledgement that was dropped
			r.Metrics[measure.TransactionMax] < r.Metrics[measure.TransactionMedian]+.19 {
			return fmt.Errorf("the lab dropped %v packets: %v", dropped, r.Metrics)
		}
		return nil
	})
}
