package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
	"github.com/pathwise-net/pathwise/measure"
)

// mtuPath is a path of its own in a lab, whose MTU is known, and who says so.
//
//	s3 --- r3x1 --- r3x2 --- … --- d3
type mtuPath struct {
	number  int
	links   []mtuLink    // from s to d
	routers []mtuRouters // between them
	answers string       // what d answers: "icmp", "stamp", "tcp"
	family  string       // "" or "-6"
	asked   string       // --proto
}

type mtuLink struct {
	mtu        int
	drops      bool // without a word
	back       int  // the MTU of the way back; 0: the same
	backHushed bool // it drops without a word
	loss       float64
	delayMs    int
}

type mtuRouters struct{ silent, filters bool }

// drawnMTUPath is a path whose links, routers and target are drawn.
func drawnMTUPath(number int) mtuPath {
	r := rand.New(rand.NewPCG(uint64(number), 18))
	p := mtuPath{number: number, routers: make([]mtuRouters, 1+r.IntN(5)), answers: []string{"icmp", "icmp", "stamp", "tcp"}[r.IntN(4)]}
	base := []int{1500, 1500, 1500, 9000, 4352}[r.IntN(5)]
	for range len(p.routers) + 1 {
		p.links = append(p.links, mtuLink{mtu: base, delayMs: r.IntN(15)})
	}
	for range r.IntN(3) { // links that narrow it
		sizes := []int{1492, 1480, 1476, 1450, 1420, 1400, 1280, 576, 576 + r.IntN(925), 1280 + r.IntN(base-1280), 1280 + r.IntN(base-1280)}
		l := &p.links[r.IntN(len(p.links))]
		l.mtu, l.drops = min(base, sizes[r.IntN(len(sizes))]), r.IntN(2) == 0
	}
	if r.IntN(2) == 0 {
		p.links[r.IntN(len(p.links))].loss = 2 * r.Float64()
	}
	for i := range p.routers {
		p.routers[i] = mtuRouters{silent: r.IntN(6) == 0, filters: r.IntN(12) == 0}
	}
	if p.mtu() >= 1280 && r.IntN(3) == 0 {
		p.family = "-6"
	}
	p.asked = []string{"auto", p.answers}[r.IntN(2)]
	if p.answers == "stamp" && r.IntN(3) > 0 { // a link that narrows the way back alone
		least := 576
		if p.family != "" {
			least = 1280
		}
		if size := p.mtu(); size > least {
			l := &p.links[r.IntN(len(p.links))]
			l.back, l.backHushed = least+r.IntN(size-least), r.IntN(2) == 0
		}
	}
	return p
}

// reversed is the way back, as a path from the target.
func (p mtuPath) reversed() mtuPath {
	p.links, p.routers = slices.Clone(p.links), slices.Clone(p.routers)
	slices.Reverse(p.links)
	slices.Reverse(p.routers)
	for i := range p.links {
		if l := &p.links[i]; l.back > 0 {
			l.mtu, l.drops = l.back, l.backHushed
		}
	}
	return p
}

// narrowsBack is what a Result has to say of who narrows the way back: nil where it carries what the way there does.
func (p mtuPath) narrowsBack() *measure.Narrowing {
	back := p.reversed()
	if back.mtu() >= p.mtu() {
		return nil
	}
	n := &measure.Narrowing{Before: 1, Bytes: back.mtu()}
	if back.links[0].mtu == back.mtu() { // the far end's interface takes what comes to it, which is more, so that packets leave and vanish
		for n.Before <= len(back.routers) && !back.answersHop(n.Before) {
			n.Before++
		}
		return n
	}
	known, reply := back.hops()
	for i, has := range known {
		n.Before = i + 2
		if has {
			n.TTL = i + 1
		}
	}
	n.Refused = reply == "packet too big"
	return n
}

// longest is how long a search may take, in seconds: 10, and 12 where large packets vanish on both ways, behind different routers, each of which is looked for.
func (p mtuPath) longest() float64 {
	silent := func(l mtuLink) bool { return l.drops || l.back > 0 && l.backHushed }
	if n := slices.IndexFunc(p.links, silent); n >= 0 && slices.ContainsFunc(p.links[n+1:], silent) {
		return 12
	}
	return 10
}

func (p mtuPath) mtu() int {
	return slices.MinFunc(p.links, func(a, b mtuLink) int { return a.mtu - b.mtu }).mtu
}

func (p mtuPath) source() string        { return fmt.Sprintf("s%d", p.number) }
func (p mtuPath) target() string        { return fmt.Sprintf("d%d", p.number) }
func (p mtuPath) router(hop int) string { return fmt.Sprintf("r%dx%d", p.number, hop) }

// answersHop says whether a router's ICMP errors come to the source. Hops count from 1.
func (p mtuPath) answersHop(hop int) bool {
	for _, before := range p.routers[:hop-1] {
		if before.filters {
			return false
		}
	}
	return !p.routers[hop-1].silent
}

// hops are what a Result has to say of who narrows the path: each with an address where that is known, and the reply of the last.
func (p mtuPath) hops() (known []bool, reply string) {
	size := p.mtu()
	at := slices.IndexFunc(p.links, func(l mtuLink) bool { return l.mtu == size })
	sends := p.links[0].mtu // what the source's interface takes
	if p.links[0].drops {
		sends = max(1500, sends)
	}
	switch {
	case size == sends:
		return nil, ""
	case at == 0 && p.answersHop(1):
		return []bool{true}, "no answer" // this host, hop 0
	case at == 0:
		reply = "no answer"
	case !p.links[at].drops && p.answersHop(at):
		reply = "packet too big"
	default:
		reply = "no answer"
	}
	for hop := 1; hop <= at; hop++ {
		known = append(known, p.answersHop(hop))
	}
	for hop := at + 1; reply == "no answer" && hop <= len(p.routers) && !p.answersHop(hop); hop++ {
		known = append(known, false)
	}
	return known, reply
}

// mtuLab is a lab of several paths, of which no two have anything in common.
func mtuLab(paths []mtuPath) string {
	var hosts, routers []string
	var links strings.Builder
	for _, p := range paths {
		hosts = append(hosts, p.source()+": {}", p.target()+": {}")
		nodes := []string{p.source()}
		for i, r := range p.routers {
			settings := ""
			if r.silent {
				settings = "silent: true"
			}
			if r.filters {
				settings = strings.TrimPrefix(settings+", icmp: filtered", ", ")
			}
			nodes = append(nodes, p.router(i+1))
			routers = append(routers, fmt.Sprintf("%s: {%s}", p.router(i+1), settings))
		}
		nodes = append(nodes, p.target())
		for i, l := range p.links {
			size := fmt.Sprintf("%dB", l.mtu)
			if l.drops {
				size = fmt.Sprintf("{size: %dB, excess: drop}", l.mtu)
			}
			sizes := "mtu: " + size
			if l.back > 0 {
				back := fmt.Sprintf("%dB", l.back)
				if l.backHushed {
					back = fmt.Sprintf("{size: %dB, excess: drop}", l.back)
				}
				sizes = fmt.Sprintf("forward: {mtu: %s}, reverse: {mtu: %s}", size, back)
			}
			fmt.Fprintf(&links, "  - {between: [%s, %s], rate: 1gbit, delay: %dms, %s", nodes[i], nodes[i+1], l.delayMs, sizes)
			if l.loss > 0 {
				fmt.Fprintf(&links, ", loss: %.2f%%", l.loss)
			}
			links.WriteString("}\n")
		}
	}
	return fmt.Sprintf("seed: %d\nhosts: {%s}\nrouters: {%s}\nlinks:\n%s", paths[0].number+1, strings.Join(hosts, ", "), strings.Join(routers, ", "), links.String())
}

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
	out, outWriter, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	responder, err := l.Start(t.Context(), p.target(), lab.Command{Argv: argv, Env: append(os.Environ(), actAsPathwise+"=1"), Stdout: outWriter})
	outWriter.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = responder.Kill()
		_, _ = responder.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // it says one line, when it listens
		t.Fatal(err)
	}
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
