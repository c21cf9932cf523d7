package record

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab/packet"
)

func TestFollow(t *testing.T) {
	var pool packet.Pool
	b := New(Config{})
	both, ends, links := NewFeed(10, true, true), NewFeed(10, true, false), NewFeed(10, false, true)
	for _, f := range []*Feed{both, ends, links} {
		b.Follow(f)
	}
	p := udp(&pool, 0, 1500)
	b.Begin(p, 5)
	p.Came = 7
	b.Passed(3, p, 9, 0, Delivered, packet.Kept)
	b.Passed(2, p, 8, 0, Dropped, packet.Loss)
	b.Dropped(p, 8, packet.Loss, 2)
	b.Delivered(p, 20, 21)
	one := Event{Number: 1, Bytes: 1500, Segments: 1}
	want := []Event{one, one, one, one}
	want[0].Came, want[0].Due, want[0].Direction = 7, 9, 3
	want[1].Came, want[1].Due, want[1].Direction, want[1].Fate, want[1].Cause = 7, 8, 2, Dropped, packet.Loss
	want[2].Came, want[2].Due, want[2].Direction, want[2].Fate, want[2].Cause = 5, 8, EndToEnd, Dropped, packet.Loss
	want[3].Came, want[3].Due, want[3].Left, want[3].Direction = 5, 20, 21, EndToEnd
	for name, c := range map[string]struct {
		feed *Feed
		want []Event
	}{"both": {both, want}, "ends": {ends, want[2:]}, "links": {links, want[:2]}} {
		got := make([]Event, 10)
		select {
		case <-c.feed.Ready():
		default:
			t.Errorf("%s: not ready", name)
		}
		got = got[:c.feed.Drain(got)]
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		b.Unfollow(c.feed)
	}
	if b.feeds != nil {
		t.Error("somebody follows still")
	}
	line := want[1].Line(b.Keys())
	line.Link, line.Direction = []string{"a", "r1"}, "forward"
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	const wantLine = `{"packet":1,"flow":"udp 10.0.0.1:1000 \u003e 10.0.2.2:7","link":["a","r1"],"direction":"forward",` +
		`"came_ns":7,"due_ns":8,"fate":"dropped","cause":"loss","bytes":1500}`
	if string(text) != wantLine {
		t.Errorf("line %s, want %s", text, wantLine)
	}
}

// A full feed misses events and says how many; those that it took come in order, also to a reader in another goroutine.
func TestFeedNeverWaits(t *testing.T) {
	f := NewFeed(100, true, true) // 128
	for i := range 200 {
		f.push(&Event{Number: uint64(i)})
	}
	got := make([]Event, 300)
	if n := f.Drain(got); n != 128 || f.Missed() != 72 || got[127].Number != 127 {
		t.Errorf("%d events, %d missed, the last is %d", n, f.Missed(), got[127].Number)
	}
	const events = 100_000
	done := make(chan uint64)
	go func() {
		var seen, last uint64
		some := make([]Event, 50)
		for last < events {
			<-f.Ready()
			for n := f.Drain(some); n > 0; n = f.Drain(some) {
				for _, e := range some[:n] {
					if e.Number <= last {
						t.Errorf("event %d after %d", e.Number, last)
					}
					last = e.Number
					seen++
				}
			}
		}
		done <- seen
	}()
	pushed := uint64(0)
	for pushed < events-1 {
		pushed++
		f.push(&Event{Number: pushed})
	}
	for missed := f.Missed(); ; missed = f.Missed() { // the last one must get through
		if f.push(&Event{Number: events}); f.Missed() == missed {
			break
		}
	}
	if seen, missed := <-done, f.Missed()-72; seen > events || seen+missed < events {
		t.Errorf("%d seen and %d missed of %d", seen, missed, events)
	}
}
