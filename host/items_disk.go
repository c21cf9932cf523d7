package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
)

// diskItems are how files are read and written.
var diskItems = []Item{
	{ID: "mount-times", Title: "Times of access that are written to disk", Area: Disk, Reads: "/proc/self/mounts", find: mounts(accessTimes),
		Means:  "With strict access times each file that is read is written to as well.",
		Source: "PERT guide (2005), noatime"},
	{ID: "mount-writes", Title: "Writes that wait for the disk", Area: Disk, Reads: "/proc/self/mounts", find: mounts(synchronous),
		Means: "With sync each write waits for the disk."},
	{ID: "mount-drift", Title: "A file system that is not mounted as its file says", Area: Disk, Reads: "/proc/self/mounts, /etc/fstab", find: mountDrift,
		Means: "A file system is mounted otherwise than /etc/fstab says; at the next start that changes."},
	{ID: "disk-space", Title: "Room on a file system", Area: Disk, Reads: "statfs(2)", find: mounts(space),
		Means: "File systems that are nearly full scatter what is written."},
	{ID: "read-ahead", Title: "How much of a file is read ahead", Area: Disk, Reads: "/sys/block/NAME/queue/read_ahead_kb", find: disks(readAhead),
		Means:   "How much of a file is read before it is asked for, which hides the time that a disk takes to answer.",
		Formula: "rate × 1 ms (10 ms where the disk turns), from 128 KiB to 16 MiB", Source: practice},
	{ID: "disk-scheduler", Title: "How requests to a disk are sorted", Area: Disk, Reads: "/sys/block/NAME/queue/scheduler", find: disks(scheduler),
		Means: "A disk that turns needs its requests sorted; one that does not only waits for it.", Source: "Linux, Documentation/block"},
	{ID: "disk-rate", Title: "How fast files are written and read", Area: Disk, Reads: "a file that was written and read for the purpose", find: diskRate,
		Means: "How fast files are written and read here, when that was asked for.", Formula: "rate", Source: "a file cannot be sent faster than it is read"},
}

// mounts looks at each file system that lies on a disk, and disks at each disk.
func mounts(look func(Mount, Need) []seen) func(*Facts, Need) []seen {
	return each(func(f *Facts) []Mount { return f.Mounts }, func(m Mount) string { return m.Path }, look)
}

func disks(look func(DiskFacts, Need) []seen) func(*Facts, Need) []seen {
	return each(func(f *Facts) []DiskFacts { return f.Disks }, func(d DiskFacts) string { return d.Name }, look)
}

// each looks at several things of a kind by themselves: what is seen is of the one that has the name.
func each[T any](all func(*Facts) []T, name func(T) string, look func(T, Need) []seen) func(*Facts, Need) []seen {
	return func(f *Facts, n Need) (found []seen) {
		for _, one := range all(f) {
			for _, s := range look(one, n) {
				s.subject = name(one)
				found = append(found, s)
			}
		}
		return found
	}
}

// accessTimes: the kernel shows relatime or noatime, or nothing of the two where times are strict.
func accessTimes(m Mount, _ Need) []seen {
	for _, o := range []string{"noatime", "relatime", "ro"} {
		if slices.Contains(m.Options, o) {
			return []seen{{value: o, needed: "relatime or noatime"}}
		}
	}
	return []seen{{value: "strictatime", needed: "relatime or noatime", status: Warning, command: "mount -o remount,noatime " + m.Path,
		keep: "noatime among the options of " + m.Path + " in /etc/fstab"}}
}

func synchronous(m Mount, _ Need) []seen {
	if !slices.Contains(m.Options, "sync") {
		return []seen{{value: "async", needed: "async"}}
	}
	return []seen{{value: "sync", needed: "async", status: Problem, command: "mount -o remount,async " + m.Path,
		keep: "no sync among the options of " + m.Path + " in /etc/fstab"}}
}

func space(m Mount, _ Need) []seen {
	const little, none = 0.05, 0.01
	if m.Size == 0 {
		return nil
	}
	share := m.Free / m.Size
	s := seen{value: fmt.Sprintf("%.0f %% free", 100*share), needed: "at least 5 %"}
	switch {
	case share < none:
		s.status = Problem
	case share < little:
		s.status = Warning
	}
	return []seen{s}
}

// looked are the options of which both /etc/fstab and the kernel speak.
var looked = []string{"noatime", "relatime", "sync", "ro", "discard"}

func mountDrift(f *Facts, _ Need) []seen {
	var all []seen
	same := 0
	for _, want := range f.Fstab {
		i := slices.IndexFunc(f.Mounts, func(m Mount) bool { return m.Path == want.Path })
		if i < 0 {
			continue // not mounted, or not on a disk
		}
		var lacks []string
		for _, o := range looked {
			if slices.Contains(want.Options, o) && !slices.Contains(f.Mounts[i].Options, o) {
				lacks = append(lacks, o)
			}
		}
		if same++; len(lacks) > 0 {
			all = append(all, seen{subject: want.Path, value: "without " + strings.Join(lacks, ","), needed: "as in /etc/fstab", status: Warning,
				command: "mount -o remount " + want.Path})
		}
	}
	if len(all) == 0 && same > 0 {
		return []seen{{value: fmt.Sprintf("%d as configured", same), needed: "as in /etc/fstab"}}
	}
	return all
}

func readAhead(d DiskFacts, n Need) []seen {
	const bits, solid, turning, least, most, kibi = 8, 1e-3, 10e-3, 128 << 10, 16 << 20, 1024
	latency := solid
	if d.Rotational {
		latency = turning
	}
	want := min(max(n.Rate*latency/bits, least), most)
	s := seen{value: quantity.FormatBinarySize(int64(d.ReadAhead)), needed: "at least " + quantity.FormatBinarySize(int64(want))}
	if float64(d.ReadAhead) < want {
		s.status, s.changes = Warning, []Change{{File: "sys/block/" + d.Name + "/queue/read_ahead_kb", To: number(whole(want / kibi))}}
		s.keep = `ACTION=="add|change", KERNEL=="` + d.Name + `", ATTR{queue/read_ahead_kb}="` + s.changes[0].To + `" in /etc/udev/rules.d/90-pathwise.rules`
	}
	return []seen{s}
}

func scheduler(d DiskFacts, _ Need) []seen {
	s := seen{value: d.Scheduler, needed: "none, mq-deadline or kyber"}
	if d.Scheduler == "" {
		return nil
	}
	if d.Rotational {
		s.needed = "mq-deadline or bfq"
		if d.Scheduler == "none" {
			s.status, s.command = Warning, "echo mq-deadline > /sys/block/"+d.Name+"/queue/scheduler"
		}
	} else if d.Scheduler == "bfq" {
		s.status, s.command = Warning, "echo none > /sys/block/"+d.Name+"/queue/scheduler"
	}
	if s.status != "" {
		s.keep = `ATTR{queue/scheduler} for KERNEL=="` + d.Name + `" in /etc/udev/rules.d/90-pathwise.rules`
	}
	return []seen{s}
}

// diskRate is known only where a caller asked for it. Of large blocks the path's rate is wanted; of small ones none is: how many files a transfer has
// to open nobody knows here.
func diskRate(f *Facts, n Need) (all []seen) {
	for _, r := range f.DiskRates {
		s := seen{subject: strconv.Quote(r.Path) + " " + r.What, value: quantity.FormatRate(r.Rate), needed: "at least " + quantity.FormatRate(n.Rate)}
		switch {
		case r.PerSecond > 0:
			s.value, s.needed = fmt.Sprintf("%s, %.0f a second of 4 KiB", s.value, r.PerSecond), ""
		case r.Rate < n.Rate:
			s.status, s.command = Warning, "a faster disk, several at once, or larger blocks"
		}
		all = append(all, s)
	}
	return all
}
