package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// hopsPath is a route of links whose rates in Mbit/s are known.
type hopsPath struct {
	rates  []float64
	delays []float64 // ms
	loaded int       // the link that others use, from 1; 0: none
	load   float64   // as a share of its rate
	ipv6   bool
	seed   int
}

func (p hopsPath) spec() string {
	nodes := []string{"bob"}
	for i := range len(p.rates) - 1 {
		nodes = append(nodes, fmt.Sprint("r", i+1))
	}
	text := fmt.Sprintf("seed: %d\nhosts: {bob: {}, carol: {}}\nrouters: [%s]\nlinks:\n", p.seed, strings.Join(nodes[1:], ", "))
	nodes = append(nodes, "carol")
	for i, rate := range p.rates {
		text += fmt.Sprintf("  - {between: [%s, %s], rate: %.3fmbit, delay: %.3fms}\n", nodes[i], nodes[i+1], rate, p.delays[i])
	}
	if p.loaded > 0 {
		text += fmt.Sprintf("traffic:\n  - {from: %s, to: %s, kind: poisson, rate: %.3fmbit}\n", nodes[p.loaded-1], nodes[p.loaded], p.load*p.rates[p.loaded-1])
	}
	return text
}

// drawnHops is a route of three links whose rates (3 to 100 Mbit/s), delays and load are drawn.
func drawnHops(seed int) hopsPath {
	r := rand.New(rand.NewPCG(uint64(seed), 17))
	p := hopsPath{seed: seed}
	for range 3 {
		p.rates, p.delays = append(p.rates, 3*math.Pow(100./3, r.Float64())), append(p.delays, 0.1*math.Pow(100, r.Float64()))
	}
	if r.IntN(2) == 0 {
		p.loaded, p.load = 1+r.IntN(3), 0.6*r.Float64()
	}
	p.ipv6 = r.IntN(4) == 0
	return p
}

// What capacity --hops calls certain is within 15 % of the lab's links. PATHWISE_CAPACITY=hops plays a hundred drawn routes, and hops40+20 those from 40 to 59.
func TestCapacityHops(t *testing.T) {
	t.Parallel()
	carrying(t)
	var s capacityScore
	asked, drawn := strings.CutPrefix(os.Getenv("PATHWISE_CAPACITY"), "hops")
	switch from, count, _ := strings.Cut(asked, "+"); {
	case !drawn && asked != "":
		t.Skip("PATHWISE_CAPACITY asks for other paths")
	case drawn:
		first, _ := strconv.Atoi(from)
		number, _ := strconv.Atoi(count)
		if count == "" {
			number = 100
		}
		for seed := range number {
			playHops(t, &s, drawnHops(first+seed))
		}
	default:
		playHops(t, &s, hopsPath{rates: []float64{100, 20, 60}, delays: []float64{1, 3, 2}, seed: 1})
		playHops(t, &s, hopsPath{rates: []float64{10, 100, 30}, delays: []float64{1, 5, .5}, loaded: 1, load: .3, seed: 2})
	}
	t.Logf("CAPACITY of links: %v", s)
	if float64(s.certain-s.right) > 0.05*float64(s.certain) || float64(s.certain) < 0.75*float64(s.all) {
		t.Errorf("links: %v", s)
	}
}

func playHops(t *testing.T, s *capacityScore, p hopsPath) {
	t.Run(fmt.Sprint(p.seed), func(t *testing.T) {
		spec, err := lab.ParseSpec("hops", []byte(p.spec()))
		if err != nil {
			t.Fatalf("%v\n%s", err, p.spec())
		}
		l := startLab(t, spec)
		args := []string{"capacity", "carol", "--json", "--hops", "-4"}
		if p.ipv6 {
			args[len(args)-1] = "-6"
		}
		r := resultIn(t, l, args...)
		if len(r.Samples.Links) != len(p.rates) {
			t.Fatalf("%d links of %d: %+v", len(r.Samples.Links), len(p.rates), r)
		}
		text := fmt.Sprintf("seed %d, ipv6 %v, load %.2f of link %d: %.2f s, %.0f kB", p.seed, p.ipv6, p.load, p.loaded, r.DurationSeconds, r.Metrics[measure.SentBytes]/1e3)
		for i, link := range r.Samples.Links {
			text += "; " + s.add(link.Capacity, p.rates[i]*1e6, .15)
			if link.Delay != nil {
				text += fmt.Sprintf(" %.2f of %.2f ms", *link.Delay*1e3, p.delays[i])
			}
		}
		t.Log("CAPACITY " + text)
	})
}
