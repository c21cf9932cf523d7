package sock

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/sys/unix"
)

// TCPSettings are the kernel's settings that bear on how fast TCP can go. A nil field could not be read: the kernel
// lacks it, or a namespace hides it.
type TCPSettings struct {
	RmemBytes         *[3]int `json:"tcp_rmem_bytes,omitempty"` // least, first, most that autotuning gives a receiver
	WmemBytes         *[3]int `json:"tcp_wmem_bytes,omitempty"` // the same for a sender
	RmemMaxBytes      *int    `json:"rmem_max_bytes,omitempty"` // limit on SO_RCVBUF
	WmemMaxBytes      *int    `json:"wmem_max_bytes,omitempty"` // limit on SO_SNDBUF
	WindowScaling     *int    `json:"tcp_window_scaling,omitempty"`
	SACK              *int    `json:"tcp_sack,omitempty"`
	Timestamps        *int    `json:"tcp_timestamps,omitempty"`
	ECN               *int    `json:"tcp_ecn,omitempty"` // 0: never; 1: also asked for; 2 (default): where the peer asks
	CongestionControl *string `json:"tcp_congestion_control,omitempty"`
	NoMetricsSave     *int    `json:"tcp_no_metrics_save,omitempty"`          // 1: remember nothing of a path
	NoSSThreshSave    *int    `json:"tcp_no_ssthresh_metrics_save,omitempty"` // 1 (default): remember no ssthresh
	ModerateRcvbuf    *int    `json:"tcp_moderate_rcvbuf,omitempty"`          // 1: autotune receive buffers
	AdvWinScale       *int    `json:"tcp_adv_win_scale,omitempty"`            // share of the buffer shown as window, before Linux 6.6
}

// ReadTCPSettings reads the settings that hold in the network namespace of the calling thread.
func ReadTCPSettings() TCPSettings { return readTCPSettings("/proc/sys/net") }

func readTCPSettings(root string) TCPSettings {
	return TCPSettings{
		RmemBytes:         triple(root + "/ipv4/tcp_rmem"),
		WmemBytes:         triple(root + "/ipv4/tcp_wmem"),
		RmemMaxBytes:      single(root + "/core/rmem_max"),
		WmemMaxBytes:      single(root + "/core/wmem_max"),
		WindowScaling:     single(root + "/ipv4/tcp_window_scaling"),
		SACK:              single(root + "/ipv4/tcp_sack"),
		Timestamps:        single(root + "/ipv4/tcp_timestamps"),
		ECN:               single(root + "/ipv4/tcp_ecn"),
		CongestionControl: word(root + "/ipv4/tcp_congestion_control"),
		NoMetricsSave:     single(root + "/ipv4/tcp_no_metrics_save"),
		NoSSThreshSave:    single(root + "/ipv4/tcp_no_ssthresh_metrics_save"),
		ModerateRcvbuf:    single(root + "/ipv4/tcp_moderate_rcvbuf"),
		AdvWinScale:       single(root + "/ipv4/tcp_adv_win_scale"),
	}
}

// words returns the fields of a file, or nil unless it has exactly n of them.
func words(path string, n int) []string {
	text, err := os.ReadFile(path)
	if fields := strings.Fields(string(text)); err == nil && len(fields) == n {
		return fields
	}
	return nil
}

func word(path string) *string {
	fields := words(path, 1)
	if fields == nil {
		return nil
	}
	return &fields[0]
}

func single(path string) *int {
	fields := words(path, 1)
	if fields == nil {
		return nil
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		return nil
	}
	return &n
}

func triple(path string) *[3]int {
	fields := words(path, 3)
	if fields == nil {
		return nil
	}
	var three [3]int
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil {
			return nil
		}
		three[i] = n
	}
	return &three
}

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
// input.Error that lists what it does; one that only root may choose is a PermissionError.
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
		return &input.Error{Field: "congestion control", Value: name, Remedy: offer}
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
