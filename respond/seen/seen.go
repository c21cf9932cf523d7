// Package seen says what a connection looked like where it arrived: addresses, options, window and marks of its SYN, each with what it means.
// Boxes on the way change these, so that what arrived may be other than what left.
//
// It reads no socket: package sock gives it the SYN. It knows nothing of what the other end has sent, which who asks compares by himself.
package seen

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/sock"
)

// Seen is what is told of a SYN.
type Seen struct {
	Schema string `json:"schema"` // "pathwise.seen/1"
	Client string `json:"client"` // ADDRESS:PORT
	Server string `json:"server"`
	TTL    int    `json:"ttl"` // or hop limit
	DSCP   int    `json:"dscp"`
	ECN    int    `json:"ecn"` // of the IP header

	MSSBytes    int   `json:"mss_bytes,omitempty"` // left out: it names none
	WindowBytes int   `json:"window_bytes"`
	WindowScale *int  `json:"window_scale,omitempty"` // left out: it has none
	SACK        bool  `json:"sack"`
	Timestamps  bool  `json:"timestamps"`
	ECNAsked    bool  `json:"ecn_asked"`
	Options     []int `json:"options"` // kinds, in their order

	Lines []Line `json:"lines"`
}

// Line is one thing that was seen, and what it means.
type Line struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Of is what is told of a SYN.
func Of(s sock.SYN) Seen {
	seen := Seen{Schema: "pathwise.seen/1", Client: s.Source.String(), Server: s.Target.String(), TTL: s.TTL, DSCP: s.DSCP, ECN: s.ECN, MSSBytes: s.MSS,
		WindowBytes: s.Window, SACK: s.SACK, Timestamps: s.Timestamps, ECNAsked: s.ECNAsked, Options: append([]int{}, s.Options...)}
	if s.WindowScale >= 0 {
		seen.WindowScale = &s.WindowScale
	}
	seen.Lines = []Line{
		{"address", fmt.Sprintf("%v, port %d: if your computer has another address, addresses are translated on the way (NAT)", s.Source.Addr(), s.Source.Port())},
		{"hops", hops(s.TTL)}, {"MSS", mss(s)}, {"window", window(s)}, {"options", options(s)}, {"marks", marks(s)},
	}
	return seen
}

// hops tells how many routers counted a packet down, from the start values that systems use: 64, 128 and 255.
func hops(ttl int) string {
	for _, start := range []int{64, 128, 255} {
		if ttl <= start {
			return fmt.Sprintf("TTL %d on arrival: %s on the way, if it left with %d", ttl, quantity.FormatCount(start-ttl, "router"), start)
		}
	}
	return ""
}

// Headers that an MSS leaves out of an MTU (RFC 9293, 3.7.1): IP's and TCP's without options.
const (
	headersIPv4, headersIPv6 = 40, 60
	ethernet                 = 1500
)

func mss(s sock.SYN) string {
	headers := headersIPv4
	if s.Source.Addr().Is6() {
		headers = headersIPv6
	}
	switch mtu := s.MSS + headers; {
	case s.MSS == 0:
		return "none: this end may send no more than 536 bytes in a segment over IPv4, 1220 over IPv6"
	case mtu < ethernet:
		return fmt.Sprintf("%d bytes, of an MTU of %d: less than Ethernet's %d, as behind a tunnel or DSL, or a box on the way lowers it", s.MSS, mtu, ethernet)
	case mtu > ethernet:
		return fmt.Sprintf("%d bytes, of an MTU of %d: jumbo frames, which every link on the way has to carry", s.MSS, mtu)
	}
	return fmt.Sprintf("%d bytes, of an MTU of %d, which is Ethernet's", s.MSS, ethernet)
}

func window(s sock.SYN) string {
	if s.WindowScale < 0 {
		const most = 65535 // bytes, of 16 bits (RFC 9293, 3.1)
		return fmt.Sprintf("%d bytes, without a scale: no more than %d will ever be on the way, which is %s at a round trip of 100 ms", s.Window, most,
			quantity.FormatRate(most*8/0.1))
	}
	most := int64(65535) << min(s.WindowScale, 14) // RFC 7323, 2.3: no more than 14
	return fmt.Sprintf("%d bytes at first, and scale %d: up to %s later", s.Window, s.WindowScale, quantity.FormatSize(most))
}

func options(s sock.SYN) string {
	var has, lacks []string
	for _, o := range []struct {
		name string
		is   bool
		want bool
	}{{"MSS", s.MSS > 0, true}, {"window scale", s.WindowScale >= 0, true}, {"SACK", s.SACK, true}, {"time stamps", s.Timestamps, true},
		{"Fast Open", s.FastOpen, false}, {"Multipath TCP", s.Multipath, false}} {
		if o.is {
			has = append(has, o.name)
		} else if o.want {
			lacks = append(lacks, o.name)
		}
	}
	text := "none"
	if len(has) > 0 {
		text = strings.Join(has, ", ")
	}
	if len(lacks) > 0 {
		text += "; not there: " + strings.Join(lacks, ", ") + ". If it was sent, a box on the way takes it out"
	}
	return text
}

func marks(s sock.SYN) string {
	ecn := "it asks for no ECN"
	if s.ECNAsked {
		ecn = "it asks for ECN"
	}
	if s.DSCP == 0 {
		return "DSCP 0, which is the usual class; " + ecn
	}
	return fmt.Sprintf("DSCP %d; %s", s.DSCP, ecn)
}

// Text is what is told to who has no browser, a line for each thing.
func (s Seen) Text() string {
	var b strings.Builder
	for _, l := range s.Lines {
		fmt.Fprintf(&b, "%-8s %s\n", l.Name, l.Text)
	}
	return b.String()
}

// Handler answers with what was seen of the connection that a request came by, as JSON. That of a connection is for of to say.
func Handler(of func(*http.Request) (sock.SYN, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		syn, err := of(r)
		if err != nil {
			http.Error(w, "the kernel did not keep how this connection began", http.StatusNotFound)
			return
		}
		text, err := json.Marshal(Of(syn))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(append(text, '\n')) // to a client that is gone
	})
}
