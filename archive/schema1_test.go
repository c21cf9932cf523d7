package archive_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/pathwise-net/pathwise/measure"
)

// schema1Results are what is in testdata/schema1.db.zst: every kind of Result, each way, planned, on demand and of a diagnosis,
// some that failed, and some so old that only their rollups are left. The file was written by the build before Results had a
// way and a role, from this same function.
func schema1Results() []*measure.Result {
	m := &schema1Maker{}
	for i := range 60 { // two hours, with a loss of 2 %
		at := now.Add(-2*time.Hour + time.Duration(i)*2*time.Minute)
		m.ping("rtt of all", "rtt", "a", "b", at, float64(i%5/4), 10)
	}
	for _, ago := range []time.Duration{200 * 24 * time.Hour, 3 * time.Hour, 2 * time.Hour, time.Hour} {
		for i, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}} {
			at, k := now.Add(-ago+time.Duration(i)*time.Minute), float64(i+1)
			m.transfer("bulk of all", "bulk", pair, at, 100*k, map[string]any{"reverse": false, "bidir": false})
			m.transfer("pull of all", "pull", pair, at.Add(10*time.Second), 200*k, map[string]any{"reverse": true, "bidir": false})
			m.transfer("duplex of all", "duplex", pair, at.Add(20*time.Second), 300*k, map[string]any{"reverse": false, "bidir": true})
		}
	}
	m.failed("pull of all", "pull", "a", "b", now.Add(-30*time.Minute))
	m.failed("rtt of all", "rtt", "a", "b", now.Add(-29*time.Minute))
	// On demand, by the names of kinds: both ways in one stream, and a paced one.
	at := now.Add(-50 * time.Minute)
	m.transfer("", "throughput", [2]string{"a", "b"}, at, 10, map[string]any{"reverse": false, "bidir": false})
	m.transfer("", "throughput", [2]string{"a", "b"}, at.Add(time.Minute), 20, map[string]any{"reverse": true, "bidir": false})
	m.transfer("", "bulk", [2]string{"a", "b"}, at.Add(2*time.Minute), 30, map[string]any{"reverse": false, "bidir": false, "rate": 1e6})
	m.diagnosis(at.Add(5 * time.Minute))
	m.other("host", "load", "a", "a", at, measure.HostCPU, 0.5)
	m.other("command", "copier", "a", "b", at, measure.Throughput, 5e8)
	m.other("trace", "route", "a", "b", at, measure.HopCount, 5)
	return m.all
}

type schema1Maker struct{ all []*measure.Result }

func (m *schema1Maker) add(kind, test, tool, source, target string, at time.Time) *measure.Result {
	r := measure.NewResult(kind, at)
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(at))
	binary.BigEndian.PutUint64(id[8:], uint64(len(m.all)))
	r.ID, r.Test, r.Tool, r.DurationSeconds = id.String(), test, tool, 1
	r.Source, r.Target = measure.Endpoint{Name: source, Address: "10.0.0.1"}, measure.Endpoint{Name: target, Address: "10.0.0.2"}
	m.all = append(m.all, r)
	return r
}

func (m *schema1Maker) ping(test, tool, source, target string, at time.Time, lost, sent float64) *measure.Result {
	r := m.add("ping", test, tool, source, target, at)
	r.Parameters["count"] = sent
	r.Metrics = map[measure.Metric]float64{measure.RTTMedian: 0.02 + lost/1000, measure.SentPackets: sent, measure.LostPackets: lost,
		measure.ReceivedPackets: sent - lost, measure.LossRatio: lost / sent}
	return r
}

func (m *schema1Maker) transfer(test, tool string, pair [2]string, at time.Time, mbits float64, parameters map[string]any) *measure.Result {
	r := m.add("throughput", test, tool, pair[0], pair[1], at)
	r.Parameters = parameters
	r.Metrics = map[measure.Metric]float64{measure.Throughput: mbits * 1e6, measure.Retransmits: mbits, measure.CPUSender: 0.25}
	if parameters["bidir"] == true {
		r.Metrics[measure.ReverseThroughput], r.Metrics[measure.ReverseReceivedBytes] = mbits*1e6+1, math.Floor(mbits*1e6/8)
	}
	return r
}

func (m *schema1Maker) failed(test, tool, source, target string, at time.Time) {
	kind := "throughput"
	if tool == "rtt" {
		kind = "ping"
	}
	m.add(kind, test, tool, source, target, at).Fail(errors.New("no route to host"))
}

func (m *schema1Maker) other(kind, tool, source, target string, at time.Time, metric measure.Metric, v float64) *measure.Result {
	r := m.add(kind, fmt.Sprintf("%s of all", tool), tool, source, target, at)
	r.Metrics[metric] = v
	return r
}

// diagnosis makes its steps, and then the diagnosis.
func (m *schema1Maker) diagnosis(at time.Time) {
	first := len(m.all)
	m.ping("", "ping", "a", "b", at, 1, 20)
	one := func(kind string, metric measure.Metric, v float64, parameters map[string]any) {
		at = at.Add(10 * time.Second)
		r := m.add(kind, "", kind, "a", "b", at)
		r.Metrics[metric], r.Parameters = v, parameters
	}
	one("trace", measure.HopCount, 6, map[string]any{})
	one("capacity", measure.Capacity, 1e9, map[string]any{"reverse": false})
	one("throughput", measure.Throughput, 9e8, map[string]any{"proto": "tcp", "reverse": false, "bidir": false})
	one("throughput", measure.Throughput, 1e8, map[string]any{"proto": "udp", "reverse": false, "bidir": false})
	one("capacity", measure.Capacity, 2e9, map[string]any{"reverse": true})
	one("throughput", measure.Throughput, 8e8, map[string]any{"proto": "tcp", "reverse": true, "bidir": false})
	one("throughput", measure.Throughput, 2e8, map[string]any{"proto": "udp", "reverse": true, "bidir": false})
	ids := []any{}
	for _, r := range m.all[first:] {
		ids = append(ids, r.ID)
	}
	r := m.add("diagnosis", "", "diagnosis", "a", "b", now.Add(-45*time.Minute-time.Second))
	r.Parameters["verdict"], r.Parameters["results"] = "healthy", ids
	r.Metrics[measure.Achieved] = 9e8
}

// schema1Misses are the misses in it.
func schema1Misses() []measure.Miss {
	miss := func(n uint64, test, tool string) measure.Miss {
		return measure.Miss{Run: childID(7, n), Test: test, Tool: tool, Source: "a", Target: "b", Start: now.Add(-20 * time.Minute), Why: "away"}
	}
	return []measure.Miss{miss(1, "rtt of all", "rtt"), miss(2, "pull of all", "pull"), miss(3, "duplex of all", "duplex")}
}
