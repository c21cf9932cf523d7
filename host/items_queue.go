package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// adapterItems are what adapters take off the processors.
var adapterItems = []Item{
	{ID: "offload", Title: "Work that the adapter could take off the processors", Area: Interface, Reads: "ethtool netlink, features", find: links(offloading), Source: practice,
		Means: "The adapter cuts and sums packets, or the kernel handles many as one: without it a processor does each by itself. Joining in " +
			"hardware (LRO) loses what is needed to forward packets, and is to be off."},
	{ID: "ring", Title: "Packets that the adapter has room for", Area: Interface, Reads: "ethtool netlink, rings", find: links(rings),
		Means:   "Packets that have come wait in the adapter's ring until a processor takes them; a full one drops them.",
		Formula: "rate × 4 ms / MTU, at most what the adapter has", Source: practice + "; 4 ms are a tick of the scheduler"},
	{ID: "interrupts-gathered", Title: "Packets for each interrupt of the adapter", Area: Interface, Reads: "ethtool netlink, coalescing", find: links(coalescing),
		Means:  "An adapter that interrupts for each packet keeps a processor busy with interrupts; one that waits long adds to the round trip.",
		Source: "PERT guide (2005), Interrupt Coalescence"},
	{ID: "channels", Title: "Queues of the adapter", Area: CPU, Reads: "ethtool netlink, channels", find: links(channels),
		Means:   "Over how many queues the adapter spreads connections; a processor serves each.",
		Formula: "a queue for each 5 Gbit/s, at most one for each processor", Source: practice},
	{ID: "interrupt-spread", Title: "Processors that the adapter interrupts", Area: CPU, Reads: "/proc/interrupts", find: links(interruptSpread),
		Means:   "Which processors the adapter's queues interrupt. With all on one, that one is the limit while the others are idle.",
		Formula: "no processor has more than 90 % where there are several queues", Source: practice},
}

// plainQueues are queueing disciplines that only hold packets, in the order of their arrival.
var plainQueues = []string{"pfifo_fast", "pfifo", "bfifo"}

// qdisc looks at the one that the interface asks, and at those below it where it only spreads packets over queues.
func qdisc(_ *Facts, l Link, n Need) []seen {
	kinds := map[string]bool{}
	s := seen{needed: "fq", keep: "net.core.default_qdisc (see default-qdisc)", command: "tc qdisc replace dev " + l.Name + " root fq"}
	worse := func(status Status, why string) {
		if s.status == "" || status == Problem {
			s.status, s.why = status, why
		}
	}
	for _, q := range l.Qdiscs {
		kinds[q.Kind] = true
		switch {
		case q.Kind == "netem":
			worse(Problem, "Somebody left an emulation of delay and loss on.")
		case q.Rate > 0 && q.Rate < n.Rate:
			worse(Problem, "A shaper lets "+quantity.FormatRate(q.Rate)+" through.")
		case slices.Contains(plainQueues, q.Kind):
			worse(Warning, "")
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	if s.value = strings.Join(names, " "); s.status == "" {
		s.command, s.keep = "", ""
	}
	return []seen{s}
}

func qdiscDrops(f *Facts, l Link, _ Need) []seen {
	c, there := f.Counters["qdisc."+l.Name+".dropped"]
	if !there {
		return nil
	}
	s := f.counted("", c)
	if c.Moved() > 0 {
		s.status = Warning
	}
	return []seen{s}
}

// aids are offloads that should be on, by what ethtool(8) calls them. Any of several names serves.
var aids = []struct {
	short string
	names []string
}{
	{"tso", []string{cutsTCP}}, {"gso", []string{cutsGeneric}}, {"gro", []string{joins}}, {"rx", []string{sumsReceived}},
	{"tx", []string{sumsGeneric, sumsIPv4}}, {"sg", []string{gathersFragment}},
}

// offloading says nothing of what the adapter cannot do, and all that is otherwise at once: one command changes it.
func offloading(_ *Facts, l Link, _ Need) []seen {
	var on, off, commands []string
	for _, aid := range aids {
		runs, can := false, false
		for _, name := range aid.names {
			runs, can = runs || l.Features[name].On, can || l.Features[name].On || l.Features[name].Can
		}
		switch {
		case runs:
			on = append(on, aid.short)
		case can:
			off, commands = append(off, aid.short), append(commands, aid.short+" on")
		}
	}
	var values, needed []string
	if len(off) > 0 {
		values, needed = append(values, strings.Join(off, " ")+" off"), append(needed, "on")
	}
	if large := l.Features[joinsLarge]; large.On && large.Can {
		values, needed, commands = append(values, "lro on"), append(needed, "off"), append(commands, "lro off")
	}
	switch {
	case len(values) > 0:
		return []seen{{value: strings.Join(values, ", "), needed: strings.Join(needed, ", "), status: Warning,
			command: "ethtool -K " + l.Name + " " + strings.Join(commands, " ")}}
	case len(on) > 0:
		return []seen{{value: strings.Join(on, " "), needed: "all that it can"}}
	}
	return nil
}

func rings(_ *Facts, l Link, n Need) (all []seen) {
	const tick, bits = 4e-3, 8
	for _, which := range []string{"rx", "tx"} {
		r, there := l.Rings[which]
		if !there {
			continue
		}
		want := min(int(n.Rate*tick/bits/float64(max(l.MTU, leastMTU))), r.Most)
		s := seen{subject: l.Name + " " + which, value: fmt.Sprintf("%d of %d", r.Now, r.Most), needed: fmt.Sprintf("at least %d", want)}
		if r.Now < want {
			s.status, s.changes = Warning, []Change{{Link: l.Name, Setting: which + ringSetting, To: strconv.Itoa(want)}}
		}
		all = append(all, s)
	}
	return all
}

func coalescing(_ *Facts, l Link, n Need) []seen {
	const fast, longest = 10e9, 1000 // bit/s from which a packet's interrupt matters, though busy adapters are polled; microseconds
	c := l.Coalesce
	if c == nil {
		return nil
	}
	s := seen{value: fmt.Sprintf("%d µs, %d packets", c.Microseconds, c.Frames), needed: "adaptive, or 10 to 1000 µs"}
	switch {
	case c.Adaptive:
		s.value = "adaptive"
	case c.Microseconds == 0 && c.Frames <= 1 && n.Rate >= fast:
		s.status, s.why = Warning, "Each packet interrupts."
	case c.Microseconds > longest:
		s.status, s.why = Warning, "A packet may wait longer than most paths within a city take."
	}
	if s.status != "" {
		s.command = "ethtool -C " + l.Name + " adaptive-rx on, or rx-usecs 50"
	}
	return []seen{s}
}

// channels holds the queues that are used against those that the adapter has.
func channels(f *Facts, l Link, n Need) []seen {
	const each = 5e9 // bit/s that one processor takes
	name := "combined"
	r, there := l.Channels[name]
	if !there {
		if r, there = l.Channels["rx"]; !there {
			return nil
		}
		name = "rx"
	}
	want := min(r.Most, max(1, len(f.CPUs)), int(n.Rate/each)+1)
	s := seen{value: fmt.Sprintf("%d of %d", r.Now, r.Most), needed: fmt.Sprintf("at least %d", want)}
	if r.Now < want {
		s.status, s.command = Warning, fmt.Sprintf("ethtool -L %s %s %d", l.Name, name, want)
	}
	return []seen{s}
}

// interruptSpread counts the interrupts since the start, where there are enough to tell.
func interruptSpread(f *Facts, l Link, n Need) []seen {
	const enough, fast, share = 100_000, 5e9, 0.9
	var perCPU []float64
	queues, sum := 0, 0.0
	for _, i := range f.Interrupts {
		if i.Interface != l.Name {
			continue
		}
		queues++
		for cpu, count := range i.Counts {
			for len(perCPU) <= cpu {
				perCPU = append(perCPU, 0)
			}
			perCPU[cpu] += float64(count)
			sum += float64(count)
		}
	}
	if sum < enough || len(perCPU) < 2 {
		return nil
	}
	most := slices.Max(perCPU)
	s := seen{value: fmt.Sprintf("%.0f %% on processor %d", 100*most/sum, slices.Index(perCPU, most)), needed: "spread"}
	if queues > 2 && most > share*sum && n.Rate >= fast { // up to there one processor is enough
		s.status, s.command, s.keep = Warning, "start irqbalance, or write a processor for each into /proc/irq/NUMBER/smp_affinity_list", "systemctl enable irqbalance"
	}
	return []seen{s}
}
