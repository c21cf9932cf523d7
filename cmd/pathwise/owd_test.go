package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// owpingResult is a Result whose metrics are of ten packets and whose samples are of four.
func owpingResult() *measure.Result {
	r := measure.NewResult("owd", time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC))
	r.ID = "01J00000000000000000000000"
	r.Source.Address, r.Target.Address = "10.0.0.1", "10.0.0.2"
	r.Parameters["port"] = 862.
	r.Parameters["timeout"], r.Parameters["size"] = 2., 44.
	for seq, ways := range [][2]float64{{0.02, 0.012}, {}, {0.01, 0.025}, {0.0312, 0.0005}} { // 2 arrives there first, and here last
		e := measure.Echo{Seq: seq, SentSeconds: 0.001 * float64(seq)}
		if ways[0] > 0 {
			e.ForwardSeconds, e.ReverseSeconds, e.TTL = &ways[0], &ways[1], 252
		}
		r.Samples.Echoes = append(r.Samples.Echoes, e)
	}
	r.Clock, r.TargetClock = measure.NewClock(100*time.Microsecond, true), new(measure.NewClock(400*time.Microsecond, true))
	for way, median := range map[string]float64{measure.Forward: 0.0205, measure.Reverse: 0.01} {
		r.Metrics[measure.SentOn(way)], r.Metrics[measure.LostOn(way)] = 10, 0
		r.Metrics[measure.OneWay(way, "min")], r.Metrics[measure.OneWay(way, "median")], r.Metrics[measure.OneWay(way, "max")] = 0.01, median, 0.0312
		r.Metrics[measure.OneWaySpread(way)] = 0.001
	}
	r.Metrics[measure.OneWayError], r.Metrics[measure.HopCount] = 0.0005, 4
	return r
}

// What scripts read of owping they find, in the forms that its stats.c and owping.c print; of the first, the phrase that perfSONAR's test runner
// looks for.
func TestOwping(t *testing.T) {
	r := owpingResult()
	for name, want := range map[string]string{"owping": owpingForPeople, "owping-raw": owpingRecords, "owping-machine": owpingValues} {
		write, err := formatOf("owd", name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		write(&b, r)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// By OWAMP each packet went one way: the same ones read the same.
	var ways []measure.Echo
	for _, e := range r.Samples.Echoes {
		there, back := e, e
		there.Way, there.ReverseSeconds, there.TTL, back.Way, back.ForwardSeconds = measure.Forward, nil, 0, measure.Reverse, nil
		if e.ForwardSeconds != nil {
			back.SentSeconds += *e.ForwardSeconds
		}
		ways = append(ways, there, back)
	}
	r.Samples.Echoes = ways
	for name, write := range textFormats["owd"] {
		var b strings.Builder
		write(&b, r)
		want := map[string]string{"owping": owpingForPeople, "owping-raw": owpingRecords, "owping-machine": owpingValues}[name]
		if diff := cmp.Diff(lastSent.ReplaceAllString(want, ""), lastSent.ReplaceAllString(b.String(), "")); diff != "" {
			t.Errorf("%s of ways apart (-want +got):\n%s", name, diff)
		}
	}
	if _, err := formatOf("owd", "twping"); err == nil {
		t.Error("a format that there is not was found")
	}
}

// lastSent is when the last packet of a way left, which is not known to the sender of what was reflected.
var lastSent = regexp.MustCompile(`(?m)^(last:|END_TIME).*$`)

const owpingForPeople = `
--- owping statistics from [10.0.0.1]:0 to [10.0.0.2]:862 ---
SID:	01900000000000000000000000000000
first:	2026-11-24T03:00:00.000
last:	2026-11-24T03:00:00.003
10 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 10/20.5/31.2 ms, (err=0.5 ms)
one-way jitter = 1 ms (P95-P50)
hops = 3 (consistently)
1-reordering = 33.333333%
no 2-reordering

--- owping statistics from [10.0.0.2]:862 to [10.0.0.1]:0 ---
SID:	01900000000000000000000000000000
first:	2026-11-24T03:00:00.000
last:	2026-11-24T03:00:00.003
10 sent, 0 lost (0.000%), 0 duplicates
one-way delay min/median/max = 10/10/31.2 ms, (err=0.5 ms)
one-way jitter = 1 ms (P95-P50)
TTL not reported
1-reordering = 33.333333%
2-reordering = 33.333333%
no 3-reordering
`

const owpingRecords = `2 17199102047560077935 1 0.0001 17199102047603027608 1 0.0004 255
0 17199102047551488000 1 0.0001 17199102047637387346 1 0.0004 255
3 17199102047564372902 1 0.0001 17199102047698375882 1 0.0004 255
1 17199102047555782968 1 0.0001 00000000000000000000 1 0.0004 255
0 17199102047637387346 1 0.0004 17199102047688926954 1 0.0001 252
3 17199102047698375882 1 0.0004 17199102047700523366 1 0.0001 252
2 17199102047603027608 1 0.0004 17199102047710401790 1 0.0001 252
1 17199102047555782968 1 0.0004 00000000000000000000 1 0.0001 255
`

const owpingValues = `SUMMARY	3.00
SID	01900000000000000000000000000000
FROM_HOST	10.0.0.1
FROM_ADDR	10.0.0.1
FROM_PORT	0
TO_HOST	10.0.0.2
TO_ADDR	10.0.0.2
TO_PORT	862
START_TIME	17199102047551488000
END_TIME	17199102047564372902
DSCP	0x00
LOSS_TIMEOUT	8589934592
PACKET_PADDING	30
SESSION_PACKET_COUNT	10
SAMPLE_PACKET_COUNT	10
BUCKET_WIDTH	0.0001
SESSION_FINISHED	1
SENT	10
SYNC	1
MAXERR	0.0005
DUPS	0
LOST	0
MIN	0.01
MEDIAN	0.0205
MAX	0.0312
PDV	0.001
<BUCKETS>
	100	1
	200	1
	312	1
</BUCKETS>
MINTTL	255
MAXTTL	255
<TTLBUCKETS>
	255	3
</TTLBUCKETS>

<NREORDERING>
	1	1
	2	0
</NREORDERING>
SUMMARY	3.00
SID	01900000000000000000000000000000
FROM_HOST	10.0.0.2
FROM_ADDR	10.0.0.2
FROM_PORT	862
TO_HOST	10.0.0.1
TO_ADDR	10.0.0.1
TO_PORT	0
START_TIME	17199102047551488000
END_TIME	17199102047564372902
DSCP	0x00
LOSS_TIMEOUT	8589934592
PACKET_PADDING	30
SESSION_PACKET_COUNT	10
SAMPLE_PACKET_COUNT	10
BUCKET_WIDTH	0.0001
SESSION_FINISHED	1
SENT	10
SYNC	1
MAXERR	0.0005
DUPS	0
LOST	0
MIN	0.01
MEDIAN	0.01
MAX	0.0312
PDV	0.001
<BUCKETS>
	5	1
	120	1
	250	1
</BUCKETS>
MINTTL	252
MAXTTL	252
<TTLBUCKETS>
	252	3
</TTLBUCKETS>

<NREORDERING>
	1	1
	2	1
	3	0
</NREORDERING>
`
