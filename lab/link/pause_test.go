package link

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Pauses hold what comes until they are over, let the frame on the wire get through, and lose nothing.
func TestPause(t *testing.T) {
	const frame = 1230400 // nanoseconds of 1538 bytes at 10 Mbit/s
	r := newRig(t, 1, "{rate: 10mbit, pause: {every: 80ms, for: 30ms}}")
	r.send(0, 1500)
	r.send(49*millisecond+900*microsecond, 1500) // goes on while the link pauses, from 50 ms on
	r.send(49*millisecond+950*microsecond, 1500) // waits for the wire, and then for the end of the pause
	r.send(60*millisecond, 1500)
	r.send(100*millisecond, 1500)
	r.send(130*millisecond, 1500) // a pause begins
	want := []fate{
		{1, 0, frame, packet.Kept},
		{2, 49*millisecond + 900*microsecond, 49*millisecond + 900*microsecond + frame, packet.Kept},
		{3, 49*millisecond + 950*microsecond, 80*millisecond + frame, packet.Kept},
		{4, 60 * millisecond, 80*millisecond + 2*frame, packet.Kept},
		{5, 100 * millisecond, 100*millisecond + frame, packet.Kept},
		{6, 130 * millisecond, 160*millisecond + frame, packet.Kept},
	}
	if diff := cmp.Diff(want, r.finish(), cmp.AllowUnexported(fate{})); diff != "" {
		t.Error(diff)
	}
	opposite := newRig(t, 1, "{rate: 10mbit}").d
	for _, c := range []struct {
		d, opposite *Direction
		want        Adapter
	}{{r.d, opposite, Adapter{PausesReceived: 2}}, {opposite, r.d, Adapter{PausesSent: 2}}} {
		if got, counted := c.d.Adapter(140*millisecond, c.opposite); got != c.want || !counted {
			t.Errorf("the adapter counts %+v, %v; want %+v", got, counted, c.want)
		}
	}
	if _, counted := opposite.Adapter(140*millisecond, opposite); counted {
		t.Error("an adapter without pauses counts")
	}
}

// The link carries the share of its rate in which it does not pause, and its adapter counts as many frames as the pauses take.
func TestPauseShare(t *testing.T) {
	for _, c := range []struct {
		shape  string
		share  float64
		frames uint64 // in 10 s
	}{
		{"{rate: 10mbit, queue: 100MB, pause: {every: 80ms, for: 30ms}}", 0.625, 125},
		{"{rate: 10mbit, queue: 100MB, pause: {every: 1s, for: 500ms}}", 0.5, 10},
		{"{rate: 100mbit, queue: 200MB, pause: {every: 1s, for: 500ms}}", 0.5, 20}, // 336 ms are the longest pause of one frame
		{"{rate: 10mbit, queue: 100MB, pause: none}", 1, 0},
	} {
		r := newRig(t, 1, c.shape)
		rate := float64(*r.d.own.shape.Rate)
		packets := int(10 * rate / (8 * 1538))
		for range packets {
			r.send(0, 1500)
		}
		r.d.Step(10*second - 1)
		got := float64(r.d.Counts().Delivered) / float64(packets)
		if got < 0.97*c.share || got > 1.01*c.share {
			t.Errorf("%s: %.3f of the rate are carried, want %.3f", c.shape, got, c.share)
		}
		a, _ := r.d.Adapter(10*second-1, r.d)
		if n := a.PausesReceived; n+c.frames/100 < c.frames || n > c.frames {
			t.Errorf("%s: %d frames, want %d", c.shape, n, c.frames)
		}
	}
}

// The frames are counted as they come, with packets or without.
func TestPausesOfAnIdleLink(t *testing.T) {
	r := newRig(t, 1, "{rate: 10mbit, pause: {every: 80ms, for: 30ms}}")
	if a, _ := r.d.Adapter(60*second, newRig(t, 1, "{rate: 10mbit}").d); a != (Adapter{PausesReceived: 750}) {
		t.Errorf("counted %+v", a)
	}
}

// Pauses that are taken away let go what waits, and what was counted stays.
func TestPauseEnds(t *testing.T) {
	r := newRig(t, 1, "{rate: 10mbit, pause: {every: 2s, for: 1s}}")
	r.send(1500*millisecond, 1500)
	r.d.Set(1600*millisecond, shapeOf(t, "{rate: 10mbit, pause: none}"))
	r.send(3500*millisecond, 1500)
	fates := r.finish()
	if len(fates) != 2 || fates[0].t != 1600*millisecond+1230400 || fates[1].t > 3502*millisecond {
		t.Errorf("fates %+v", fates)
	}
	if a := r.d.Counts().Adapter; a != (Adapter{PausesReceived: 1}) {
		t.Errorf("counted %+v", a)
	}
}
