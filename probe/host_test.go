package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/pathwise-net/pathwise/measure"
)

// reading is what a host of two cores, two disks and four interfaces has counted, n times over.
func reading(n float64) hostReading {
	disk := func(name string, read, write, busy uint64) blockdevice.Diskstats {
		return blockdevice.Diskstats{Info: blockdevice.Info{DeviceName: name},
			IOStats: blockdevice.IOStats{ReadSectors: read * uint64(n), WriteSectors: write * uint64(n), IOsTotalTicks: busy * uint64(n)}}
	}
	counts := func(bytes uint64) procfs.NetDevLine {
		bytes *= uint64(n)
		return procfs.NetDevLine{RxBytes: bytes, TxBytes: 2 * bytes, RxErrors: uint64(n), RxDropped: 2 * uint64(n), TxErrors: 3 * uint64(n), TxDropped: 4 * uint64(n)}
	}
	one := procfs.CPUStat{User: 0.5 * n, System: 0.25 * n, SoftIRQ: 0.25 * n, Idle: 0.5 * n, Iowait: 0.25 * n, Steal: 0.25 * n, Guest: 0.5 * n}
	two := procfs.CPUStat{Nice: 0.125 * n, IRQ: 0.125 * n, Idle: 1.75 * n}
	return hostReading{
		at: time.Unix(100, 0).Add(time.Duration(2 * n * float64(time.Second))),
		stat: procfs.Stat{CPU: map[int64]procfs.CPUStat{0: one, 1: two}, CPUTotal: procfs.CPUStat{User: 0.5 * n, System: 0.25 * n, SoftIRQ: 0.25 * n,
			Nice: 0.125 * n, IRQ: 0.125 * n, Idle: 2.25 * n, Iowait: 0.25 * n, Steal: 0.25 * n}},
		disks:  []blockdevice.Diskstats{disk("sda", 4000, 8000, 500), disk("sdb", 4000, 0, 1000)},
		netDev: procfs.NetDev{"lo": counts(1e9), "eth0": counts(1e6), "eth1": counts(2e6), "br0": counts(1e6)},
		links:  map[string]link{"eth0": {true, 1e9}, "eth1": {true, 10e9}},
		tcp:    tcpCounts{sent: new(1000 * n), retransmitted: new(10 * n)},
	}
}

func TestFillHost(t *testing.T) {
	common := map[measure.Metric]float64{
		measure.HostCPU: 1.25 / 4, measure.HostCPUMax: 0.5, measure.HostCPUSoftIRQ: 0.25 / 4, measure.HostCPUIOWait: 0.25 / 4, measure.HostCPUSteal: 0.25 / 4,
		measure.HostDiskRead: 8000 * 512 / 2, measure.HostDiskWrite: 8000 * 512 / 2, measure.HostDiskBusy: 0.5,
		measure.HostTCPSent: 1000, measure.HostTCPRetransmits: 10,
	}
	cases := []struct {
		name, iface string
		change      func(first, last *hostReading)
		want        map[measure.Metric]float64 // of the interfaces
	}{
		{"all adapters", "", nil, map[measure.Metric]float64{measure.HostReceived: 12e6, measure.HostSent: 24e6, measure.HostLinkRate: 10e9,
			measure.HostReceiveErrors: 2, measure.HostReceiveDrops: 4, measure.HostSendErrors: 6, measure.HostSendDrops: 8}},
		{"one interface", "br0", nil, map[measure.Metric]float64{measure.HostReceived: 4e6, measure.HostSent: 8e6,
			measure.HostReceiveErrors: 1, measure.HostReceiveDrops: 2, measure.HostSendErrors: 3, measure.HostSendDrops: 4}},
		{"no adapters", "", func(_, last *hostReading) { last.links = nil }, map[measure.Metric]float64{measure.HostReceived: 16e6, measure.HostSent: 32e6,
			measure.HostReceiveErrors: 3, measure.HostReceiveDrops: 6, measure.HostSendErrors: 9, measure.HostSendDrops: 12}},
		{"an adapter that came, and one that began anew", "", func(first, last *hostReading) {
			delete(first.netDev, "eth0")
			last.netDev["eth1"] = procfs.NetDevLine{}
		}, map[measure.Metric]float64{measure.HostReceived: 4e6, measure.HostSent: 8e6, measure.HostReceiveErrors: 1, measure.HostReceiveDrops: 2,
			measure.HostSendErrors: 3, measure.HostSendDrops: 4}},
	}
	for _, c := range cases {
		first, last := reading(1), reading(2)
		if c.change != nil {
			c.change(&first, &last)
		}
		r := measure.NewResult("host", time.Now())
		if err := fillHost(r, first, last, c.iface); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		want := map[measure.Metric]float64{}
		for _, m := range []map[measure.Metric]float64{common, c.want} {
			for k, v := range m {
				want[k] = v
			}
		}
		if diff := cmp.Diff(want, r.Metrics, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	r := measure.NewResult("host", time.Now())
	if err := fillHost(r, reading(1), reading(2), "eth7"); err == nil || !blamesCaller(err) {
		t.Errorf("an interface that is not there: %v", err)
	}
}

func TestHostSamples(t *testing.T) {
	r := measure.NewResult("host", time.Now())
	if err := fillHost(r, reading(1), reading(2), "eth0"); err != nil {
		t.Fatal(err)
	}
	link := func(name string, adapter bool, rate, received float64) measure.InterfaceSample {
		return measure.InterfaceSample{Name: name, Adapter: adapter, Received: received, Sent: 2 * received, ReceiveErrors: 1, ReceiveDrops: 2,
			SendErrors: 3, SendDrops: 4, LinkRate: rate}
	}
	want := &measure.HostSample{
		CPUs:       []measure.CPUSample{{CPU: 0, Busy: 0.5, SoftIRQ: 0.125, IOWait: 0.125, Steal: 0.125}, {CPU: 1, Busy: 0.125}},
		Disks:      []measure.DiskSample{{Name: "sda", Read: 1024e3, Write: 2048e3, Busy: 0.25}, {Name: "sdb", Read: 1024e3, Busy: 0.5}},
		Interfaces: []measure.InterfaceSample{link("br0", false, 0, 4e6), link("eth0", true, 1e9, 4e6), link("eth1", true, 10e9, 8e6), link("lo", false, 0, 4e9)},
	}
	if diff := cmp.Diff(want, r.Samples.Host, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
}

// Waiting time that goes back, as the kernel warns, makes no share negative; no time at all makes none.
func TestCPUShares(t *testing.T) {
	got, ok := cpuShares(procfs.CPUStat{Idle: 5, Iowait: 3}, procfs.CPUStat{Idle: 6, Iowait: 2, User: 1})
	if want := (measure.CPUSample{Busy: 0.5}); !ok || got != want {
		t.Errorf("got %+v, %v; want %+v", got, ok, want)
	}
	if _, ok := cpuShares(procfs.CPUStat{Idle: 5}, procfs.CPUStat{Idle: 5}); ok {
		t.Error("shares of no time")
	}
}
