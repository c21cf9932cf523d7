package host

import (
	"bufio"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// sysctlFile is where a setting is read and written, from the root. A key has dots for slashes, and slashes for dots.
func sysctlFile(key string) string {
	return "proc/sys/" + strings.Map(func(r rune) rune {
		switch r {
		case '.':
			return '/'
		case '/':
			return '.'
		}
		return r
	}, key)
}

// sysctlFolders are where files of settings lie; of two of one name, that of the folder that comes first counts (sysctl.d(5)).
var sysctlFolders = []string{"etc/sysctl.d", "run/sysctl.d", "usr/local/lib/sysctl.d", "usr/lib/sysctl.d", "lib/sysctl.d"}

// configuredSysctls are the settings that files make when the machine starts: in the order of the files' names, the last counts, and
// /etc/sysctl.conf comes after all.
func (s System) configuredSysctls() map[string]Configured {
	files := map[string]string{}
	for _, folder := range slices.Backward(sysctlFolders) {
		entries, err := os.ReadDir(s.path(folder))
		if err != nil {
			continue // most machines have only some of them
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".conf") {
				files[e.Name()] = folder
			}
		}
	}
	all := map[string]Configured{}
	add := func(file string) {
		text, err := s.read(file)
		if err != nil {
			return
		}
		for key, value := range parseSysctlFile(text) {
			all[key] = Configured{Value: value, File: "/" + file}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add(path.Join(files[name], name))
	}
	add("etc/sysctl.conf")
	return all
}

// parseSysctlFile reads a file of settings (sysctl.conf(5)): KEY = VALUE in a line; # and ; begin comments; a minus before a key says that
// an error does not matter. Patterns are left out.
func parseSysctlFile(text string) map[string]string {
	all := map[string]string{}
	for line := range lines(text) {
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key, value, is := strings.Cut(line, "=")
		key = sysctlKey(strings.TrimPrefix(strings.TrimSpace(key), "-"))
		if value = spaced(value); is && key != "" && value != "" && !strings.ContainsAny(key, "*?[ \t") {
			all[key] = value
		}
	}
	return all
}

// sysctlKey writes a key with dots. One may also be written with slashes: then its dots are dots.
func sysctlKey(key string) string {
	if at := strings.IndexAny(key, "./"); at < 0 || key[at] == '.' {
		return key
	}
	return strings.TrimPrefix(strings.ReplaceAll(sysctlFile(key), "proc/sys/", ""), ".")
}

// readSysctls reads the settings of the table, those that other Items need, and those that files make.
func (s System) readSysctls(configured map[string]Configured) map[string]string {
	all := map[string]string{}
	read := func(key string) {
		if text, err := s.read(sysctlFile(key)); err == nil && safeKey(key) {
			all[key] = spaced(text)
		}
	}
	for _, i := range Items() {
		if i.Key != "" {
			read(i.Key)
		}
	}
	for _, key := range otherKeys {
		read(key)
	}
	for key := range configured {
		read(key)
	}
	return all
}

// unaudited are the keys of the network and of memory that files set and that no Item has.
func unaudited(configured map[string]Configured) []string {
	var all []string
	for key := range configured {
		ours := strings.HasPrefix(key, "net.") || strings.HasPrefix(key, "vm.")
		if ours && !slices.ContainsFunc(Items(), func(i Item) bool { return i.Key == key }) && !slices.Contains(otherKeys, key) {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// safeKey says that a key leads to no other place than the kernel's settings.
func safeKey(key string) bool {
	return !slices.Contains(strings.Split(strings.TrimPrefix(sysctlFile(key), "proc/sys/"), "/"), "..")
}

// spaced has one space between the parts of a value.
func spaced(value string) string { return strings.Join(strings.Fields(value), " ") }

// lines are those of a text that have something on them.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		scanner := bufio.NewScanner(strings.NewReader(text))
		scanner.Buffer(nil, mostFile)
		for scanner.Scan() {
			if line := strings.TrimSpace(scanner.Text()); line != "" && !yield(line) {
				return
			}
		}
	}
}
