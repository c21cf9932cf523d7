package twin

import (
	"fmt"

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
