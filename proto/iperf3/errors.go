package iperf3

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/pathwise-net/pathwise/input"
)

// Sentinels for errors.Is.
var (
	// ErrBusy: the server is running another test.
	ErrBusy = errors.New("the server is busy running another test; try again later")
	// ErrRefused: nothing listens at the address. The system's own error is wrapped beside it.
	ErrRefused = errors.New("connection refused: is an iperf3 server or a responder running there?")
	// ErrNoAnswer: nothing at all came back from the address.
	ErrNoAnswer = errors.New("no answer: the host is down, or a firewall drops what is sent to this port")
	// ErrPeerLost: the peer closed, reset or stopped answering its connection before the test was over.
	ErrPeerLost = errors.New("the peer went away during the test")
	// ErrPeerSilent: the connection stands, but the peer did not send what the protocol asks for in time.
	ErrPeerSilent = errors.New("the peer accepted the connection but does not answer; is it an iperf3 server?")
	// ErrPeerTerminated: the peer ended the test on purpose.
	ErrPeerTerminated = errors.New("the peer terminated the test")
	// ErrUDPBlocked: the control connection works, but no datagram came back.
	ErrUDPBlocked = errors.New("no answer to UDP: a firewall may block it, although TCP to the same port works")
)

// ProtocolError is a peer that does not speak the protocol.
type ProtocolError struct{ What string }

func (e *ProtocolError) Error() string { return "the peer does not speak iperf3: " + e.What }

// badConfig is a field of a Config that cannot be; it reads as one line with field, value and remedy.
func badConfig(field string, value any, remedy string) error {
	return input.Errorf("%s %v: %s", field, value, remedy)
}

// PeerError is a SERVER_ERROR: the peer could not or would not do the test.
type PeerError struct {
	Code  int32 // iperf3's i_errno
	Errno int32 // the peer's errno, 0 if none
}

func (e *PeerError) Error() string {
	text := "the server refused the test: " + errorText(e.Code)
	if e.Errno > 0 && e.Errno < 4096 { // Linux errnos end at 4095; the peer's system may differ, then the text does
		text += ": " + syscall.Errno(e.Errno).Error()
	}
	return text
}

// iperf3's error numbers that we send (iperf_api.h).
const (
	codeDuration       = 5   // IEDURATION
	codeStreams        = 6   // IENUMSTREAMS
	codeBlockSize      = 7   // IEBLOCKSIZE
	codeBuffer         = 8   // IEBUFSIZE
	codeMSS            = 10  // IEMSS
	codeOmit           = 12  // IEOMIT
	codeUnimplemented  = 13  // IEUNIMP
	codeFile           = 14  // IEFILE
	codeUDPBlockSize   = 20  // IEUDPBLOCKSIZE
	codeTOS            = 21  // IEBADTOS
	codeReverseBidir   = 25  // IEREVERSEBIDIR
	codeRate           = 27  // IETOTALRATE
	codeRecvParams     = 114 // IERECVPARAMS
	codeProtocol       = 131 // IEPROTOCOL
	codeSetCongestion  = 134 // IESETCONGESTION
	codeSetBuffer      = 124 // IESETBUF
	codeUnauthorized   = 142 // IEAUTHTEST
	codeServerDuration = 37  // IEMAXSERVERTESTDURATIONEXCEEDED, since 3.19
	codeExpired        = 160 // IESERVERTESTDURATIONEXPIRED, since 3.18
	codeStreamListen   = 202 // IESTREAMLISTEN
	codeStreamAccept   = 204 // IESTREAMACCEPT
)

// errorTexts holds iperf3's own words (iperf_error.c) for what a server may send.
var errorTexts = map[int32]string{
	codeDuration:       "test duration too long",
	codeStreams:        "number of parallel streams too large",
	codeBlockSize:      "block size too large",
	codeBuffer:         "socket buffer size too large",
	codeMSS:            "TCP MSS too large",
	codeOmit:           "bogus value for --omit",
	codeUnimplemented:  "an option you are trying to set is not implemented yet",
	codeUDPBlockSize:   "block size invalid",
	codeTOS:            "bad TOS value (must be between 0 and 255 inclusive)",
	codeReverseBidir:   "cannot be both reverse and bidirectional",
	codeRate:           "total required bandwidth is larger than server limit",
	codeServerDuration: "client's requested duration exceeds the server's maximum permitted limit",
	101:                "test initialization failed",
	107:                "unable to write to the control socket",
	108:                "unable to read from the control socket",
	109:                "control socket has closed unexpectedly",
	110:                "received an unknown control message",
	codeRecvParams:     "unable to receive parameters from client",
	117:                "unable to receive results",
	118:                "select failed",
	122:                "unable to set TCP/SCTP NODELAY",
	123:                "unable to set TCP/SCTP MSS",
	codeSetBuffer:      "unable to set socket buffer size",
	125:                "unable to set IP TOS",
	codeProtocol:       "protocol does not exist",
	codeSetCongestion:  "unable to set TCP_CONGESTION: supplied congestion control algorithm not supported on this host",
	141:                "socket buffer size not set correctly (above the host's limit?)",
	codeUnauthorized:   "test authorization failed",
	144:                "idle timeout for receiving data",
	codeExpired:        "server test duration expired",
	codeStreamListen:   "unable to start stream listener",
	codeStreamAccept:   "unable to accept stream connection",
	205:                "unable to write to stream socket",
	206:                "unable to read from stream socket",
}

func errorText(code int32) string {
	if text, ok := errorTexts[code]; ok {
		return text
	}
	return fmt.Sprintf("iperf3 error %d", code)
}
