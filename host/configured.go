package host

import (
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// configuredLinks are what files make of interfaces, under mtu.NAME and queue-length.NAME: those of systemd (systemd.network(5),
// systemd.link(5)), of NetworkManager and of ifupdown (interfaces(5)).
func (s System) configuredLinks(links []Link) map[string]Configured {
	all := map[string]Configured{}
	add := func(name, key, value, file string) {
		if value != "" && slices.ContainsFunc(links, func(l Link) bool { return l.Name == name }) {
			all[key+"."+name] = Configured{Value: value, File: "/" + file}
		}
	}
	for _, folder := range []string{"usr/lib/systemd/network", "run/systemd/network", "etc/systemd/network"} {
		found := s.sectioned(folder, ".network", ".link")
		for _, file := range slices.Backward(slices.Sorted(maps.Keys(found))) { // the first that matches counts
			sections := found[file]
			for name := range strings.FieldsSeq(sections["Match.Name"] + " " + sections["Match.OriginalName"]) {
				add(name, "mtu", sections["Link.MTUBytes"], file)
				add(name, "queue-length", sections["Link.TransmitQueueLength"], file)
			}
		}
	}
	for file, sections := range s.sectioned("etc/NetworkManager/system-connections", ".nmconnection") {
		add(sections["connection.interface-name"], "mtu", sections["ethernet.mtu"], file)
	}
	files := []string{"etc/network/interfaces"}
	for _, name := range folderNames(s.path("etc/network/interfaces.d")) {
		files = append(files, path.Join("etc/network/interfaces.d", name))
	}
	for _, file := range files {
		text, _ := s.read(file)
		for name, value := range parseInterfaces(text) {
			add(name, "mtu", value, file)
		}
	}
	return all
}

// sectioned reads the files of a folder whose names end as is said.
func (s System) sectioned(folder string, ends ...string) map[string]map[string]string {
	all := map[string]map[string]string{}
	entries, _ := os.ReadDir(s.path(folder)) // most machines have only some of them
	for _, e := range entries {
		file := path.Join(folder, e.Name())
		if !slices.Contains(ends, path.Ext(e.Name())) {
			continue
		}
		if text, err := s.read(file); err == nil {
			all[file] = parseSections(text)
		}
	}
	return all
}

// parseSections reads [SECTION] and NAME=VALUE into SECTION.NAME. The last of several counts.
func parseSections(text string) map[string]string {
	all := map[string]string{}
	section := ""
	for line := range lines(text) {
		name, value, is := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
		case is:
			all[section+"."+strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

// parseInterfaces finds the MTU of each interface: "iface NAME …" begins its lines, of which one is "mtu NUMBER".
func parseInterfaces(text string) map[string]string {
	all := map[string]string{}
	name := ""
	for line := range lines(text) {
		switch fields := strings.Fields(line); {
		case len(fields) >= 2 && fields[0] == "iface":
			name = fields[1]
		case len(fields) == 2 && fields[0] == "mtu" && name != "":
			all[name] = fields[1]
		case fields[0] == "auto" || fields[0] == "mapping" || strings.HasPrefix(fields[0], "allow-"):
			name = ""
		}
	}
	return all
}
