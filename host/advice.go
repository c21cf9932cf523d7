package host

import (
	"fmt"
	"slices"

	"github.com/pathwise-net/pathwise/input"
)

// Advice is what to set on a machine that is not this one.
type Advice struct {
	Command string `json:"command"`
	Why     string `json:"why"`
}

// advisers are the systems for which there is advice, and what makes it stay there.
var advisers = []struct {
	os, keep string
	advise   func(Need) []Advice
}{
	{"freebsd", "lines NAME=VALUE in /etc/sysctl.conf, and in /boot/loader.conf where a module is loaded", adviseFreeBSD},
	{"macos", "a daemon of launchd under /Library/LaunchDaemons that runs the command when the machine starts", adviseMacOS},
	{"windows", "nothing more: these settings stay", adviseWindows},
}

// Systems are those for which there is advice.
func Systems() (all []string) {
	for _, a := range advisers {
		all = append(all, a.os)
	}
	return all
}

// Advise says what another system needs for a rate and a round trip, and what makes it stay.
func Advise(os string, n Need) (all []Advice, keep string, err error) {
	i := slices.Index(Systems(), os)
	if i < 0 {
		return nil, "", input.Errorf("%q: want one of %v", os, Systems())
	}
	return advisers[i].advise(n), advisers[i].keep, nil
}

const (
	whyBuffers = "the largest buffer of a connection: 2 × rate × round trip"
	whyAuto    = "buffers grow with the path"
)

// adviseFreeBSD goes by tcp(4) and tuning(7).
func adviseFreeBSD(n Need) []Advice {
	buffer := number(whole(twiceProduct(n)))
	return []Advice{
		{"sysctl kern.ipc.maxsockbuf=" + buffer, "the largest buffer of any socket; the next two stay below it"},
		{"sysctl net.inet.tcp.sendbuf_max=" + buffer, whyBuffers},
		{"sysctl net.inet.tcp.recvbuf_max=" + buffer, whyBuffers},
		{"sysctl net.inet.tcp.sendbuf_auto=1 net.inet.tcp.recvbuf_auto=1", whyAuto},
		{"sysctl net.inet.tcp.rfc1323=1 net.inet.tcp.sack.enable=1", "windows above 64 KiB, time stamps, selective acknowledgements"},
		{"kldload cc_cubic; sysctl net.inet.tcp.cc.algorithm=cubic", "takes a long fast path again in seconds after a loss; the default from FreeBSD 14 on"},
		{"sysctl net.inet.tcp.pmtud_blackhole_detection=1", "tries smaller packets where large ones vanish"},
		{"ifconfig NAME tso lro rxcsum txcsum", "the adapter cuts, joins and sums packets; no lro on a router"},
	}
}

// adviseMacOS goes by the names that sysctl -a shows there.
func adviseMacOS(n Need) []Advice {
	buffer := number(whole(twiceProduct(n)))
	return []Advice{
		{"sudo sysctl -w kern.ipc.maxsockbuf=" + buffer, "the largest buffer of any socket; the next two stay below it"},
		{"sudo sysctl -w net.inet.tcp.autosndbufmax=" + buffer, whyBuffers},
		{"sudo sysctl -w net.inet.tcp.autorcvbufmax=" + buffer, whyBuffers},
		{"sudo sysctl -w net.inet.tcp.doautosndbuf=1 net.inet.tcp.doautorcvbuf=1", whyAuto},
		{"sudo sysctl -w net.inet.tcp.delayed_ack=3", "how often the receiver acknowledges is left to the kernel"},
	}
}

// adviseWindows: the level of autotuning says how large windows become (16 MiB at normal, 1 GiB at experimental).
func adviseWindows(n Need) []Advice {
	const normal = 16 << 20
	level, why := "normal", "windows grow up to 16 MiB, which is enough here"
	if n.product() > normal {
		level, why = "experimental", fmt.Sprintf("windows grow beyond 16 MiB: rate × round trip is %.0f bytes", n.product())
	}
	return []Advice{
		{"netsh int tcp set global autotuninglevel=" + level, why},
		{"netsh int tcp set heuristics disabled", "Windows does not take that back by itself"},
		{"netsh int tcp set global timestamps=enabled", "a round trip for each packet; old packets are kept apart"},
		{"netsh int tcp set global rss=enabled", "connections spread over the processors"},
		{"netsh int tcp set supplemental template=internet congestionprovider=cubic", "takes a long fast path again in seconds after a loss"},
		{"Enable-NetAdapterLso -Name NAME; Enable-NetAdapterRsc -Name NAME; Enable-NetAdapterChecksumOffload -Name NAME",
			"the adapter cuts, joins and sums packets (PowerShell)"},
		{"Set-NetAdapterAdvancedProperty -Name NAME -RegistryKeyword *ReceiveBuffers -RegistryValue 4096", "room in the adapter's ring (PowerShell)"},
	}
}
