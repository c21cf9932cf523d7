package twin

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/pathwise-net/pathwise/lab/link"
	"github.com/pathwise-net/pathwise/lab/notation"
	"github.com/pathwise-net/pathwise/measure"
)

// Bytes between a TCP segment's payload and its packet: IPv4 and TCP headers, and timestamps (RFC 791, RFC 9293, RFC
// 7323).
const tcpHeaders = 20 + 20 + 12

// leastMTU is what every IPv4 link must carry (RFC 791 section 3.2).
const leastMTU = 68

// addMTU sets the MTU where it is not Ethernet's: on the hosts' own links where they announced no more, else on the
// narrow link only.
func (t *Twin) addMTU(e *evidence, narrow *Link) {
	mtu, announced, id := 0.0, 0.0, ""
	for _, r := range e.transfers {
		for _, s := range r.Samples.TCPInfo {
			if v := s.Values["pmtu_bytes"]; s.End == measure.Sender && v > 0 {
				mtu, announced, id = v, s.Values["advmss_bytes"]+tcpHeaders, r.ID
			}
		}
	}
	if mtu < leastMTU || mtu == ordinaryMTU {
		return
	}
	size := &link.MTU{Size: notation.Size(mtu)}
	note := fmt.Sprintf("mtu: %.0f bytes, the path's as TCP's kernel found it (throughput %s)", mtu, id)
	if mtu < announced { // the host's own interface takes more
		narrow.Shape.MTU = size
		narrow.Notes = append(narrow.Notes, note)
		return
	}
	for i := range t.Links {
		t.Links[i].Shape.MTU = size
	}
	t.Notes = append(t.Notes, note)
}

// addSettings gives the hosts the kernel settings that transfers reported of them.
func (t *Twin) addSettings(e *evidence) {
	for _, r := range e.transfers {
		for _, end := range r.Samples.Ends {
			h := &t.Target
			if (end.Direction == measure.Forward) == (end.End == measure.Sender) {
				h = &t.Source
			}
			if end.Settings == nil || len(h.Sysctl) > 0 {
				continue
			}
			h.take(end.Settings, r.ID)
		}
	}
}

func (h *Host) take(s *measure.TCPSettings, id string) {
	if s.RmemBytes != nil {
		h.Sysctl = append(h.Sysctl, Setting{"net.ipv4.tcp_rmem", triple(*s.RmemBytes)})
	}
	if s.WmemBytes != nil {
		h.Sysctl = append(h.Sysctl, Setting{"net.ipv4.tcp_wmem", triple(*s.WmemBytes)})
	}
	if s.WindowScaling != nil {
		h.Sysctl = append(h.Sysctl, Setting{"net.ipv4.tcp_window_scaling", fmt.Sprint(*s.WindowScaling)})
	}
	if len(h.Sysctl) > 0 {
		h.note("as throughput %s found them", id)
	}
	if s.CongestionControl != nil {
		h.note("its kernel's congestion control is %s; the twin's is the lab's, so name it with --cc",
			*s.CongestionControl)
	}
}

func triple(v [3]int) string { return fmt.Sprintf("%d %d %d", v[0], v[1], v[2]) }

// unfit is what a lab takes in no name.
var unfit = regexp.MustCompile(`[^a-zA-Z0-9-]+`)

// hostNames makes names that a lab takes, and that differ: the first label of each, or what they are to the path.
func hostNames(source, target measure.Endpoint) (from, to string) {
	from, to = fitName(source.Name, "source"), fitName(target.Name, "target")
	if strings.EqualFold(from, to) || hopName.MatchString(from) || hopName.MatchString(to) {
		return "source", "target"
	}
	return from, to
}

var hopName = regexp.MustCompile(`^hop[0-9]+$`)

const longestName = 63 // of a label (RFC 1035 section 2.3.4)

func fitName(name, otherwise string) string {
	if _, err := netip.ParseAddr(name); err == nil {
		return otherwise
	}
	name, _, _ = strings.Cut(name, ".")
	name = strings.Trim(unfit.ReplaceAllString(name, "-"), "-")
	if name == "" || len(name) > longestName || name == "localhost" {
		return otherwise
	}
	return name
}
