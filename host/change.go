package host

import (
	"strconv"
	"strings"
)

// Change is one value that is set: that of a file of the kernel's, or a setting of an interface.
type Change struct {
	Sysctl  string `json:"sysctl,omitempty"`  // the key, where it is a setting of the kernel
	File    string `json:"file,omitempty"`    // from the root
	Link    string `json:"link,omitempty"`    // an interface, where it is a setting of one
	Setting string `json:"setting,omitempty"` // of that interface
	To      string `json:"to"`
}

// Settings of an interface that can be changed.
const (
	queueLengthSetting = "queue length"
	ringSetting        = " ring" // after rx or tx
)

// settings is the change of one setting of the kernel.
func settings(key, to string) []Change { return []Change{{Sysctl: key, File: sysctlFile(key), To: to}} }

// settingsFile holds the settings that are to stay.
const settingsFile = "etc/sysctl.d/90-pathwise.conf"

// command is what does the same by hand.
func (c Change) command() string {
	ring, isRing := strings.CutSuffix(c.Setting, ringSetting)
	switch {
	case isRing:
		return "ethtool -G " + c.Link + " " + ring + " " + c.To
	case c.Setting == queueLengthSetting:
		return "ip link set dev " + c.Link + " txqueuelen " + c.To
	case c.Sysctl == "":
		return "echo " + c.To + " > /" + c.File
	case strings.Contains(c.To, " "):
		return "sysctl -w " + c.Sysctl + "=" + strconv.Quote(c.To)
	}
	return "sysctl -w " + c.Sysctl + "=" + c.To
}

// keep is what makes a setting stay.
func (c Change) keep() string {
	switch {
	case c.Sysctl != "":
		return "echo '" + c.Sysctl + " = " + c.To + "' >> /" + settingsFile
	case c.Setting == queueLengthSetting:
		return "[Link] TransmitQueueLength=" + c.To + " in /etc/systemd/network/90-" + c.Link + ".link"
	case c.Setting == "rx"+ringSetting:
		return "[Link] RxBufferSize=" + c.To + " in /etc/systemd/network/90-" + c.Link + ".link"
	case c.Setting == "tx"+ringSetting:
		return "[Link] TxBufferSize=" + c.To + " in /etc/systemd/network/90-" + c.Link + ".link"
	}
	return ""
}
