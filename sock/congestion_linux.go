package sock

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Congestion returns the name of the congestion control that a TCP connection uses.
func Congestion(c syscall.RawConn) (string, error) {
	name, err := control(c, func(fd int) (string, error) {
		return unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	})
	if err != nil {
		return "", fmt.Errorf("read congestion control: %w", err)
	}
	return name, nil
}

// SetCongestion chooses the congestion control of a TCP connection. A name that the kernel does not offer is an
// InputError that lists what it does; one that only root may choose is a PermissionError.
func SetCongestion(c syscall.RawConn, name string) error {
	_, err := control(c, func(fd int) (struct{}, error) {
		return struct{}{}, unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM):
		return &PermissionError{Op: fmt.Sprintf("set congestion control %q", name), Err: err,
			Remedy: "root may allow it: sysctl -w net.ipv4.tcp_allowed_congestion_control=\"… " + name + "\""}
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EINVAL):
		offer := "this kernel does not offer it"
		if names, err := AvailableCongestion(); err == nil {
			offer = "choose one of " + strings.Join(names, ", ")
		}
		return &InputError{Field: "congestion control", Value: name, Remedy: offer}
	}
	return fmt.Errorf("set congestion control %q: %w", name, err)
}

// AvailableCongestion lists the congestion controls that the kernel has loaded, sorted. Others may exist as modules,
// which the kernel loads by itself when root asks for them.
func AvailableCongestion() ([]string, error) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return nil, fmt.Errorf("list congestion controls: %w", err)
	}
	names := strings.Fields(string(text))
	slices.Sort(names)
	return names, nil
}
