package lab

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ethtool commands (linux/ethtool.h) that switch off what hands over half-made packets.
var offloads = []struct {
	name    string
	command uint32
}{
	{"transmit checksum", 0x17}, // ETHTOOL_STXCSUM
	{"TCP segmentation", 0x1f},  // ETHTOOL_STSO
	{"generic receive", 0x2c},   // ETHTOOL_SGRO
	{"scatter and gather", 0x19},
}

// wholePackets makes an interface in the calling thread's network namespace send whole packets, no larger than its
// MTU and with their checksums, as a wire would carry them.
func wholePackets(name string) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open socket: %w", err)
	}
	defer unix.Close(s)
	for _, o := range offloads {
		value := struct{ command, data uint32 }{o.command, 0}
		request := struct { // struct ifreq with ifr_data
			name [unix.IFNAMSIZ]byte
			data unsafe.Pointer
			_    [16]byte
		}{data: unsafe.Pointer(&value)}
		copy(request.name[:unix.IFNAMSIZ-1], name)
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
		if errno != 0 {
			return fmt.Errorf("switch off %s offload of %s: %w", o.name, name, errno)
		}
	}
	return nil
}
