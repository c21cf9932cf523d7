package respond

import (
	"fmt"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/proto/iperf3"
)

// iperf3Class is a class of clients of iperf3 as people write it.
type iperf3Class struct {
	Networks []string `yaml:"networks"`
	Hours    []string `yaml:"hours"`
	Refuse   bool     `yaml:"refuse"`
	Longest  string   `yaml:"longest"`
	Streams  int      `yaml:"streams"`
	Rate     string   `yaml:"rate"`
}

// ParseIperf3Classes reads the classes of clients of iperf3, which stand under throughput in the file that ParseClasses reads. Errors are
// *document.Error.
func ParseIperf3Classes(file string, text []byte) ([]iperf3.Class, error) {
	var all classFile
	if err := document.StrictYAML(text, mostClassBytes, &all); err != nil {
		return nil, document.InFile(file, err)
	}
	var classes []iperf3.Class
	for i, one := range all.Throughput {
		c, at, err := one.read()
		if err != nil {
			path := fmt.Sprintf("throughput[%d].%s", i, at)
			return nil, document.InFile(file, document.Locate(text, mostClassBytes, document.About(path, "%s: %v", path, err)))
		}
		classes = append(classes, c)
	}
	return classes, nil
}

// read is a class, or what is wrong with it and at which of its keys.
func (c iperf3Class) read() (read iperf3.Class, at string, err error) {
	read = iperf3.Class{Refuse: c.Refuse, MaxStreams: c.Streams}
	if read.Networks, err = readNetworks(c.Networks); err != nil {
		return read, "networks", err
	}
	for _, text := range c.Hours {
		hours, err := readHours(text)
		if err != nil {
			return read, "hours", err
		}
		read.Hours = append(read.Hours, hours)
	}
	if c.Streams < 0 {
		return read, "streams", fmt.Errorf("\"%d\": want 1 or more", c.Streams)
	}
	if read.MaxDuration, err = readLongest(c.Longest); err != nil {
		return read, "longest", err
	}
	if read.MaxRate, err = readRate(c.Rate); err != nil {
		return read, "rate", err
	}
	return read, "", nil
}

// readHours reads a part of the day such as 22:00-06:00.
func readHours(text string) (h iperf3.Hours, err error) {
	wrong := fmt.Errorf("%q: want a part of the day such as 22:00-06:00", text)
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		return h, wrong
	}
	for _, end := range []struct {
		text string
		at   *time.Duration
	}{{first, &h.From}, {last, &h.To}} {
		moment, err := time.Parse("15:04", strings.TrimSpace(end.text))
		if err != nil {
			return h, wrong
		}
		*end.at = time.Duration(moment.Hour())*time.Hour + time.Duration(moment.Minute())*time.Minute
	}
	if h.From == h.To {
		return h, wrong
	}
	return h, nil
}
