package probe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/measure"
)

// Do reads the counters, waits for Interval, and reads them again. Where ctx ends before, the metrics are of what
// passed.
func (h *Host) Do(ctx context.Context) (*measure.Result, error) {
	return measured(ctx, "host", h.Target, h.measure)
}

func (h *Host) measure(ctx context.Context, r *measure.Result) error {
	setDefault(&r.Target.Name, r.Source.Name)
	if err := h.Validate(); err != nil {
		return err
	}
	all := h.withDefaults()
	r.Parameters = recorded(hostFields(), &all)
	if a, err := netip.ParseAddr(h.Target); err == nil {
		r.Source.Address, r.Target.Address = a.String(), a.String()
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return fmt.Errorf("read this host's counters: %w", err)
	}
	first, err := readHost(fs, r)
	if err != nil {
		return err
	}
	if _, there := first.netDev[all.Iface]; all.Iface != "" && !there {
		return noInterface(all.Iface)
	}
	select {
	case <-time.After(all.Interval):
	case <-ctx.Done():
	}
	last, err := readHost(fs, nil)
	if err == nil && last.at.Sub(first.at) >= hostMinInterval {
		err = fillHost(r, first, last, all.Iface)
	}
	return errors.Join(err, addLevels(fs, all.Path, r), context.Cause(ctx))
}

// readHost reads what counts up. What this kernel does not offer is noted in r, if that is not nil.
func readHost(fs procfs.FS, r *measure.Result) (now hostReading, err error) {
	now.at = time.Now()
	if now.stat, err = fs.Stat(); err != nil {
		return now, fmt.Errorf("read /proc/stat: %w", err)
	}
	if now.netDev, err = fs.NetDev(); err != nil {
		return now, fmt.Errorf("read /proc/net/dev: %w", err)
	}
	now.links = map[string]link{}
	for name := range now.netDev {
		_, err := os.Stat(filepath.Join("/sys/class/net", name, "device"))
		now.links[name] = link{adapter: err == nil, rate: linkRate(name)}
	}
	lacks := func(what string, err error) {
		if r != nil && err != nil {
			r.Note("this host does not show its " + what + ": " + err.Error())
		}
	}
	now.disks, err = readDisks()
	lacks("disks", err)
	now.tcp, err = readTCP(fs)
	lacks("TCP counters", err)
	return now, nil
}

func readDisks() ([]blockdevice.Diskstats, error) {
	fs, err := blockdevice.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	all, err := fs.ProcDiskstats()
	if err != nil {
		return nil, err
	}
	var whole []blockdevice.Diskstats
	for _, d := range all { // not partitions, nor what lies on other disks and would count twice
		if _, err := os.Stat(filepath.Join("/sys/block", d.DeviceName, "device")); err == nil {
			whole = append(whole, d)
		}
	}
	return whole, nil
}

func readTCP(fs procfs.FS) (c tcpCounts, err error) {
	self, err := fs.Self() // the counters are of the network namespace that this process is in
	if err != nil {
		return c, err
	}
	snmp, err := self.Snmp()
	if err != nil {
		return c, err
	}
	c.sent, c.retransmitted = snmp.OutSegs, snmp.RetransSegs
	netstat, err := self.Netstat()
	c.listenDrops = netstat.ListenDrops
	return c, err
}

// addLevels adds what is not counted but is what it is: load, memory, buffers, space.
func addLevels(fs procfs.FS, path string, r *measure.Result) error {
	if load, err := fs.LoadAvg(); err == nil {
		if stat, err := fs.Stat(); err == nil && len(stat.CPU) > 0 {
			r.Metrics[measure.HostLoad] = load.Load1 / float64(len(stat.CPU))
		}
	}
	if m, err := fs.Meminfo(); err == nil {
		if m.MemAvailableBytes != nil && m.MemTotalBytes != nil {
			r.Metrics[measure.HostMemoryAvailable] = float64(*m.MemAvailableBytes)
			r.Metrics[measure.HostMemoryAvailableRatio] = float64(*m.MemAvailableBytes) / float64(*m.MemTotalBytes)
		}
		if m.SwapTotalBytes != nil && m.SwapFreeBytes != nil {
			r.Metrics[measure.HostSwapUsed] = float64(*m.SwapTotalBytes - *m.SwapFreeBytes)
		}
	}
	addTCPLevels(fs, r.Metrics)
	return addSpace(path, r.Metrics)
}

func addTCPLevels(fs procfs.FS, set map[measure.Metric]float64) {
	third := func(name string, m measure.Metric) {
		if v, err := fs.SysctlInts(name); err == nil && len(v) == 3 {
			set[m] = float64(v[2])
		}
	}
	third("net.ipv4.tcp_rmem", measure.HostTCPReceiveMax)
	third("net.ipv4.tcp_wmem", measure.HostTCPSendMax)
	stat, err := fs.NetSockstat()
	if err != nil {
		return
	}
	sockets := 0
	for _, p := range stat.Protocols {
		if p.Protocol != "TCP" {
			continue
		}
		sockets += p.InUse
		if p.Mem != nil { // pages, of both IP versions
			set[measure.HostTCPMemory] = float64(*p.Mem * os.Getpagesize())
			if limits, err := fs.SysctlInts("net.ipv4.tcp_mem"); err == nil && len(limits) == 3 && limits[1] > 0 {
				set[measure.HostTCPMemoryRatio] = float64(*p.Mem) / float64(limits[1])
			}
		}
	}
	if stat6, err := fs.NetSockstat6(); err == nil {
		for _, p := range stat6.Protocols {
			if p.Protocol == "TCP6" {
				sockets += p.InUse
			}
		}
	}
	set[measure.HostTCPSockets] = float64(sockets)
}

func addSpace(path string, set map[measure.Metric]float64) error {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return fmt.Errorf("read the free space of %s: %w", path, err)
	}
	set[measure.HostDiskFree] = float64(s.Bavail) * float64(s.Bsize)
	if s.Blocks > 0 {
		set[measure.HostDiskFreeRatio] = float64(s.Bavail) / float64(s.Blocks)
	}
	if s.Files > 0 { // some file systems have no fixed number
		set[measure.HostInodesFreeRatio] = float64(s.Ffree) / float64(s.Files)
	}
	return nil
}

// linkRate is how fast an interface's link is, in bit/s, where its driver says it; 0: it does not.
func linkRate(name string) float64 {
	text, err := os.ReadFile(filepath.Join("/sys/class/net", name, "speed"))
	if err != nil {
		return 0
	}
	const mega = 1e6
	megabits, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil || megabits < 0 { // -1: not known
		return 0
	}
	return megabits * mega
}
