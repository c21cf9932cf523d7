package control

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"time"
)

// Command begins what a client asks for; it is the first byte of a message.
type Command byte

// Commands of OWAMP (RFC 4656, section 3.4) and of TWAMP (RFC 5357, section 3.4).
const (
	RequestSession Command = 1
	StartSessions  Command = 2
	StopSessions   Command = 3
	FetchSession   Command = 4
	RequestTwoWay  Command = 5
)

// Sizes of messages in bytes, without their digests.
const (
	RequestBytes    = 96
	AcceptedBytes   = 32
	StartStopBytes  = 16 // StartSessions, its acknowledgement, the head of StopSessions
	requestHeadRest = 88
)

// SID names a session; the end that receives its packets draws it.
type SID [16]byte

// NewSID draws the ID of a session that this end receives, as RFC 4656, section 3.5, has it: address, time, and random bytes, which tell nobody
// else what it is.
func NewSID(local netip.Addr, now time.Time) (id SID) {
	address := local.Unmap().As16()
	copy(id[:4], address[12:])
	binary.BigEndian.PutUint64(id[4:], uint64(TimestampOf(now)))
	fill(id[12:])
	return id
}

func (s SID) String() string { return hex.EncodeToString(s[:]) }

// Request asks for a test session. In TWAMP there are neither slots nor packets, and the server is neither sender nor receiver.
//
//	 0  command (1), IP version (1), server is sender (1), server is receiver (1)
//	 4  slots (4), packets (4)
//	12  sender's port (2), receiver's port (2)
//	16  sender's address (16)
//	32  receiver's address (16)
//	48  SID (16), zero if the server is the receiver, which draws it
//	64  bytes of padding (4)
//	68  start time (8)
//	76  timeout (8)
//	84  Type-P (4)
//	88  zero (8), or what RFC 6038 has there
//	96  HMAC (16)
type Request struct {
	Command                        Command
	IPv6                           bool
	ServerSends, ServerReceives    bool
	Slots, Packets                 uint32
	SenderPort, ReceiverPort       uint16
	SenderAddress, ReceiverAddress netip.Addr // the zero value: that of the control connection
	SID                            SID
	Padding                        uint32 // bytes
	Start                          Timestamp
	Timeout                        Interval // after which a packet counts as lost
	TypeP                          TypeP
	Rest                           [8]byte
}

// Encode returns the message, without its digest.
func (r Request) Encode() []byte {
	b := make([]byte, RequestBytes)
	b[0], b[1] = byte(r.Command), 4
	if r.IPv6 {
		b[1] = 6
	}
	b[2], b[3] = bit(r.ServerSends), bit(r.ServerReceives)
	binary.BigEndian.PutUint32(b[4:], r.Slots)
	binary.BigEndian.PutUint32(b[8:], r.Packets)
	binary.BigEndian.PutUint16(b[12:], r.SenderPort)
	binary.BigEndian.PutUint16(b[14:], r.ReceiverPort)
	putAddress(b[16:32], r.SenderAddress, r.IPv6)
	putAddress(b[32:48], r.ReceiverAddress, r.IPv6)
	copy(b[48:], r.SID[:])
	binary.BigEndian.PutUint32(b[64:], r.Padding)
	binary.BigEndian.PutUint64(b[68:], uint64(r.Start))
	binary.BigEndian.PutUint64(b[76:], uint64(r.Timeout))
	binary.BigEndian.PutUint32(b[84:], uint32(r.TypeP))
	copy(b[requestHeadRest:], r.Rest[:])
	return b
}

// DecodeRequest reads a message, without its digest. What is asked for is not judged.
func DecodeRequest(b []byte) (r Request, err error) {
	if len(b) < RequestBytes {
		return r, fmt.Errorf("request of %d bytes: %w", len(b), ErrShort)
	}
	version := b[1] & 15
	if version != 4 && version != 6 {
		return r, fmt.Errorf("request: IP version %d: want 4 or 6", version)
	}
	return Request{
		Command: Command(b[0]), IPv6: version == 6, ServerSends: b[2] != 0, ServerReceives: b[3] != 0,
		Slots: binary.BigEndian.Uint32(b[4:]), Packets: binary.BigEndian.Uint32(b[8:]),
		SenderPort: binary.BigEndian.Uint16(b[12:]), ReceiverPort: binary.BigEndian.Uint16(b[14:]),
		SenderAddress: addressIn(b[16:32], version), ReceiverAddress: addressIn(b[32:48], version),
		SID: SID(b[48:64]), Padding: binary.BigEndian.Uint32(b[64:]), Start: Timestamp(binary.BigEndian.Uint64(b[68:])),
		Timeout: Interval(binary.BigEndian.Uint64(b[76:])), TypeP: TypeP(binary.BigEndian.Uint32(b[84:])),
		Rest: [8]byte(b[requestHeadRest:]),
	}, nil
}

// addressIn is an address in its field of 16 bytes; one of zeros is that of the control connection.
func addressIn(b []byte, version byte) netip.Addr {
	a := netip.AddrFrom16([16]byte(b))
	if version == 4 {
		a = netip.AddrFrom4([4]byte(b))
	}
	if a.IsUnspecified() {
		return netip.Addr{}
	}
	return a
}

func putAddress(b []byte, a netip.Addr, ipv6 bool) {
	if ipv6 && a.IsValid() {
		whole := a.As16() // also of one that stands for an IPv4 address
		copy(b, whole[:])
		return
	}
	copy(b, a.Unmap().AsSlice())
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Accepted answers a Request.
//
//	 0  accept (1), zero (1)
//	 2  port of the server's end of the session (2)
//	 4  SID (16), where the server draws it
//	20  zero (12), or what RFC 6038 has there
//	32  HMAC (16)
type Accepted struct {
	Accept Accept
	Port   uint16
	SID    SID
	Rest   [12]byte
}

// Encode returns the message, without its digest.
func (a Accepted) Encode() []byte {
	b := make([]byte, AcceptedBytes)
	b[0] = byte(a.Accept)
	binary.BigEndian.PutUint16(b[2:], a.Port)
	copy(b[4:], a.SID[:])
	copy(b[20:], a.Rest[:])
	return b
}

// DecodeAccepted reads a message, without its digest.
func DecodeAccepted(b []byte) (a Accepted, err error) {
	if len(b) < AcceptedBytes {
		return a, fmt.Errorf("answer to a request of %d bytes: %w", len(b), ErrShort)
	}
	return Accepted{Accept: Accept(b[0]), Port: binary.BigEndian.Uint16(b[2:]), SID: SID(b[4:20]), Rest: [12]byte(b[20:])}, nil
}

// EncodeStart returns the message that starts all sessions that were requested.
func EncodeStart() []byte { return block(byte(StartSessions), 0, 0) }

// EncodeStartAck returns the answer to it.
func EncodeStartAck(a Accept) []byte { return block(byte(a), 0, 0) }

// EncodeStop returns the head of the message that ends all sessions: why, and how many descriptions follow it in OWAMP, or how many
// sessions there are in TWAMP, where nothing follows.
func EncodeStop(a Accept, sessions uint32) []byte {
	return block(byte(StopSessions), byte(a), sessions)
}

// DecodeStop reads that head.
func DecodeStop(b []byte) (a Accept, sessions uint32, err error) {
	if len(b) < StartStopBytes || Command(b[0]) != StopSessions {
		return 0, 0, fmt.Errorf("end of sessions: it begins with %.1x and has %d bytes", b, len(b))
	}
	return Accept(b[1]), binary.BigEndian.Uint32(b[4:]), nil
}

func block(first, second byte, number uint32) []byte {
	b := make([]byte, StartStopBytes)
	b[0], b[1] = first, second
	binary.BigEndian.PutUint32(b[4:], number)
	return b
}

// TypeP says what packets of a session look like to the network: so far their DSCP (RFC 4656, section 3.5).
type TypeP uint32

// DSCPType is that of a DSCP, 0 to 63.
func DSCPType(dscp int) TypeP { return TypeP(dscp&63) << 24 }

// DSCP is the DSCP of packets; ok is false where it is something else that is asked for.
func (t TypeP) DSCP() (dscp int, ok bool) { return int(t >> 24), t&^DSCPType(63) == 0 }
