package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

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
	mtu       int
	drops     bool // what is larger, without a word
	back      int  // the MTU of the way back; 0: it is as the way there
	backDrops bool // what is larger, without a word
	loss      float64
	delayMs   int
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
			l.back, l.backDrops = least+r.IntN(size-least), r.IntN(2) == 0
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
			l.mtu, l.drops = l.back, l.backDrops
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
	silent := func(l mtuLink) bool { return l.drops || l.back > 0 && l.backDrops }
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

// mtuText is an MTU in a lab file.
func mtuText(bytes int, drops bool) string {
	if drops {
		return fmt.Sprintf("mtu: {size: %dB, excess: drop}", bytes)
	}
	return fmt.Sprintf("mtu: %dB", bytes)
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
			sizes := mtuText(l.mtu, l.drops)
			if l.back > 0 {
				sizes = fmt.Sprintf("forward: {%s}, reverse: {%s}", sizes, mtuText(l.back, l.backDrops))
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
