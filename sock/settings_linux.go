package sock

import (
	"os"
	"strconv"
	"strings"
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
