package host

import (
	"fmt"

	"path"
	"slices"
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

// settingsFile holds the settings that are to stay.
const settingsFile = "etc/sysctl.d/90-pathwise.conf"

// settings is the change of one setting of the kernel.
func settings(key, to string) []Change { return []Change{{Sysctl: key, File: sysctlFile(key), To: to}} }

// Name is what a change is of, for people.
func (c Change) Name() string {
	switch {
	case c.Sysctl != "":
		return c.Sysctl
	case c.Setting != "":
		return c.Link + " " + c.Setting
	}
	return "/" + c.File
}

// same says whether two changes are of one thing.
func (c Change) same(as Change) bool {
	return c.File == as.File && c.Link == as.Link && c.Setting == as.Setting
}

// check refuses a change of anything else than the kernel's settings, those of interfaces, and the one file for those that are to stay.
func (c Change) check() error {
	known := []string{queueLengthSetting, "rx" + ringSetting, "tx" + ringSetting}
	kernel := strings.HasPrefix(c.File, "proc/sys/") || strings.HasPrefix(c.File, "sys/")
	switch {
	case c.Setting != "" && slices.Contains(known, c.Setting) && c.File == "":
		return nil
	case c.Setting == "" && path.Clean(c.File) == c.File && (kernel || c.File == settingsFile):
		return nil
	}
	return fmt.Errorf("%q: want a file under /proc/sys or /sys, /%s, or a setting of an interface", c.Name(), settingsFile)
}

// command is the line of a shell that makes the change by hand.
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
	link := "in /etc/systemd/network/90-" + c.Link + ".link"
	switch {
	case c.Sysctl != "":
		return "echo '" + c.Sysctl + " = " + c.To + "' >> /" + settingsFile
	case c.Setting == queueLengthSetting:
		return "[Link] TransmitQueueLength=" + c.To + " " + link
	case c.Setting == "rx"+ringSetting:
		return "[Link] RxBufferSize=" + c.To + " " + link
	case c.Setting == "tx"+ringSetting:
		return "[Link] TxBufferSize=" + c.To + " " + link
	}
	return ""
}
