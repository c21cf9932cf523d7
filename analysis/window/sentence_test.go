package window

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each shape has its own sentence, which begins with its name; those that a diagnosis can prove name a finding that there is.
func TestSentences(t *testing.T) {
	for r, want := range map[Reading]string{
		{Shape: Normal, BitsPerSecond: 10e6, Knee: 14, Queue: 3}:              "normal: 14 packets in flight fill the path with 10.0 Mbit/s; 3 packets waited at most, and none was lost",
		{Shape: Normal, BitsPerSecond: 10e6, Knee: 14, Queue: 60, Full: true}: "normal: 14 packets in flight fill the path with 10.0 Mbit/s; a queue of about 60 packets overflows beyond",
		{Shape: NoQueue, BitsPerSecond: 10e6, Queue: 2}:                       "no queue: the narrowest link brings about 10.0 Mbit/s and has room for 2 packets: what comes faster is lost instead of waiting",
		{Shape: NoQueue, Queue: 1}:                                            "no queue: the narrowest link has room for 1 packet: what comes faster is lost instead of waiting",
		{Shape: Shaper, BitsPerSecond: 10e6, BurstBits: 98e6, Queue: 3}:       "shaper: bursts pass at 98.0 Mbit/s, and then 10.0 Mbit/s does; 3 packets waited at most, and none was lost",
		{Shape: Policer, BitsPerSecond: 10e6, BurstBits: 98e6}:                "policer: bursts pass at 98.0 Mbit/s, and then what is above a rate of 10.0 Mbit/s is dropped, and nothing waits",
		{Shape: Policer, BurstBits: 98e6}:                                     "policer: bursts pass at 98.0 Mbit/s, and then what is above a rate is dropped, and nothing waits",
		{Shape: Lossy, LossRatio: 0.08}:                                       "constant loss: about 8.00 % is lost however few packets are in flight, so that it is no queue that overflows",
		{Shape: Duplex, BurstBits: 96e6, LossRatio: 0.5}:                      "duplex fault: one way alone passes bursts at 96.0 Mbit/s, and when both ways are busy 50.0 % is lost: one end of a link probably is half duplex",
	} {
		if got := r.Sentence(); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", r, got, want)
		}
	}
	seen := map[string]Shape{}
	for _, shape := range []Shape{Rising, Normal, NoQueue, Shaper, Policer, Lossy, Duplex, SlowEnd, Busy, Local, TooFew, Unknown} {
		r := Reading{Shape: shape}
		if other, twice := seen[r.Sentence()]; twice || !strings.HasPrefix(r.Sentence(), string(shape)+": ") {
			t.Errorf("%s says %q, as %q does", shape, r.Sentence(), other)
		}
		seen[r.Sentence()] = shape
		if finding := r.Finding(); finding != "" {
			if _, err := os.Stat(filepath.Join("../../diagnose/knowledge/findings", finding+".yaml")); err != nil {
				t.Errorf("%s: no finding %s", shape, finding)
			}
		}
	}
}
