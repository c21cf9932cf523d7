package probe

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// Host measures the host that it runs on: processor, memory, TCP's buffers, disks, network interfaces. It reads what
// the kernel counts at the beginning and at the end of Interval. Sums are in the metrics, each part is in Samples.Host.
type Host struct {
	Target   string        // what the Result calls this host, or its address; "": its own name
	Interval time.Duration // 0: 1 s; the kernel counts processor time in steps of 10 ms
	Iface    string        // the interface to count; "": all adapters, or where there are none, all but loopback
	Path     string        // in the file system whose space is reported; "": /
}

// Defaults and limits of Host.
const (
	hostInterval    = time.Second
	hostMinInterval = 100 * time.Millisecond // ten steps of processor time
	hostMaxInterval = time.Hour
	sector          = 512 // bytes in /proc/diskstats, whatever the disk has
)

func hostKind() Kind {
	return newKind(declaration[Host]{
		kind:   Kind{Name: "host", Itself: true, Meaning: "the host itself: processor, memory, TCP buffers, disks, interfaces"},
		target: func(h *Host) *string { return &h.Target },
		fields: hostFields(),
	})
}

func hostFields() []field[Host] {
	return []field[Host]{
		{Name: "interval", Default: "1s", Meaning: "over which rates and counts are taken",
			binding: span(func(h *Host) *time.Duration { return &h.Interval })},
		{Name: "iface", Default: "all adapters", Meaning: "the network interface to count",
			binding: word(func(h *Host) *string { return &h.Iface })},
		{Name: "path", Outward: true, Default: "/", Meaning: "a path in the file system whose space is reported",
			binding: word(func(h *Host) *string { return &h.Path })},
	}
}

// Validate says what is wrong with the parameters, as an input.Error, or returns nil.
func (h *Host) Validate() error {
	return checkDuration("interval", h.Interval, hostMinInterval, hostMaxInterval)
}

func (h Host) withDefaults() Host {
	setDefault(&h.Interval, hostInterval)
	setDefault(&h.Path, "/")
	return h
}

func (h *Host) equip(Options) {}

func (h *Host) demand() measure.Demand {
	return measure.Demand{DurationSeconds: h.withDefaults().Interval.Seconds()}
}

// resultBytes are those of 28 metrics.
func (h *Host) resultBytes() float64 { return 2600 }

// hostReading is what the kernel has counted up to a moment. What it does not offer is nil.
type hostReading struct {
	at     time.Time
	stat   procfs.Stat
	disks  []blockdevice.Diskstats // whole ones that are hardware, or that a hypervisor shows as such
	netDev procfs.NetDev
	links  map[string]link // of netDev
	tcp    tcpCounts
}

// link is what an interface is.
type link struct {
	adapter bool
	rate    float64 // bit/s; 0: it does not say
}

type tcpCounts struct{ sent, retransmitted, listenDrops *float64 }

// fillHost turns two readings into metrics and samples.
func fillHost(r *measure.Result, first, last hostReading, iface string) error {
	elapsed := last.at.Sub(first.at).Seconds()
	sample := &measure.HostSample{CPUs: cpus(first.stat, last.stat), Disks: disks(first.disks, last.disks, elapsed),
		Interfaces: interfaces(first, last, elapsed)}
	r.Samples.Host = sample
	set := r.Metrics
	if total, ok := cpuShares(first.stat.CPUTotal, last.stat.CPUTotal); ok {
		set[measure.HostCPU], set[measure.HostCPUSoftIRQ] = total.Busy, total.SoftIRQ
		set[measure.HostCPUIOWait], set[measure.HostCPUSteal] = total.IOWait, total.Steal
	}
	for _, c := range sample.CPUs {
		set[measure.HostCPUMax] = max(set[measure.HostCPUMax], c.Busy)
	}
	for _, d := range sample.Disks {
		set[measure.HostDiskRead] += d.Read
		set[measure.HostDiskWrite] += d.Write
		set[measure.HostDiskBusy] = max(set[measure.HostDiskBusy], d.Busy)
	}
	for m, pair := range map[measure.Metric][2]*float64{
		measure.HostTCPSent:        {first.tcp.sent, last.tcp.sent},
		measure.HostTCPRetransmits: {first.tcp.retransmitted, last.tcp.retransmitted},
		measure.HostTCPListenDrops: {first.tcp.listenDrops, last.tcp.listenDrops},
	} {
		if pair[0] != nil && pair[1] != nil {
			set[m] = *pair[1] - *pair[0]
		}
	}
	return addInterfaces(set, sample.Interfaces, iface)
}

// addInterfaces adds the sums over what counts: the interface that was named, or all adapters, or all but loopback.
func addInterfaces(set map[measure.Metric]float64, all []measure.InterfaceSample, iface string) error {
	adapters := slices.ContainsFunc(all, func(i measure.InterfaceSample) bool { return i.Adapter })
	found := false
	for _, i := range all {
		counts := i.Name == iface || iface == "" && (i.Adapter || !adapters && i.Name != "lo")
		if !counts {
			continue
		}
		found = true
		set[measure.HostReceived] += i.Received
		set[measure.HostSent] += i.Sent
		set[measure.HostReceiveErrors] += i.ReceiveErrors
		set[measure.HostReceiveDrops] += i.ReceiveDrops
		set[measure.HostSendErrors] += i.SendErrors
		set[measure.HostSendDrops] += i.SendDrops
		if i.LinkRate > 0 {
			set[measure.HostLinkRate] = max(set[measure.HostLinkRate], i.LinkRate)
		}
	}
	if iface != "" && !found {
		return noInterface(iface)
	}
	return nil
}

func noInterface(iface string) error {
	return &input.Error{Field: "iface", Value: iface, Remedy: "give an interface that this host has, such as ip link lists"}
}

// cpus are the cores that were there all the time.
func cpus(first, last procfs.Stat) []measure.CPUSample {
	var all []measure.CPUSample
	for n, c := range last.CPU {
		before, there := first.CPU[n]
		if shares, ok := cpuShares(before, c); ok && there {
			shares.CPU = int(n)
			all = append(all, shares)
		}
	}
	slices.SortFunc(all, func(a, b measure.CPUSample) int { return a.CPU - b.CPU })
	return all
}

// cpuShares are shares of the time that the kernel counted between two readings, which are in seconds. User time has
// that of virtual machines in it. ok is false where it counted none.
func cpuShares(first, last procfs.CPUStat) (shares measure.CPUSample, ok bool) {
	idle, wait := forward(first.Idle, last.Idle), forward(first.Iowait, last.Iowait)
	soft, steal := forward(first.SoftIRQ, last.SoftIRQ), forward(first.Steal, last.Steal)
	used := forward(first.User, last.User) + forward(first.Nice, last.Nice) + forward(first.System, last.System) +
		forward(first.IRQ, last.IRQ) + soft
	total := used + idle + wait + steal
	if total <= 0 {
		return shares, false
	}
	return measure.CPUSample{Busy: used / total, SoftIRQ: soft / total, IOWait: wait / total, Steal: steal / total}, true
}

// forward is how far a counter went. Idle and waiting time go back now and then by a step, which is none.
func forward[T float64 | uint64](first, last T) float64 {
	if last < first {
		return 0
	}
	return float64(last - first)
}

func disks(first, last []blockdevice.Diskstats, elapsed float64) []measure.DiskSample {
	var all []measure.DiskSample
	for _, d := range last {
		i := slices.IndexFunc(first, func(b blockdevice.Diskstats) bool { return b.DeviceName == d.DeviceName })
		if i < 0 {
			continue
		}
		b := first[i]
		all = append(all, measure.DiskSample{Name: d.DeviceName, Read: forward(b.ReadSectors, d.ReadSectors) * sector / elapsed,
			Write: forward(b.WriteSectors, d.WriteSectors) * sector / elapsed,
			Busy:  min(1, forward(b.IOsTotalTicks, d.IOsTotalTicks)/1000/elapsed)})
	}
	return all
}

func interfaces(first, last hostReading, elapsed float64) []measure.InterfaceSample {
	var all []measure.InterfaceSample
	for name, i := range last.netDev {
		b, there := first.netDev[name]
		if !there || i.RxBytes < b.RxBytes || i.TxBytes < b.TxBytes { // it went and came back
			continue
		}
		all = append(all, measure.InterfaceSample{Name: name, Adapter: last.links[name].adapter, LinkRate: last.links[name].rate,
			Received: 8 * forward(b.RxBytes, i.RxBytes) / elapsed, Sent: 8 * forward(b.TxBytes, i.TxBytes) / elapsed,
			ReceiveErrors: forward(b.RxErrors, i.RxErrors), ReceiveDrops: forward(b.RxDropped, i.RxDropped),
			SendErrors: forward(b.TxErrors, i.TxErrors), SendDrops: forward(b.TxDropped, i.TxDropped)})
	}
	slices.SortFunc(all, func(a, b measure.InterfaceSample) int { return strings.Compare(a.Name, b.Name) })
	return all
}
