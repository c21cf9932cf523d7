package host

import (
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/sock"
)

// counters reads all that the kernel counts and that an Item looks at.
func (s System) counters(n Network) map[string]uint64 {
	all := map[string]uint64{}
	for _, one := range []struct {
		file  string
		parse func(string) map[string]uint64
	}{
		{"proc/net/snmp", sock.ParseNetstat},
		{"proc/net/netstat", sock.ParseNetstat},
		{"proc/net/softnet_stat", parseSoftnet},
		{"proc/stat", parseStat},
		{"proc/vmstat", parseVMStat},
	} {
		if text, err := s.read(one.file); err == nil {
			for name, value := range one.parse(text) {
				all[name] = value
			}
		}
	}
	for _, l := range n.Links {
		for name, value := range l.Counts {
			all["link."+l.Name+"."+name] = value
		}
		for _, q := range l.Qdiscs {
			all["qdisc."+l.Name+".dropped"] += q.Drops
		}
	}
	return all
}

// Columns of /proc/net/softnet_stat, in hexadecimal (net/core/net-procfs.c softnet_seq_show): what was processed, what was dropped as
// the queue of the processor was full, and how often its time was over before its queue was empty.
var softnetColumns = []string{"processed", "dropped", "squeezed"}

// parseSoftnet gives softnet.CPU.COLUMN. Newer kernels name the processor in the 13th column; others have one line for each.
func parseSoftnet(text string) map[string]uint64 {
	const processor = 12
	all := map[string]uint64{}
	line := uint64(0)
	for row := range lines(text) {
		fields := strings.Fields(row)
		cpu := line
		if len(fields) > processor {
			if n, err := strconv.ParseUint(fields[processor], 16, 32); err == nil {
				cpu = n
			}
		}
		for i, name := range softnetColumns {
			if i >= len(fields) {
				break
			}
			if n, err := strconv.ParseUint(fields[i], 16, 64); err == nil {
				all["softnet."+strconv.FormatUint(cpu, 10)+"."+name] = n
			}
		}
		line++
	}
	return all
}

// Columns of a processor in /proc/stat (proc_stat(5)).
var statColumns = []string{"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"}

// parseStat gives cpu.N.COLUMN in ticks for each processor.
func parseStat(text string) map[string]uint64 {
	all := map[string]uint64{}
	for line := range lines(text) {
		fields := strings.Fields(line)
		number, is := strings.CutPrefix(fields[0], "cpu")
		if _, err := strconv.ParseUint(number, 10, 32); !is || err != nil {
			continue
		}
		for i, name := range statColumns {
			if i+1 >= len(fields) {
				break
			}
			if n, err := strconv.ParseUint(fields[i+1], 10, 64); err == nil {
				all["cpu."+number+"."+name] = n
			}
		}
	}
	return all
}

// parseVMStat gives vm.NAME.
func parseVMStat(text string) map[string]uint64 { return sock.ParseNamed(text, "vm.") }
