package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/lab/chance"
	"github.com/pathwise-net/pathwise/stat"
)

// The loss that is asked for: of each packet, one way.
const (
	lossRatio      = 0.01
	lossPackets    = 100_000
	lossConfidence = 0.99
)

// tally is one run over a lossy link: which echoes were not answered, and what the lab says.
type tally struct {
	sent    int
	lost    map[int]bool // by number, from 1
	counted uint64       // what Lab.Truth says was dropped
	strange uint64       // packets that met another fate than loss on the way there: none, or the run is worth nothing
}

// loss sends 100,000 echoes over a link that loses 1 % of what goes one way, three times: with a seed, with the same
// seed again, and with another.
func (b *bench) loss(ctx context.Context) error {
	lo, hi := stat.BinomialInterval(lossPackets, lossRatio, lossConfidence)
	fmt.Fprintf(b.out, "loss: %g %% one way, %d packets by Debian's ping; %g %% of fair runs lose %d to %d\n",
		100*lossRatio, lossPackets, 100*lossConfidence, lo, hi)
	var first tally
	for i, seed := range []uint64{1, 1, 2} {
		t, err := countLoss(ctx, seed, lossPackets)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		fmt.Fprintf(b.out, "seed %d: %d of %d lost, by ping; %d, by the lab's truth", seed, len(t.lost), t.sent, t.counted)
		if t.strange > 0 {
			fmt.Fprintf(b.out, "; %d more not delivered for other reasons", t.strange)
		}
		if i == 0 {
			first = t
		} else {
			fmt.Fprintf(b.out, "; %d of them the same as in the first run", common(first.lost, t.lost))
		}
		fmt.Fprintln(b.out)
	}
	fmt.Fprintln(b.out, "(In virtual time, where arrival times repeat too, TestNetworkRepeats in package lab holds every fate equal.)")
	return nil
}

// countLoss sends echoes over a fresh lab of one link. Which packets are dropped depends on the seed and on their
// order alone, not on when they come, so real runs can be compared.
func countLoss(ctx context.Context, seed uint64, packets int) (tally, error) {
	spec := &lab.Spec{Seed: seed, Hosts: map[string]lab.Host{"a": {}, "b": {}},
		Links: []lab.Link{{Between: []string{"a", "b"}, Forward: &lab.Shape{Loss: chance.Independent(lossRatio)}}}}
	l, err := lab.Start(ctx, spec, lab.Options{})
	if err != nil {
		return tally{}, err
	}
	defer l.Close()
	// As fast as replies come, four under way, so that a lost one does not hold up the rest; 1 s for the last.
	printed, err := output(ctx, l, "a", "ping", "-n", "-i", "0", "-l", "4", "-W", "1", "-c", strconv.Itoa(packets), "b")
	if err != nil {
		return tally{}, err
	}
	t, err := readLoss(printed, packets)
	if err != nil {
		return tally{}, err
	}
	truth, err := l.Truth()
	if err != nil {
		return tally{}, err
	}
	there, back := truth.Links[0], truth.Links[1]
	t.counted = there.Dropped["loss"]
	t.strange = there.Packets - there.Delivered - t.counted + back.Packets - back.Delivered + truth.EmulatorRefused
	if there.Packets != uint64(t.sent) {
		return tally{}, fmt.Errorf("ping sent %d packets, %d came to the link", t.sent, there.Packets)
	}
	return t, nil
}

var (
	pingReply = regexp.MustCompile(`(?m)^\d+ bytes from .* icmp_seq=(\d+) `)
	pingTotal = regexp.MustCompile(`(?m)^(\d+) packets transmitted, (\d+) received`)
)

// readLoss reads which of the echoes that were sent got no reply, from the lines of Debian's ping.
func readLoss(printed string, sent int) (tally, error) {
	total := pingTotal.FindStringSubmatch(printed)
	if total == nil || total[1] != strconv.Itoa(sent) {
		return tally{}, fmt.Errorf("read what ping printed: no total of %d packets", sent)
	}
	t := tally{sent: sent, lost: make(map[int]bool)}
	for n := 1; n <= sent; n++ {
		t.lost[n] = true
	}
	number := 0
	for _, m := range pingReply.FindAllStringSubmatch(printed, -1) {
		seq, err := strconv.ParseUint(m[1], 10, 16)
		if err != nil {
			return tally{}, fmt.Errorf("read what ping printed: %w", err)
		}
		number = unwrap(number, uint16(seq))
		delete(t.lost, number)
	}
	if want := total[2]; strconv.Itoa(sent-len(t.lost)) != want {
		return tally{}, fmt.Errorf("read what ping printed: %d replies shown, %s in its total", sent-len(t.lost), want)
	}
	return t, nil
}

// unwrap returns the number nearest to last whose lower 16 bits, all that an echo carries, are seq.
func unwrap(last int, seq uint16) int { return last + int(int16(seq-uint16(last))) }

// common counts what both sets hold.
func common(a, b map[int]bool) int {
	n := 0
	for k := range b {
		if a[k] {
			n++
		}
	}
	return n
}
