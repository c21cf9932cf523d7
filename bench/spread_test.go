package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the peers print, cut from their own output.
func TestReadGauges(t *testing.T) {
	for name, c := range map[string]struct {
		read    func(string) ([]float64, error)
		printed string
		want    []float64
	}{
		"fping": {readFping, "192.0.2.2 : [0], 64 bytes, 0.25 ms (0.25 avg, 0% loss)\n192.0.2.2 : [1], timed out (0.25 avg, 50% loss)\n" +
			"192.0.2.2 : [2], 64 bytes, 0.5 ms (0.375 avg, 33% loss)\n", []float64{0.25e-3, 0.5e-3}},
		"irtt": {readIrtt, `{"round_trips":[{"seqno":0,"lost":"false","delay":{"receive":1,"rtt":50000,"send":2}},{"seqno":1,"lost":"true","delay":{}}]}`,
			[]float64{50e-6}},
	} {
		got, err := c.read(c.printed)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v, -want +got\n%s", name, err, diff)
		}
	}
}
