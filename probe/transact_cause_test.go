package probe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each case of network-application-performance's test at 72 ms has its cause named.
func TestTransactionCause(t *testing.T) {
	plain := told{Writes: 1, Turns: 1, Request: 100, Response: 100, Usual: .0722, Ideal: .072, Latest: .073, Opening: .072}
	const (
		alone = "cause: round trips alone; a nearer far end or fewer turns make it shorter"
		hosts = "cause: the hosts, whose kernels and programs take longer than the path; a nearer far end changes little"
	)
	for name, c := range map[string]struct {
		change func(*told)
		want   []string
	}{
		"nothing came to its end": {func(t *told) { t.Usual = 0 }, nil},
		"one write":               {func(*told) {}, []string{alone}},
		"two writes": {func(t *told) { t.Writes, t.Usual, t.Latest, t.Gather = 2, .184, .185, .112 }, []string{
			"cause: Nagle's algorithm held the second write for an acknowledgement: a round trip of 72.0 ms, delayed by 40.0 ms; one write or --nodelay saves that"}},
		"two writes, a far end that delays by 200 ms": {func(t *told) { t.Writes, t.Usual, t.Latest, t.Gather = 2, .344, .345, .272 }, []string{
			"cause: Nagle's algorithm held the second write for an acknowledgement: a round trip of 72.0 ms, delayed by 200 ms; one write or --nodelay saves that"}},
		"two writes, acknowledged at once": {func(t *told) { t.Writes, t.Usual, t.Latest, t.Gather = 2, .144, .145, .072 }, []string{
			"cause: Nagle's algorithm held the second write for an acknowledgement: a round trip of 72.0 ms, not delayed; one write or --nodelay saves that"}},
		"two writes without Nagle's algorithm": {func(t *told) { t.Writes, t.NoDelay = 2, true }, []string{alone + "; the writes left at once, without Nagle's algorithm"}},
		"padded":                               {func(t *told) { t.Writes, t.Pad = 2, true }, []string{alone + "; each write fills whole segments, which Nagle's algorithm lets go"}},
		"a hundred turns": {func(t *told) {
			t.Turns, t.Request, t.Response, t.Usual, t.Ideal, t.Latest = 100, 4096, 1, 7.21, 7.2, 7.3
		}, []string{alone,
			"cost of turns: 100 at a round trip of 72.0 ms are 7.20 s; all in one turn takes about 360 ms, 5 round trips with slow start"}},
		"a lost packet": {func(t *told) { t.Resent, t.Latest = 1, .2922 }, []string{alone,
			"the longest waited 220 ms more: a packet was lost, which a timer of 200 ms and more had to find"}},
		"slow start": {func(t *told) { t.Request, t.Usual, t.Latest = 100_000, .288, .29 }, []string{
			"cause: 100 kB are more than TCP sends at first, and each round of slow start is a round trip"}},
		"late for another reason": {func(t *told) { t.Usual, t.Latest = .2, .21 }, []string{
			"cause: not the way requests are written: queues or busy hosts, which `pathwise diagnose` tells apart"}},
		"over loopback":                      {func(t *told) { t.Usual, t.Ideal, t.Latest = 202e-6, 10e-6, 300e-6 }, []string{hosts}},
		"hosts that take less than the path": {func(t *told) { t.Usual, t.Ideal, t.Latest = 390e-6, 200e-6, 400e-6 }, []string{alone}},
		"connections over loopback": {func(t *told) { t.Connect, t.Usual, t.Ideal, t.Latest = true, 80e-6, 20e-6, 90e-6 }, []string{
			hosts + "; one after the other: 12500 a second"}},
		"connections": {func(t *told) { t.Connect = true }, []string{alone + "; one after the other: 13.9 a second"}},
		"new":         {func(t *told) { t.New, t.Usual, t.Ideal, t.Latest = true, .145, .144, .145 }, []string{alone + "; one after the other: 6.9 connections a second"}},
	} {
		these := plain
		c.change(&these)
		if diff := cmp.Diff(c.want, these.explain()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
