package host

import "strings"

// Change is one value that is written into a file of the kernel's.
type Change struct {
	Sysctl string `json:"sysctl,omitempty"` // the key, where it is a setting of the kernel
	File   string `json:"file"`             // from the root
	To     string `json:"to"`
}

// settingsFile holds the settings that are to stay.
const settingsFile = "etc/sysctl.d/90-pathwise.conf"

// command is what does the same by hand.
func (c *Change) command() string {
	if c.Sysctl == "" {
		return "echo " + c.To + " > /" + c.File
	}
	if strings.Contains(c.To, " ") {
		return "sysctl -w " + c.Sysctl + "=\"" + c.To + "\""
	}
	return "sysctl -w " + c.Sysctl + "=" + c.To
}

// keep is what makes a setting stay.
func (c *Change) keep() string {
	if c.Sysctl == "" {
		return ""
	}
	return "echo '" + c.Sysctl + " = " + c.To + "' >> /" + settingsFile
}
