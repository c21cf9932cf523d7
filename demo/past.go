package demo

import (
	"context"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/archive/generated"
	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/stat"
)

// fitter is how a generated history is made to fit a lab: its hosts stand side by side, and each pair's distance, hops and
// rate are then the lab's.
type fitter struct {
	to    generated.Filer
	ways  map[[2]string]route
	until time.Time
}

// route is what the lab's links make of the way from a host to another, there and back.
type route struct {
	rtt  float64 // s
	rate float64 // bit/s of the narrowest link
	hops int
}

// fellIll is how long before the end of the past what ails a host began.
const fellIll = 2 * time.Hour

const (
	// windowBytes is what the narrow host takes in a round trip: its smallWindow of memory holds so much data.
	windowBytes = 19_100
	// lossRatio is what the lossy host's access link loses, each way.
	lossRatio = 0.02
	// segmentBytes of data are in a packet of 1,500 bytes with time stamps.
	segmentBytes = 1448
)

// liveTools are the names under which the mesh goes on with what each tool measured, so that past and present are one series.
var liveTools = map[string]string{"ping": "rtt", "throughput": "bulk", "trace": "path"}

// fillPast makes up the day before now.
func fillPast(ctx context.Context, file string, plan *lab.Plan, now time.Time) (err error) {
	a, err := archive.Open(ctx, file, archive.Options{})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := a.Close(); err == nil {
			err = closeErr
		}
	}()
	var hosts []generated.Host
	for _, h := range members {
		node, _ := plan.NodeByName(h.name)
		hosts = append(hosts, generated.Host{Name: h.name, Address: plan.Address(node).String()})
	}
	past := generated.Day(hosts, now, 2002)
	past.Steady = true // what is wrong in the past is what ails the sick hosts still
	past.Tests = []generated.Test{
		{Tool: generated.Ping, Every: 5 * time.Minute},
		{Tool: generated.Throughput, Every: 20 * time.Minute}, // each hour of the matrix has some
		{Tool: generated.Trace, Every: 20 * time.Minute},
	}
	return past.Fill(ctx, &fitter{to: a, ways: routesOf(plan), until: now})
}

// Put implements generated.Filer: the Results are their maker's, who makes others of them afterwards.
func (f *fitter) Put(ctx context.Context, results []*measure.Result) error {
	for _, r := range results {
		r.Tool = liveTools[r.Kind]
		f.fit(r)
		if err := f.fitDistribution(r); err != nil {
			return err
		}
	}
	return f.to.Put(ctx, results)
}

// fitDistribution makes the samples of a ping, one for each packet that came back, as late as its metrics are.
func (f *fitter) fitDistribution(r *measure.Result) error {
	distribution, has := r.Distributions[measure.RTTs]
	if !has {
		return nil
	}
	generated, err := distribution.Sketch()
	if err != nil {
		return err
	}
	rtt, n := f.ways[[2]string{r.Source.Name, r.Target.Name}].rtt, r.Metrics[measure.ReceivedPackets]
	var fitted stat.Sketch
	for i := range int(n) {
		fitted.Add(generated.Quantile(float64(i)/max(1, n-1)) + rtt)
	}
	r.Distributions = map[measure.Metric]measure.Distribution{measure.RTTs: measure.NewDistribution(&fitted)}
	return nil
}

// fit gives the metrics of a Result the distance, the hops and the rate that its pair has in the lab.
func (f *fitter) fit(r *measure.Result) {
	way := f.ways[[2]string{r.Source.Name, r.Target.Name}]
	for _, m := range []measure.Metric{measure.RTTMin, measure.RTTMean, measure.RTTMedian, measure.RTTP95, measure.RTTP99, measure.RTTMax} {
		if v, ok := r.Metrics[m]; ok {
			r.Metrics[m] = v + way.rtt
		}
	}
	if _, ok := r.Metrics[measure.HopCount]; ok {
		r.Metrics[measure.HopCount] = float64(way.hops)
	}
	ill := r.Started.After(f.until.Add(-fellIll))
	if ill && (r.Source.Name == lossy || r.Target.Name == lossy) && r.Started.Unix()/300%3 == 0 {
		loseOne(r)
	}
	rate, ok := r.Metrics[measure.Throughput]
	if !ok {
		return
	}
	const payload = segmentBytes / 1538. // of what Ethernet carries
	full := way.rate * payload
	if ill {
		full = min(full, illRate(r.Source.Name, r.Target.Name, way.rtt))
	}
	r.Metrics[measure.Throughput] = full * (0.93 + 0.05*math.Mod(rate, 1e6)/1e6)
}

// lossy loses one packet in fifty each way, so that a third of all pings lose one.
const lossy = "lyon"

// narrow takes a small window at a time.
const narrow = "cern"

// loseOne loses an echo of a ping that lost none.
func loseOne(r *measure.Result) {
	if sent := r.Metrics[measure.SentPackets]; sent > 0 && r.Metrics[measure.LostPackets] == 0 {
		r.Metrics[measure.LostPackets], r.Metrics[measure.ReceivedPackets], r.Metrics[measure.LossRatio] = 1, sent-1, 1/sent
	}
}

// illRate is what sick hosts let a transfer from a host to another have, in bit/s; infinite where nothing ails them. A window hurts what is sent to
// its host alone, loss (Mathis et al., 1997) hurts both ways.
func illRate(from, to string, rtt float64) float64 {
	rate := math.Inf(1)
	if to == narrow {
		rate = windowBytes * 8 / rtt
	}
	if from == lossy || to == lossy {
		rate = min(rate, segmentBytes*8/rtt/math.Sqrt(lossRatio))
	}
	return rate
}

// routesOf works out the shortest ways between all hosts of a lab.
func routesOf(plan *lab.Plan) map[[2]string]route {
	ways := map[[2]string]route{}
	for from, node := range plan.Nodes {
		if node.Router {
			continue
		}
		for to, way := range routesFrom(plan, from) {
			if to != from && !plan.Nodes[to].Router {
				ways[[2]string{node.Name, plan.Nodes[to].Name}] = way
			}
		}
	}
	return ways
}

// routesFrom goes through a lab from a node, nearest nodes first.
func routesFrom(plan *lab.Plan, from int) map[int]route {
	found := map[int]route{from: {rate: math.Inf(1)}}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		way := found[queue[0]]
		for _, i := range plan.Nodes[queue[0]].Interfaces {
			next := plan.Interfaces[plan.Interfaces[i].Peer].Node
			if _, known := found[next]; known {
				continue
			}
			shape, one := plan.Directions[plan.Interfaces[i].Leaves].Shape, way
			one.hops++
			if shape.Delay != nil {
				one.rtt += 2 * time.Duration(*shape.Delay).Seconds()
			}
			if shape.Rate != nil {
				one.rate = min(one.rate, float64(*shape.Rate))
			}
			found[next] = one
			queue = append(queue, next)
		}
	}
	return found
}
