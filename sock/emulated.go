package sock

import (
	"os"

	"github.com/pathwise-net/pathwise/document"
)

// AdapterVariable names, in the environment of programs on hosts whose interfaces are virtual, a file of what an emulator of their links counts
// in place of adapters: a JSON object by host and interface.
//
//	{"a": {"eth0": {"pauses_received": 12, "pauses_sent": 0}}}
const AdapterVariable = "PATHWISE_LAB_ADAPTERS"

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
	if text, err := os.ReadFile(path); err == nil {
		c.readEmulated(text, host, iface)
	}
}

// readEmulated takes the counts out of such a file.
func (c Counts) readEmulated(text []byte, host, iface string) {
	var all map[string]map[string]struct {
		Came uint64 `json:"pauses_received"`
		Sent uint64 `json:"pauses_sent"`
	}
	if document.JSON(text, mostEmulated, &all) != nil {
		return
	}
	if counted, ok := all[host][iface]; ok {
		c["link.rx_pause"], c["link.tx_pause"] = counted.Came, counted.Sent
	}
}
