package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// cpuItems are what processors do, and how fast they may.
var cpuItems = []Item{
	{ID: "governor", Title: "How the frequency of a processor is chosen", Area: CPU, Reads: "/sys/devices/system/cpu/cpuN/cpufreq/scaling_governor", find: governor,
		Means: "How the kernel chooses a processor's frequency. One that saves power is slow when packets come after a pause.", Source: practice},
	{ID: "frequency-limit", Title: "The highest frequency of a processor", Area: CPU, Reads: "/sys/devices/system/cpu/cpuN/cpufreq/scaling_max_freq", find: frequency,
		Means: "The highest frequency that a processor may take, against what it can."},
	{ID: "processor-busy", Title: "A processor that is busy", Area: CPU, Reads: "/proc/stat", find: busiest("busy", 0.95),
		Means: "One connection is handled by one processor at each step: when that one is busy, others that are idle do not help."},
	{ID: "processor-softirq", Title: "A processor that is busy with packets", Area: CPU, Reads: "/proc/stat", find: busiest("softirq", 0.8),
		Means: "What a processor spends on packets before any program sees them."},
	{ID: "processor-stolen", Title: "Processor time that the hypervisor gave to others", Area: CPU, Reads: "/proc/stat", find: busiest("steal", 0.05),
		Means: "Time in which the hypervisor let other machines run."},
	{ID: "cipher", Title: "How fast one core encrypts", Area: CPU, Reads: "tried here, on one core", find: ciphers,
		Means: "How fast one core encrypts, which a secure transfer does to each byte.", Formula: "rate", Source: "RFC 8446"},
	{ID: "crypto-rate", Title: "What ciphers and digests cost a processor", Area: CPU, Reads: "tried here, on one core, when that was asked for", find: cryptoRate,
		Means:   "How fast one core encrypts what is sent, or proves what was copied; and how many cores the rate takes.",
		Formula: "rate / rate of one core", Source: "a stream is encrypted, and a file is proven, in one thread by most programs"},
}

// governor wants one that does not save power. A processor whose frequency is not the kernel's to choose has none.
func governor(f *Facts, _ Need) []seen {
	s := seen{needed: "performance"}
	var names []string
	for _, c := range f.CPUs {
		if c.Governor == "" {
			continue
		}
		if !slices.Contains(names, c.Governor) {
			names = append(names, c.Governor)
		}
		if c.Governor != "performance" {
			s.status = Warning
			s.changes = append(s.changes, Change{To: "performance",
				File: fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", c.Number)})
		}
	}
	if len(names) == 0 {
		return nil
	}
	if s.value = strings.Join(names, " "); s.status != "" {
		s.command, s.keep = "cpupower frequency-set -g performance", "GOVERNOR=performance in /etc/default/cpufrequtils, or a unit of systemd"
	}
	return []seen{s}
}

func frequency(f *Facts, _ Need) []seen {
	const nearly = 0.95
	s := seen{needed: "what it can"}
	known := false
	for _, c := range f.CPUs {
		if c.MaxHertz == 0 || c.LimitHertz == 0 {
			continue
		}
		if known = true; c.LimitHertz < nearly*c.MaxHertz {
			s.status = Warning
			s.changes = append(s.changes, Change{To: number(c.MaxHertz / kilo),
				File: fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", c.Number)})
			s.value = fmt.Sprintf("%.2f of %.2f GHz", c.LimitHertz/giga, c.MaxHertz/giga)
		}
	}
	if !known {
		return nil
	}
	if s.status == "" {
		s.value = "what it can"
	} else {
		s.command = "cpupower frequency-set -u " + number(f.CPUs[0].MaxHertz/kilo) + "kHz"
	}
	return []seen{s}
}

const (
	kilo = 1e3 // files of frequencies are in kHz
	giga = 1e9
)

// busiest looks at the processor that has most of a kind of time between the two readings. busy is all but idle and waiting.
func busiest(kind string, most float64) func(*Facts, Need) []seen {
	return func(f *Facts, _ Need) []seen {
		share, which := 0.0, -1
		for _, c := range f.CPUs {
			sum, part := 0.0, 0.0
			for _, column := range statColumns {
				moved := float64(f.Counters[fmt.Sprintf("cpu.%d.%s", c.Number, column)].Moved())
				sum += moved
				if column == kind || kind == "busy" && column != "idle" && column != "iowait" {
					part += moved
				}
			}
			if sum > 0 && (which < 0 || part/sum > share) {
				share, which = part/sum, c.Number
			}
		}
		if which < 0 {
			return nil
		}
		s := seen{value: fmt.Sprintf("%.0f %% of processor %d", 100*share, which), needed: fmt.Sprintf("under %.0f %%", 100*most)}
		if share >= most {
			s.status, s.command = Warning, "look with top who it is"
		}
		return []seen{s}
	}
}

// ciphers wants one of those that transfers use to be as fast as the path.
func ciphers(f *Facts, n Need) []seen {
	var names []string
	fastest := 0.0
	for _, c := range f.Ciphers {
		names = append(names, c.Name+" "+quantity.FormatRate(c.Rate))
		if c.Name != digest {
			fastest = max(fastest, c.Rate)
		}
	}
	if len(names) == 0 {
		return nil
	}
	s := seen{value: strings.Join(names, ", "), needed: "at least " + quantity.FormatRate(n.Rate)}
	if fastest < n.Rate {
		s.status, s.command = Warning, "several connections at once, each on a core of its own"
	}
	return []seen{s}
}

// cryptoRate is known only where a caller asked for it: how many cores the path's rate takes. One is what most programs have.
func cryptoRate(f *Facts, n Need) (all []seen) {
	for _, c := range f.Transfer {
		if c.Rate <= 0 {
			continue
		}
		cores := n.Rate / c.Rate
		s := seen{subject: c.Name, value: fmt.Sprintf("%s a core, %.2g cores for the rate", quantity.FormatRate(c.Rate), cores), needed: "at most 1 core"}
		if cores > 1 {
			s.status, s.command = Warning, "another cipher or digest, or several connections, each on a core of its own"
		}
		all = append(all, s)
	}
	return all
}
