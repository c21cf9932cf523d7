package model

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// 1 Gbit/s over 70 ms in packets of 1500 bytes: Measurement and Monitoring (2009) has 5833 packets, 2917 after the loss, and 3.4 minutes.
func TestAfterLoss(t *testing.T) {
	const full, rtt = 5833, 70 * ms
	near(t, "Reno at once", RenoAfterLoss(full, 0, rtt), 2916.5, 1e-9)
	near(t, "Reno after 3.4 minutes", RenoAfterLoss(full, 204*time.Second, rtt), full, 0.001)
	near(t, "CUBIC at once", CubicAfterLoss(full, 0, rtt), 0.7*full, 1e-9)
	near(t, "CUBIC where its curve is flat", CubicAfterLoss(full, Seconds(16.3554), rtt), full, 1e-6)
	if late := CubicAfterLoss(full, 30*time.Second, rtt); late <= full {
		t.Errorf("CUBIC stays at %v packets after 30 s", late)
	}
	near(t, "CUBIC over 1 ms is as Reno", CubicAfterLoss(20, 20*ms, ms), 14+20*0.9/1.7, 1e-9)
}

func TestLossesOpen(t *testing.T) {
	for _, c := range []struct {
		lost, window float64
		selective    bool
		want         []float64
	}{
		{4, 40, false, []float64{4, 3, 2, 1, 0, 0}},
		{4, 40, true, []float64{4, 0, 0, 0, 0, 0}},
		{30, 40, true, []float64{30, 10, 0, 0, 0, 0}},
		{2, 1, true, []float64{2, 1, 0, 0, 0, 0}},
	} {
		var got []float64
		for rounds := range c.want {
			got = append(got, LossesOpen(c.lost, c.window, rounds, c.selective))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c, diff)
		}
	}
}

// The fault nagle-delayed-ack of the lab: 10 ms of round trip and Linux's 40 ms make 60 ms of a request that else takes 10.
func TestHeldRequestTime(t *testing.T) {
	if got := HeldRequestTime(10*ms, 40*ms); got != 60*ms {
		t.Errorf("%v, want 60 ms", got)
	}
}
