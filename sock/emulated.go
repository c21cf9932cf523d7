package sock

import (
	"os"
	"time"

	"github.com/pathwise-net/pathwise/document"
)

// AdapterVariable names, in the environment of programs on hosts whose interfaces are virtual, a file of what an emulator of their links counts
// in place of adapters: a JSON object by host and interface.
//
//	{"a": {"eth0": {"pauses_received": 12, "pauses_sent": 0}}}
const AdapterVariable = "PATHWISE_LAB_ADAPTERS"

// ClockVariable names, in the environment of programs on a lab's host, the most that they are told its clock is off, as Go writes a time. All hosts of a
// lab have the machine's one clock, which is right from one to another even where nothing keeps it.
const ClockVariable = "PATHWISE_LAB_CLOCK"

// sharedClock is what is known of such a clock; false outside of an emulator.
func sharedClock() (ClockState, bool) {
	bound, err := time.ParseDuration(os.Getenv(ClockVariable))
	if err != nil || bound <= 0 {
		return ClockState{}, false
	}
	return ClockState{Synchronized: true, Bound: bound, Estimated: bound, Source: "emulator"}, true
}

// mostEmulated bounds how large such a file may be: a thousand hosts with some interfaces each.
const mostEmulated = 1 << 20

// addEmulated adds the pause frames of an interface that an emulator counts, as its driver counts none. Without one, or where the file cannot be
// read, nothing is added.
func (c Counts) addEmulated(iface string) {
	path := os.Getenv(AdapterVariable)
	if path == "" {
		return
	}
	host, err := os.Hostname()
	if err != nil {
		return
	}
	for range emulatedTries {
		if text, err := os.ReadFile(path); err == nil && c.readEmulated(text, host, iface) {
			return
		}
	}
}

// emulatedTries is how often a file is read that was being written.
const emulatedTries = 3

// readEmulated takes the counts out of such a file, and reports whether it was whole.
func (c Counts) readEmulated(text []byte, host, iface string) bool {
	var all map[string]map[string]struct {
		Came uint64 `json:"pauses_received"`
		Sent uint64 `json:"pauses_sent"`
	}
	if document.JSON(text, mostEmulated, &all) != nil {
		return false
	}
	if counted, ok := all[host][iface]; ok {
		c["link.rx_pause"], c["link.tx_pause"] = counted.Came, counted.Sent
	}
	return true
}
