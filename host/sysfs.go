package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// addSysfs adds what only files say of a link. /sys may be of another network namespace than this process, as in a container or a lab:
// then the interface of that name, if there is one, has another index or address, and nothing is taken of it.
func (s System) addSysfs(l *Link) {
	folder := "sys/class/net/" + l.Name + "/"
	if strings.ContainsAny(l.Name, "/") || s.word(folder+"ifindex") != strconv.Itoa(l.Index) ||
		l.Address != "" && s.word(folder+"address") != l.Address {
		return
	}
	if text, err := s.read(folder + "device/uevent"); err == nil {
		l.Adapter, l.Driver = true, parseDriver(text)
	}
	l.PCIe = pciRate(s.word(folder+"device/current_link_speed"), s.word(folder+"device/current_link_width"))
}

// word is the first of a file; "" where there is none.
func (s System) word(name string) string {
	text, _ := s.read(name)
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return first
}

// parseDriver finds DRIVER=NAME among the lines that a device has for programs.
func parseDriver(text string) string {
	for line := range lines(text) {
		if name, is := strings.CutPrefix(line, "DRIVER="); is {
			return name
		}
	}
	return ""
}

// pciRate is what a slot carries, in bit/s: so many transfers a second on each lane, of ten bits for each byte up to 5 GT/s, and of 130 for
// 16 from then on (PCI Express base specification 3.0 section 4.2). Without numbers it is 0.
func pciRate(transfers, lanes string) float64 {
	const oldest, each = 5, 1e9 // GT/s
	t, err := strconv.ParseFloat(transfers, 64)
	n, errLanes := strconv.ParseFloat(lanes, 64)
	switch {
	case err != nil || errLanes != nil || !(t > 0) || !(n > 0):
		return 0
	case t <= oldest:
		return t * n * each * 8 / 10
	}
	return t * n * each * 128 / 130
}

// processors are those that have a folder of their own and run.
func (s System) processors() []Processor {
	const folder = "sys/devices/system/cpu/"
	entries, err := os.ReadDir(s.path(folder))
	if err != nil {
		return nil
	}
	var all []Processor
	for _, e := range entries {
		number, is := strings.CutPrefix(e.Name(), "cpu")
		n, err := strconv.Atoi(number)
		if !is || err != nil || s.word(folder+e.Name()+"/online") == "0" {
			continue
		}
		frequency := func(name string) float64 {
			v, _ := strconv.ParseFloat(s.word(folder+e.Name()+"/cpufreq/"+name), 64)
			return v * kilo
		}
		all = append(all, Processor{Number: n, Governor: s.word(folder + e.Name() + "/cpufreq/scaling_governor"),
			MaxHertz: frequency("cpuinfo_max_freq"), LimitHertz: frequency("scaling_max_freq")})
	}
	slices.SortFunc(all, func(a, b Processor) int { return a.Number - b.Number })
	return all
}

// readTime adds to what the kernel says of its clock where time stamps come from.
func (s System) readTime() (TimeFacts, error) {
	t, err := s.Clock()
	const folder = "sys/devices/system/clocksource/clocksource0/"
	t.Source = s.word(folder + "current_clocksource")
	available, _ := s.read(folder + "available_clocksource")
	t.Available = strings.Fields(available)
	return t, err
}

// interrupts are those of the links' adapters: by the numbers that a device's folder lists, or that of the bus above it, or by name.
func (s System) interrupts(links []Link) []Interrupt {
	text, err := s.read("proc/interrupts")
	if err != nil {
		return nil
	}
	all := parseInterrupts(text)
	for _, l := range links {
		if !l.Adapter {
			continue
		}
		folder := s.path("sys/class/net/" + l.Name + "/device")
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		numbers := folderNames(folder + "/msi_irqs")
		device := filepath.Base(folder) // virtio's interrupts begin with its name, such as virtio2-input.0
		for i := range all {
			name := all[i].Interface // until here that of the interrupt
			if slices.Contains(numbers, strconv.Itoa(all[i].Number)) || begins(name, l.Name) || begins(name, device) && !strings.HasSuffix(name, "-config") {
				all[i].Interface, all[i].matched = l.Name, true
			}
		}
	}
	return slices.DeleteFunc(all, func(i Interrupt) bool { return !i.matched })
}

// begins says that a name is another, or that other and more behind a mark.
func begins(name, with string) bool {
	rest, is := strings.CutPrefix(name, with)
	return is && (rest == "" || strings.ContainsAny(rest[:1], "-@:."))
}

func folderNames(folder string) (all []string) {
	entries, _ := os.ReadDir(folder) // most devices have none
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// parseInterrupts reads /proc/interrupts: in each line a number, a count for each processor, and names, of which the last is of the device.
func parseInterrupts(text string) []Interrupt {
	var all []Interrupt
	processors := 0
	for line := range lines(text) {
		fields := strings.Fields(line)
		if processors == 0 {
			processors = len(fields)
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(fields[0], ":"))
		if err != nil || len(fields) < processors+2 {
			continue // NMI and its like are of processors
		}
		one := Interrupt{Number: n, Interface: fields[len(fields)-1]}
		for _, f := range fields[1 : processors+1] {
			count, err := strconv.ParseUint(f, 10, 64)
			if err != nil {
				break
			}
			one.Counts = append(one.Counts, count)
		}
		if len(one.Counts) == processors {
			all = append(all, one)
		}
	}
	return all
}
