// Package ndt7 is version 7 of the Network Diagnostic Tool's protocol (m-lab/ndt-server, spec/ndt7-protocol.md v0.11.0), both ends of it: one
// TCP connection, on which a WebSocket (RFC 6455), with TLS or without, carries random data one way for up to ten seconds, and what each
// end has measured as text in between.
//
// It finds no servers of Measurement Lab (which are another service's to name), keeps nothing of what it measures, and has no pages: who
// serves a test may hand it some (Server.Pages). What the figures mean is for package probe.
package ndt7

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/sock"
)

// Subprotocol is what both ends name in the handshake, and nothing else will do ("The WebSocket handshake").
const Subprotocol = "net.measurementlab.ndt.v7"

// Tests, by the names that they have in measurements. Their paths end in them.
const (
	Download = "download" // the server sends
	Upload   = "upload"   // the client sends
)

// pathOf is where a server has a test.
func pathOf(test string) string { return "/ndt/v7/" + test }

// Origins of a measurement.
const (
	OriginClient = "client"
	OriginServer = "server"
)

// Measurement is a text message: what one end knows at a moment of the test ("Measurement message"). What it does not know is left out.
type Measurement struct {
	AppInfo        *AppInfo        `json:",omitempty"`
	ConnectionInfo *ConnectionInfo `json:",omitempty"` // of servers, which always have it
	Origin         string          `json:",omitempty"`
	Test           string          `json:",omitempty"`
	TCPInfo        TCPInfo         `json:",omitempty"`
}

// AppInfo is what the program at an end counted.
type AppInfo struct {
	ElapsedTime int64 // microseconds since the handshake
	NumBytes    int64 // of binary messages, sent or received, without any headers
}

// ConnectionInfo are the ends of the connection as the server sees them.
type ConnectionInfo struct {
	Client    string // ADDRESS:PORT, an IPv6 address in brackets
	Server    string
	UUID      string `json:",omitempty"`
	StartTime string `json:",omitempty"` // RFC 3339
}

// TCPInfo is what the kernel at an end knows of the connection, by the names of the specification: bytes and microseconds. Bytes are of
// TCP's payload, which headers of WebSocket and TLS are part of. A name that is not there has no value.
type TCPInfo map[string]int64

// ElapsedTime is the name of when a TCPInfo is from, in microseconds since the handshake.
const ElapsedTime = "ElapsedTime"

// tcpFields are the fields of a TCPInfo beside ElapsedTime, with the names that they have in sock.TCPInfo.Values. Linux counts the time
// that it is limited as busy, too: BusyTime contains RWndLimited and SndBufLimited, so nothing is to be added up (tcp_get_info_chrono_stats).
var tcpFields = [...]struct {
	name  string
	field sock.Field
	value string
	micro bool // a time
	of    func(*sock.TCPInfo) int64
}{
	{"BusyTime", sock.FieldBusy, "busy_seconds", true, func(t *sock.TCPInfo) int64 { return t.Busy.Microseconds() }},
	{"BytesAcked", sock.FieldBytesAcked, "bytes_acked", false, func(t *sock.TCPInfo) int64 { return whole(t.BytesAcked) }},
	{"BytesReceived", sock.FieldBytesReceived, "bytes_received", false, func(t *sock.TCPInfo) int64 { return whole(t.BytesReceived) }},
	{"BytesSent", sock.FieldBytesSent, "bytes_sent", false, func(t *sock.TCPInfo) int64 { return whole(t.BytesSent) }},
	{"BytesRetrans", sock.FieldBytesRetrans, "bytes_retrans", false, func(t *sock.TCPInfo) int64 { return whole(t.BytesRetrans) }},
	{"MinRTT", sock.FieldMinRTT, "min_rtt_seconds", true, func(t *sock.TCPInfo) int64 { return t.MinRTT.Microseconds() }},
	{"RTT", sock.FieldRTT, "rtt_seconds", true, func(t *sock.TCPInfo) int64 { return t.RTT.Microseconds() }},
	{"RTTVar", sock.FieldRTTVar, "rttvar_seconds", true, func(t *sock.TCPInfo) int64 { return t.RTTVar.Microseconds() }},
	{"RWndLimited", sock.FieldRwndLimited, "rwnd_limited_seconds", true, func(t *sock.TCPInfo) int64 { return t.RwndLimited.Microseconds() }},
	{"SndBufLimited", sock.FieldSndbufLimited, "sndbuf_limited_seconds", true, func(t *sock.TCPInfo) int64 { return t.SndbufLimited.Microseconds() }},
}

// mostExact is the largest whole number that every reader of JSON has exactly: 53 bits of a double.
const mostExact = 1<<53 - 1

// whole is a count, or mostExact+1 for one that cannot be sent.
func whole(v uint64) int64 { return int64(min(v, mostExact+1)) }

// TCPInfoOf is a reading of the kernel's, elapsed after the handshake. What the kernel has no value for, and what a reader of JSON could
// not read exactly, is left out.
func TCPInfoOf(t sock.TCPInfo, elapsed time.Duration) TCPInfo {
	all := TCPInfo{ElapsedTime: elapsed.Microseconds()}
	for _, f := range tcpFields {
		if v := f.of(&t); t.Has(f.field) && v >= 0 && v <= mostExact {
			all[f.name] = v
		}
	}
	return all
}

// Values are the fields that are there, beside ElapsedTime, under the names and in the units of sock.TCPInfo.Values.
func (t TCPInfo) Values() map[string]float64 {
	values := map[string]float64{}
	for _, f := range tcpFields {
		v, has := t[f.name]
		switch {
		case has && f.micro:
			values[f.value] = float64(v) / 1e6
		case has:
			values[f.value] = float64(v)
		}
	}
	return values
}

// UnmarshalJSON reads the fields that are specified and have a value that can be, and passes over all others: servers may send more.
func (t *TCPInfo) UnmarshalJSON(text []byte) error {
	var raw map[string]json.RawMessage
	if err := document.JSON(text, MostText, &raw); err != nil {
		return err
	}
	*t = nil
	take := func(name string) {
		v, err := number(raw[name])
		if err != nil {
			return
		}
		if *t == nil {
			*t = TCPInfo{}
		}
		(*t)[name] = v
	}
	take(ElapsedTime)
	for _, f := range tcpFields {
		take(f.name)
	}
	return nil
}

// UnmarshalJSON reads both counts; one that cannot be is 0.
func (a *AppInfo) UnmarshalJSON(text []byte) error {
	var raw struct{ ElapsedTime, NumBytes json.RawMessage }
	if err := document.JSON(text, MostText, &raw); err != nil {
		return err
	}
	a.ElapsedTime, _ = number(raw.ElapsedTime)
	a.NumBytes, _ = number(raw.NumBytes)
	return nil
}

var errNumber = errors.New("not a count")

// number reads a whole number from 0 to mostExact. Programs whose numbers are all doubles may write one with an exponent.
func number(text json.RawMessage) (int64, error) {
	var v float64
	if len(text) == 0 || text[0] == 'n' || document.JSON(text, MostText, &v) != nil || v < 0 || v > mostExact || v != math.Trunc(v) {
		return 0, errNumber
	}
	return int64(v), nil
}

// MostText bounds a text message in bytes. A measurement with all that is specified takes 600.
const MostText = 1 << 16

// Encode is a measurement as it crosses the connection.
func Encode(m Measurement) ([]byte, error) { return json.Marshal(m) }

// Parse reads a measurement. Fields that it does not know are passed over.
func Parse(text []byte) (m Measurement, err error) {
	if err := document.JSON(text, MostText, &m); err != nil {
		return Measurement{}, fmt.Errorf("read measurement: %w", err)
	}
	return m, nil
}

// Sizes of binary messages in bytes. The specification lets receivers refuse what is longer than mostMessage or shorter than 1 << 10; clients in
// the field take no more than mostSent, as earlier versions of it had it.
const (
	firstMessage = 1 << 13
	mostSent     = 1 << 20
	mostMessage  = 1 << 24
	growAt       = 16 // a message of no more than this part of what was sent is doubled ("Adapting binary message size")
)

// nextSize is the size of the message after one of a size, when total bytes have been sent.
func nextSize(size int, total int64) int {
	if size < mostSent && int64(size) <= total/growAt {
		return 2 * size
	}
	return size
}
