package main

import (
	"fmt"
	"os"

	"github.com/pathwise-net/pathwise/lab"
)

// kinds returns what host interfaces can be made of here: veth, and TUN where its device opens. It says for the part if
// that is left out.
func (b *bench) kinds(part string) []lab.DeviceKind {
	f, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		fmt.Fprintf(b.out, "%s: over TUN left out: %v\n", part, err)
		return []lab.DeviceKind{lab.DeviceVeth}
	}
	f.Close()
	return []lab.DeviceKind{lab.DeviceVeth, lab.DeviceTUN}
}
