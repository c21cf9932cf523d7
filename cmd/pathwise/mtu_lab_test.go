package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// serveMTUPath makes the target answer what it is to, and nothing else.
func serveMTUPath(t *testing.T, l *lab.Lab, p mtuPath) {
	t.Helper()
	if p.answers == "icmp" {
		return
	}
	for _, key := range []string{"net.ipv4.icmp_echo_ignore_all", "net.ipv6.icmp.echo_ignore_all"} {
		if err := l.SetSysctl(p.target(), key, "1"); err != nil {
			t.Fatal(err)
		}
	}
	argv := []string{lab.Self(), "respond"}
	if p.answers == "tcp" {
		argv = append(argv, "--stamp-port", "0")
	}
	readyOn(t, l, p.target(), lab.Command{Argv: argv, Env: append(os.Environ(), actAsPathwise+"=1")})
}

// measureMTUPath holds what pathwise mtu says against the path.
func measureMTUPath(t *testing.T, l *lab.Lab, p mtuPath) (seconds float64) {
	t.Helper()
	argv := []string{lab.Self(), "mtu", p.target(), "--json", "--proto", p.asked}
	if p.family != "" {
		argv = append(argv, p.family)
	}
	if p.answers == "tcp" {
		argv[2] += ":5201"
	}
	var out bytes.Buffer
	began := time.Now()
	onHost(t, l, p.source(), &out, argv...)
	seconds = time.Since(began).Seconds()
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out.Bytes())
	}
	known, reply := p.hops()
	var got []bool
	gotReply := ""
	for _, h := range r.Samples.Hops {
		got, gotReply = append(got, len(h.Addresses) > 0), h.Reply
	}
	switch {
	case int(r.Metrics[measure.PathMTU]) != p.mtu():
		t.Errorf("path %d: MTU %v, want %d: %+v", p.number, r.Metrics[measure.PathMTU], p.mtu(), p)
	case !slices.Equal(known, got) || reply != gotReply:
		t.Errorf("path %d: hops with an address %v, %q, want %v, %q: %+v", p.number, got, gotReply, known, reply, p)
	case seconds > p.longest():
		t.Errorf("path %d: took %.1f s: %+v", p.number, seconds, p)
	}
	size := min(p.mtu(), p.reversed().mtu())
	if back, has := r.Get(measure.ReversePathMTU); has != (p.answers == "stamp") || has && int(back) != size {
		t.Errorf("path %d: MTU back %v, %v, want %d", p.number, back, has, size)
	}
	want, found := p.narrowsBack(), r.Samples.BackNarrows
	if found != nil {
		found.Address = "" // which the test does not know
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("path %d: the way back is narrowed (-want +got):\n%s%+v, %q", p.number, diff, p, r.Notes)
	}
	return seconds
}

// traceMTUPath holds what a trace says of the MTU of each hop against the path: a hop that answers has one, up to the last that answers where the target answers
// nothing by which sizes are measured.
func traceMTUPath(t *testing.T, l *lab.Lab, p mtuPath) {
	t.Helper()
	argv := []string{lab.Self(), "trace", p.target(), "--json", "--mtu"}
	if p.family != "" {
		argv = append(argv, p.family)
	}
	var out bytes.Buffer
	onHost(t, l, p.source(), &out, argv...)
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v: %v: %s", argv, err, out.Bytes())
	}
	end := len(p.links)
	if slices.ContainsFunc(p.routers, func(r mtuRouters) bool { return r.filters }) {
		end = len(r.Samples.Hops) // what the target says of a trace's packets is an ICMP error, too
	}
	for p.answers == "tcp" && end > 0 && (end == len(p.links) || !p.answersHop(end)) {
		end--
	}
	size := p.links[0].mtu
	for i, link := range p.links {
		size = min(size, link.mtu)
		answers := i+1 == len(p.links) || p.answersHop(i+1)
		if i >= len(r.Samples.Hops) && i < end {
			t.Errorf("path %d: a trace of %d hops, want %d: %+v", p.number, len(r.Samples.Hops), end, p)
			return
		}
		if i >= end {
			continue
		}
		if got := r.Samples.Hops[i].MTU; got != size && (answers || got != 0) {
			t.Errorf("path %d: MTU %d up to hop %d, want %d: %+v, %+v", p.number, got, i+1, size, p, r.Samples.Route.Narrowings)
		}
	}
}

// The path MTU of drawn paths is right, and who narrows them is told as well as hops answer, over ICMP, STAMP and TCP. PATHWISE_MTU=0-99 says which paths; five
// of them unless it is set. A third of them is traced as well.
func TestMTUPaths(t *testing.T) {
	carrying(t)
	from, to := 0, 4
	if text := os.Getenv("PATHWISE_MTU"); text != "" {
		if _, err := fmt.Sscanf(text, "%d-%d", &from, &to); err != nil {
			t.Fatalf("PATHWISE_MTU: %v; want the first and the last number, such as 0-99", err)
		}
	}
	const together = 10
	slowest, count := 0.0, 0
	for first := from; first <= to; first += together {
		var paths []mtuPath
		for number := first; number <= min(to, first+together-1); number++ {
			paths = append(paths, drawnMTUPath(number))
		}
		t.Run(fmt.Sprintf("%d-%d", first, first+len(paths)-1), func(t *testing.T) {
			spec, err := lab.ParseSpec(t.Name(), []byte(mtuLab(paths)))
			if err != nil {
				t.Fatal(err)
			}
			l := startLab(t, spec)
			took, traced := make(chan float64, together), make(chan bool, together)
			for _, p := range paths {
				serveMTUPath(t, l, p)
			}
			for _, p := range paths {
				go func() {
					seconds := 0.0
					defer func() { took <- seconds }()
					seconds = measureMTUPath(t, l, p)
				}()
			}
			for i, p := range paths {
				if i%3 != 0 {
					continue
				}
				go func() {
					defer func() { traced <- true }()
					traceMTUPath(t, l, p)
				}()
			}
			for i := range paths {
				if i%3 == 0 {
					<-traced
				}
			}
			for range paths {
				slowest, count = max(slowest, <-took), count+1
			}
		})
	}
	t.Logf("%d paths, the slowest in %.1f s", count, slowest)
}
