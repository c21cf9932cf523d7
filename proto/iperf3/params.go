package iperf3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Params are the parameters that the client sends in PARAM_EXCHANGE. Keys and units are iperf3's (iperf_api.c,
// send_parameters). A boolean is on the wire only when true: older servers test for presence.
type Params struct {
	TCP  flag `json:"tcp,omitempty"`
	UDP  flag `json:"udp,omitempty"`
	SCTP flag `json:"sctp,omitempty"`

	Omit       number `json:"omit"`       // s
	Time       number `json:"time"`       // s; 0: until Num or BlockCount
	Num        number `json:"num"`        // bytes, over all streams of a direction; 0: no limit
	BlockCount number `json:"blockcount"` // blocks of Len; 0: no limit
	Parallel   number `json:"parallel"`

	MSS         number `json:"MSS,omitempty"`
	NoDelay     flag   `json:"nodelay,omitempty"`
	Reverse     flag   `json:"reverse,omitempty"`
	Bidir       flag   `json:"bidirectional,omitempty"`
	MPTCP       flag   `json:"mptcp,omitempty"`
	Window      number `json:"window,omitempty"`    // bytes, SO_SNDBUF and SO_RCVBUF
	Len         number `json:"len,omitempty"`       // bytes of one write or datagram
	Bandwidth   number `json:"bandwidth,omitempty"` // bit/s per stream, paced by the application
	FQRate      number `json:"fqrate,omitempty"`    // bit/s per stream, paced by the kernel
	PacingTimer number `json:"pacing_timer,omitempty"`
	Burst       number `json:"burst,omitempty"` // writes or datagrams that are paced together; 0: 1
	TOS         number `json:"TOS,omitempty"`
	FlowLabel   number `json:"flowlabel,omitempty"` // of the client's packets
	Congestion  string `json:"congestion,omitempty"`

	Counters64    flag   `json:"udp_counters_64bit,omitempty"`
	ZeroCopy      flag   `json:"zerocopy,omitempty"`
	ServerOutput  flag   `json:"get_server_output,omitempty"`
	DontFragment  flag   `json:"dont_fragment,omitempty"`
	ClientVersion string `json:"client_version,omitempty"`
	AuthToken     string `json:"authtoken,omitempty"` // see ClientAuth

	Pathwise *ParamsExtra `json:"pathwise,omitempty"` // ours; stock servers ignore it
}

// Limits of iperf3's own (iperf.h): beyond them a stock peer refuses, so we do.
const (
	maxTime      = 86400
	maxOmit      = 600
	maxBurst     = 1000
	maxBlocks    = 1 << 40 // so that bytes of the longest block fit 63 bits
	maxStreams   = 128
	maxMSS       = 9 * 1024
	maxWindow    = 512 << 20
	maxTCPLength = 1 << 20
	minUDPLength = 16             // room for the largest datagram header
	maxUDPLength = 65535 - 8 - 20 // IPv4 and UDP headers
)

// EncodeParams writes the JSON text of p.
func EncodeParams(p Params) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return text, nil
}

// DecodeParams reads and checks the JSON text of a client's parameters, fills in what iperf3 assumes for absent keys,
// and returns a *PeerError to answer with when the text is malformed or asks for what cannot be done.
func DecodeParams(text []byte) (Params, error) {
	p := Params{Parallel: 1}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, &PeerError{Code: codeRecvParams}
	}
	if !p.TCP && !p.UDP && !p.SCTP {
		p.TCP = true
	}
	if p.Len == 0 {
		p.Len = defaultTCPLength
		if p.UDP {
			p.Len = defaultUDPLength
		}
	}
	if code := p.check(); code != 0 {
		return p, &PeerError{Code: code}
	}
	return p, nil
}

// check returns iperf3's number for the first thing that is wrong, or 0.
func (p Params) check() int32 {
	minLen, maxLen, lenCode := number(1), number(maxTCPLength), int32(codeBlockSize)
	if p.UDP {
		minLen, maxLen, lenCode = minUDPLength, maxUDPLength, codeUDPBlockSize
	}
	switch {
	case bool(p.SCTP || p.TCP && p.UDP):
		return codeProtocol
	case bool(p.Reverse && p.Bidir):
		return codeReverseBidir
	case p.Time < 0 || p.Time > maxTime:
		return codeDuration
	case p.Omit < 0 || p.Omit > maxOmit:
		return codeOmit
	case p.Parallel < 1 || p.Parallel > maxStreams:
		return codeStreams
	case p.MSS < 0 || p.MSS > maxMSS:
		return codeMSS
	case p.Window < 0 || p.Window > maxWindow:
		return codeBuffer
	case p.Len < minLen || p.Len > maxLen:
		return lenCode
	case p.TOS < 0 || p.TOS > 255:
		return codeTOS
	case p.Num < 0 || p.BlockCount < 0 || p.BlockCount > maxBlocks || p.Burst < 0 || p.Burst > maxBurst || p.Bandwidth < 0 || p.FQRate < 0:
		return codeRecvParams
	case p.train() != nil && (!bool(p.UDP) || p.Parallel > 1 || bool(p.Bidir) || p.Omit > 0 ||
		int(p.Len) != p.train().Size || p.train().check() != nil):
		return codeRecvParams
	case p.badSearch() || p.badGroup():
		return codeRecvParams
	}
	return 0
}

// offload says whether datagrams that are due together may go to the kernel in one piece.
func (p Params) offload() bool { return p.Pathwise == nil || !p.Pathwise.NoOffload }

func (p Params) train() *Train {
	if p.Pathwise == nil {
		return nil
	}
	return p.Pathwise.Train
}

// number is an integer of iperf3's JSON, which comes from C doubles and int64s by way of cJSON: 1e+09, 3.0 and, for
// -1 printed as unsigned by 3.12 and 3.13, 18446744073709551615 all occur.
type number int64

// UnmarshalJSON accepts any JSON number that fits; fractions are cut as C does.
func (n *number) UnmarshalJSON(b []byte) error {
	s := string(b)
	if s == "null" {
		return nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = number(i)
		return nil
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		*n = number(int64(u))
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.Abs(f) >= 1<<63 {
		return fmt.Errorf("%s is not an integer", oneLine(s))
	}
	*n = number(f)
	return nil
}

// flag is a boolean of iperf3's JSON: true, or a number other than 0.
type flag bool

// UnmarshalJSON accepts booleans and numbers.
func (f *flag) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, []byte("true")):
		*f = true
	case bytes.Equal(b, []byte("false")), bytes.Equal(b, []byte("null")):
		*f = false
	default:
		var n number
		if err := n.UnmarshalJSON(b); err != nil {
			return err
		}
		*f = n != 0
	}
	return nil
}
