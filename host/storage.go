package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// storage are the file systems that lie on disks, and those disks.
func (s System) storage() (mounted []Mount, disks []DiskFacts) {
	text, err := s.read("proc/self/mounts")
	if err != nil {
		return nil, nil
	}
	blocks := folderNames(s.path("sys/block"))
	for _, m := range parseMounts(text) {
		name, onDisk := strings.CutPrefix(m.Device, "/dev/")
		if !onDisk || m.Type == "squashfs" || slices.ContainsFunc(mounted, func(o Mount) bool { return o.Device == m.Device }) {
			continue // a picture of a disk, or a second look at the same one
		}
		if free, size, err := s.Space(m.Path); err == nil {
			m.Free, m.Size = free, size
		}
		m.Disk = s.diskOf(name, blocks)
		mounted = append(mounted, m)
		if m.Disk != "" && !slices.ContainsFunc(disks, func(d DiskFacts) bool { return d.Name == m.Disk }) {
			disks = append(disks, s.disk(m.Disk))
		}
	}
	return mounted, disks
}

// diskOf is the disk that a device is, or is a part of; "" where it is neither, such as a volume over several.
func (s System) diskOf(device string, blocks []string) string {
	if slices.Contains(blocks, device) {
		return device
	}
	for _, b := range blocks {
		if _, err := os.Stat(s.path(filepath.Join("sys/block", b, filepath.Base(device)))); err == nil {
			return b
		}
	}
	return ""
}

func (s System) disk(name string) DiskFacts {
	const kibi = 1024
	folder := "sys/block/" + name + "/queue/"
	ahead, _ := strconv.Atoi(s.word(folder + "read_ahead_kb"))
	schedulers, _ := s.read(folder + "scheduler")
	return DiskFacts{Name: name, Rotational: s.word(folder+"rotational") == "1", ReadAhead: ahead * kibi, Scheduler: chosen(schedulers)}
}

// chosen is the word in brackets, such as in "mq-deadline kyber [none]"; or the only one.
func chosen(text string) string {
	if _, after, is := strings.Cut(text, "["); is {
		word, _, _ := strings.Cut(after, "]")
		return word
	}
	if words := strings.Fields(text); len(words) == 1 {
		return words[0]
	}
	return ""
}

// fstab are the file systems as they are configured.
func (s System) fstab() []Mount {
	text, err := s.read("etc/fstab")
	if err != nil {
		return nil
	}
	return parseMounts(text)
}

// parseMounts reads lines of a device, a path, a type and options (fstab(5), /proc/self/mounts). Spaces in names stand as \040.
func parseMounts(text string) []Mount {
	var all []Mount
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || strings.HasPrefix(line, "#") {
			continue
		}
		all = append(all, Mount{Device: unescape.Replace(fields[0]), Path: unescape.Replace(fields[1]), Type: fields[2],
			Options: strings.Split(fields[3], ",")})
	}
	return all
}

// parseMemory reads lines of a name and a size in KiB (/proc/meminfo).
func parseMemory(text string) map[string]float64 {
	const kibi = 1024
	all := map[string]float64{}
	for line := range lines(text) {
		name, rest, _ := strings.Cut(line, ":")
		value, unit, _ := strings.Cut(strings.TrimSpace(rest), " ")
		if n, err := strconv.ParseUint(value, 10, 53); err == nil && unit == "kB" {
			all[name] = kibi * float64(n)
		}
	}
	return all
}

// parseSockets reads lines of a protocol and pairs of a name and a number (/proc/net/sockstat): TCP.inuse.
func parseSockets(text string) map[string]uint64 {
	all := map[string]uint64{}
	for line := range lines(text) {
		protocol, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		for i := 0; i+1 < len(fields); i += 2 {
			if n, err := strconv.ParseUint(fields[i+1], 10, 64); err == nil {
				all[protocol+"."+fields[i]] = n
			}
		}
	}
	return all
}
