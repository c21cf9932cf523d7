package sock

import (
	"maps"
	"strconv"
	"strings"
)

// Counts are what a machine's kernel has counted, for all programs together, under the kernel's own names: of /proc/net/snmp, snmp6 and
// netstat with their group, such as Tcp.InCsumErrors or Udp6InCsumErrors; of an interface (rtnetlink's
// statistics) link.rx_crc_errors and the like.
type Counts map[string]uint64

// Since returns what was counted after earlier. A count that did not rise is left out, and so is one that began anew.
func (c Counts) Since(earlier Counts) Counts {
	more := maps.Clone(c)
	for name, now := range more {
		if before, known := earlier[name]; !known || now <= before {
			delete(more, name)
		} else {
			more[name] = now - before
		}
	}
	return more
}

// ParseNetstat reads pairs of lines, of names and of values, each with its group before it, as /proc/net/snmp and netstat have them:
// TcpExt.ListenDrops. Values below zero, which are settings and no counts, are left out.
func ParseNetstat(text string) map[string]uint64 {
	all := map[string]uint64{}
	var names []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			continue
		case len(names) != len(fields) || names[0] != fields[0]:
			names = fields
			continue
		}
		group := strings.TrimSuffix(fields[0], ":")
		for i := 1; i < len(fields); i++ {
			if n, err := strconv.ParseUint(fields[i], 10, 64); err == nil {
				all[group+"."+names[i]] = n
			}
		}
		names = nil
	}
	return all
}

// ParseNamed reads lines of a name and a number, as /proc/net/snmp6 and /proc/vmstat have them, and puts prefix before each name.
func ParseNamed(text, prefix string) map[string]uint64 {
	all := map[string]uint64{}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 2 {
			if n, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				all[prefix+fields[0]] = n
			}
		}
	}
	return all
}
