package respond

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/quantity"
)

// mostClassBytes bounds a file of classes: a thousand of them take 100 kB.
const mostClassBytes = 1 << 20

// classFile is a file of classes as people write it.
type classFile struct {
	Classes    []class       `yaml:"classes"`
	Throughput []iperf3Class `yaml:"throughput"`
}

type class struct {
	Networks []string `yaml:"networks"`
	Keys     []string `yaml:"keys"`
	Refuse   bool     `yaml:"refuse"`
	Sessions int      `yaml:"sessions"`
	Longest  string   `yaml:"longest"`
	Packets  int      `yaml:"packets"`
	Rate     int      `yaml:"rate"`
	BitRate  string   `yaml:"bit_rate"`
}

// ParseClasses reads the classes of clients of OWAMP and TWAMP from a file, of which the first that fits a client counts. File is its name, for
// errors, which are *document.Error.
func ParseClasses(file string, text []byte) ([]endpoint.Class, error) {
	var all classFile
	if err := document.StrictYAML(text, mostClassBytes, &all); err != nil {
		return nil, document.InFile(file, err)
	}
	var classes []endpoint.Class
	for i, one := range all.Classes {
		c, at, err := one.read()
		if err != nil {
			path := fmt.Sprintf("classes[%d].%s", i, at)
			return nil, document.InFile(file, document.Locate(text, mostClassBytes, document.About(path, "%s: %v", path, err)))
		}
		classes = append(classes, c)
	}
	return classes, nil
}

// read is a class, or what is wrong with it and at which of its keys.
func (c class) read() (read endpoint.Class, at string, err error) {
	read = endpoint.Class{KeyIDs: c.Keys, Limits: endpoint.Limits{Refuse: c.Refuse, Sessions: c.Sessions, Packets: c.Packets, Rate: c.Rate}}
	if read.Networks, err = readNetworks(c.Networks); err != nil {
		return read, "networks", err
	}
	for key, number := range map[string]int{"sessions": c.Sessions, "packets": c.Packets, "rate": c.Rate} {
		if number < 0 {
			return read, key, fmt.Errorf("\"%d\": want 1 or more", number)
		}
	}
	if read.Limits.Longest, err = readLongest(c.Longest); err != nil {
		return read, "longest", err
	}
	if read.Limits.BitRate, err = readRate(c.BitRate); err != nil {
		return read, "bit_rate", err
	}
	return read, "", nil
}

func readNetworks(texts []string) (all []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q: want a network such as 192.0.2.0/24", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}

// readLongest reads how long a test may take; 0 of "".
func readLongest(text string) (longest time.Duration, err error) {
	if text == "" {
		return 0, nil
	}
	if longest, err = quantity.ParseDuration(text); err != nil || longest <= 0 {
		return 0, fmt.Errorf("%q: want a time such as 1h", text)
	}
	return longest, nil
}

// readRate reads a rate, and returns it in bit/s; 0 of "".
func readRate(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	rate, err := quantity.ParseRate(text)
	if err != nil || rate < 1 {
		return 0, fmt.Errorf("%q: want a rate such as 10mbit", text)
	}
	return int64(rate), nil
}
