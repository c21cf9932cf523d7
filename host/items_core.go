package host

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// otherKeys are settings that Items look at beside their own.
var otherKeys = []string{"net.ipv4.tcp_mem", "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_no_ssthresh_metrics_save", "fs.file-nr",
	"net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max", "net.ipv4.conf.all.rp_filter", echoKey}

const practice = "practice of hosts for long fast paths"

// coreItems are what all protocols share: buffers, queues, memory.
var coreItems = []Item{
	{ID: "rmem-max", Title: "The most that a program gets as receive buffer", Area: Core, Key: "net.core.rmem_max", bad: Warning, wants: least(twiceProduct),
		Means:   "The largest receive buffer that a program may ask for by itself (SO_RCVBUF): tools for transfers do.",
		Formula: "2 × rate × round trip", Source: linuxReceiveShare},
	{ID: "wmem-max", Title: "The most that a program gets as send buffer", Area: Core, Key: "net.core.wmem_max", bad: Warning, wants: least(twiceProduct),
		Means:   "The largest send buffer that a program may ask for by itself (SO_SNDBUF).",
		Formula: "2 × rate × round trip", Source: "RFC 7323 section 1.1"},
	{ID: "default-qdisc", Title: "The queueing discipline of new interfaces", Area: Core, Key: "net.core.default_qdisc", bad: Warning, wants: one("fq", "fq_codel", "cake"),
		Means: "How packets queue before an adapter, of interfaces that come up from now on. fq sends each connection at its own pace; a plain queue " +
			"sends bursts, which shallow buffers drop.", Source: practice + "; RFC 8290"},
	{ID: "backlog", Title: "Packets that may wait for a processor", Area: Core, Key: "net.core.netdev_max_backlog", bad: Warning, wants: least(backlog),
		Means:   "How many packets wait for a processor when they come faster than it takes them; more are dropped (softnet-drops).",
		Formula: "1,000 up to 1 Gbit/s, 250,000 up to 10 Gbit/s, 500,000 above", Source: practice},
	{ID: "softnet-budget", Title: "Packets that a processor takes in a turn", Area: Core, Key: "net.core.netdev_budget", bad: Warning, wants: constant(300),
		Means: "How many packets a processor takes in one turn.", Source: "Linux, Documentation/admin-guide/sysctl/net.rst, whose default is 300"},
	{ID: "softnet-drops", Title: "Packets dropped before a processor took them", Area: Core, Reads: "/proc/net/softnet_stat, second column", find: softnet("dropped", Problem),
		Means: "Packets that were dropped since the queue of a processor (backlog) was full."},
	{ID: "softnet-squeezed", Title: "Turns that were over while packets were left", Area: Core, Reads: "/proc/net/softnet_stat, third column", find: softnet("squeezed", Warning),
		Means: "How often a processor's turn was over while packets were left: more in a turn (softnet-budget), or more processors, are needed."},
	{ID: "memory-free", Title: "Memory that is free", Area: Core, Reads: "/proc/meminfo MemAvailable", find: memoryFree,
		Means: "What programs may still ask for. Windows, and files on their way to disk, come out of it.", Formula: "2 × 2 × rate × round trip, and a twentieth of all",
		Source: "RFC 7323 section 1.1, both ways"},
	{ID: "memory-swapping", Title: "Memory that is written to disk and back", Area: Core, Reads: "/proc/vmstat pswpin, pswpout", find: swapping,
		Means: "Memory is written to disk and read back, which takes a thousand times as long."},
	{ID: "memory-reserve", Title: "Memory that is kept for packets", Area: Core, Key: "vm.min_free_kbytes", bad: Warning, wants: least(reserve),
		Means:   "What is kept for those who cannot wait, such as an adapter that has a packet: without memory it is dropped.",
		Formula: "rate × 10 ms", Source: "Linux, Documentation/admin-guide/sysctl/vm.rst; ten ticks of a processor that is busy"},
	{ID: "open-files", Title: "Open connections and files of the whole machine", Area: Core, Reads: "fs.file-nr", find: openFiles,
		Means: "Connections, pipes and files that are open in the whole machine, against the most that may be."},
	{ID: "fragments-lost", Title: "Packets in pieces that could not be put together", Area: Core, Reads: "/proc/net/snmp Ip ReasmFails", find: moving("Ip.ReasmFails", Warning),
		Means: "Packets that came in pieces and could not be put together: pieces are lost, or come out of order."},
	{ID: "settings-drift", Title: "A setting that is not as its file says", Area: Core, Reads: "/etc/sysctl.d and the like", find: drift,
		Means: "A setting that a file makes when the machine starts is another one now; at the next start it changes."},
}

// backlog goes by the steps in which practice has it; up to 1 Gbit/s the kernel's own 1,000 has proved enough.
func backlog(n Need) float64 {
	switch {
	case n.Rate <= 1e9:
		return 1000
	case n.Rate <= 10e9:
		return 250_000
	}
	return 500_000
}

// reserve is in KiB what comes in while a processor is busy elsewhere.
func reserve(n Need) float64 {
	const seconds, bits = 10e-3, 8
	return n.Rate * seconds / bits / 1024
}

// softnet looks at a column of all processors.
func softnet(column string, bad Status) func(*Facts, Need) []seen {
	return func(f *Facts, n Need) []seen {
		var sum Counter
		found := false
		for name, c := range f.Counters {
			if strings.HasPrefix(name, "softnet.") && strings.HasSuffix(name, "."+column) {
				sum.First, sum.Last, found = sum.First+c.First, sum.First+c.First+sum.Moved()+c.Moved(), true
			}
		}
		if !found {
			return nil
		}
		s := f.counted("", sum)
		if sum.Moved() > 0 {
			s.status = bad
		}
		return []seen{s}
	}
}

func memoryFree(f *Facts, n Need) []seen {
	free, all := f.Memory["MemAvailable"], f.Memory["MemTotal"]
	if all == 0 {
		return nil
	}
	const share = 20
	want := max(2*twiceProduct(n), all/share)
	s := seen{value: quantity.FormatBinarySize(int64(free)), needed: "at least " + quantity.FormatBinarySize(int64(want)),
		command: "end what takes memory, or add some"}
	if free < want {
		s.status = Warning
	}
	if free < twiceProduct(n) {
		s.status = Problem
	}
	return []seen{s}
}

func swapping(f *Facts, _ Need) []seen {
	in, there := f.Counters["vm.pswpin"]
	if !there {
		return nil
	}
	out := f.Counters["vm.pswpout"]
	s := f.counted("", Counter{in.First + out.First, in.First + out.First + in.Moved() + out.Moved()})
	if in.Moved()+out.Moved() > 0 {
		s.status, s.command = Warning, "end what takes memory, or add some"
	}
	return []seen{s}
}

// openFiles has three numbers: open, free among them, and the most.
func openFiles(f *Facts, _ Need) []seen {
	parts := strings.Fields(f.Sysctls["fs.file-nr"])
	if len(parts) != 3 {
		return nil
	}
	open, err := strconv.ParseFloat(parts[0], 64)
	most, errMost := strconv.ParseFloat(parts[2], 64)
	if err != nil || errMost != nil {
		return nil
	}
	s := seen{value: parts[0] + " of " + parts[2], needed: "under 80 %"}
	if open > 0.8*most {
		s.status, s.changes = Warning, settings("fs.file-max", number(whole(2*most)))
	}
	return []seen{s}
}

// drift are settings that no other Item looks at, and that run otherwise than files make them.
func drift(f *Facts, _ Need) []seen {
	same := 0
	var all []seen
	for _, key := range f.Unaudited {
		value, runs := f.Sysctls[key]
		if !runs {
			continue // a write-only one, or one that this namespace does not show
		}
		if value == f.Configured[key].Value {
			same++
			continue
		}
		all = append(all, seen{subject: key, value: value, key: key})
	}
	if len(all) == 0 && same > 0 {
		return []seen{{value: fmt.Sprintf("%d as configured", same), needed: "all"}}
	}
	return all
}
