package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// ndt7In runs `pathwise ndt7 carol` on bob.
func ndt7In(t *testing.T, l *lab.Lab, args ...string) (*measure.Result, error) {
	t.Helper()
	out, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p, err := l.Start(t.Context(), "bob", selfCommand(writer, nil, append([]string{"ndt7", "carol", "--json"}, args...)...))
	writer.Close()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(out)
	if err != nil {
		return nil, err
	}
	if status, err := p.Wait(); err != nil || status != exitDone {
		return nil, fmt.Errorf("ndt7 %v: exit status %d, %v: %s", args, status, err, text)
	}
	var r measure.Result
	return &r, json.Unmarshal(text, &r)
}

// Both figures of ndt7 are within 5 % of what TCP can have of the lab's link, and the least round trip is the path's.
func TestNDT7BesideTruth(t *testing.T) {
	t.Parallel()
	carrying(t)
	const payload = 20e6 * 1448 / 1500 // of packets that fill the path's MTU
	carried(t, setting{rate: "20mbit", rtt: 20 * ms, seed: 1}, func(l *lab.Lab) error {
		r, err := ndt7In(t, l, "--cc", "bbr", "-t", "4")
		if err != nil {
			return err
		}
		to, from, trip := r.Metrics[measure.Throughput], r.Metrics[measure.ReverseThroughput], r.Metrics[measure.RTTMin]
		t.Logf("to %.2f Mbit/s, from %.2f Mbit/s of %.2f, least round trip %.2f ms", to/1e6, from/1e6, payload/1e6, trip*1e3)
		if math.Abs(to/payload-1) > 0.05 || math.Abs(from/payload-1) > 0.05 || trip < 0.0199 || trip > 0.023 {
			return fmt.Errorf("%v", r.Metrics)
		}
		return nil
	})
}
