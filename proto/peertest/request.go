package peertest

import (
	"encoding/binary"
	"net/netip"
)

// The commands of control connections (RFC 4656 section 3.4, RFC 5357 section 3.4).
const (
	requestSession   = 1
	startSessions    = 2
	stopSessions     = 3
	fetchSession     = 4
	requestTWSession = 5
)

// SessionRequest is a Request-Session of OWAMP (RFC 4656 section 3.5) or a Request-TW-Session of TWAMP (RFC 5357 section 3.5):
//
//	 0  Command (1) | MBZ, IPVN (4 bits each) | Conf-Sender (1) | Conf-Receiver (1)
//	 4  Number of Schedule Slots (4) | Number of Packets (4)
//	12  Sender Port (2) | Receiver Port (2)
//	16  Sender Address (16) | Receiver Address (16)         IPv4: 4 octets, then MBZ (12)
//	48  SID (16)
//	64  Padding Length (4) | Start Time (8) | Timeout (8) | Type-P Descriptor (4)
//	88  MBZ (8); RFC 6038: Octets to be reflected (2) | Length of padding to reflect (2) | MBZ (4)
//	96  HMAC (16)
//
// Slots follow, of 16 octets each, and then another HMAC; TWAMP has neither.
type SessionRequest struct {
	TwoWay                         bool
	ConfSender, ConfReceiver       bool // that the server sends, that the server receives
	Packets                        uint32
	SenderPort, ReceiverPort       uint16
	SenderAddress, ReceiverAddress netip.Addr
	SID                            [16]byte
	Padding                        uint32
	StartTime                      Timestamp
	Timeout                        Timestamp // an interval
	TypeP                          uint32
	ReflectOctets, ReflectPadding  uint16 // RFC 6038 section 4.1, only in the mode ReflectOctets
	Slots                          []Slot
}

const requestLength = 96 // without the HMAC

func octet(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// encode are the octets of a request without its HMACs: the first part, and the slots.
func (r SessionRequest) encode() (request, slots []byte) {
	b := make([]byte, requestLength)
	b[0], b[1], b[2], b[3] = requestSession, 4, octet(r.ConfSender), octet(r.ConfReceiver)
	if r.TwoWay {
		b[0] = requestTWSession
	}
	if r.SenderAddress.Is6() {
		b[1] = 6
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(r.Slots)))
	binary.BigEndian.PutUint32(b[8:], r.Packets)
	binary.BigEndian.PutUint16(b[12:], r.SenderPort)
	binary.BigEndian.PutUint16(b[14:], r.ReceiverPort)
	copy(b[16:32], r.SenderAddress.AsSlice())
	copy(b[32:48], r.ReceiverAddress.AsSlice())
	copy(b[48:], r.SID[:])
	binary.BigEndian.PutUint32(b[64:], r.Padding)
	binary.BigEndian.PutUint64(b[68:], uint64(r.StartTime))
	binary.BigEndian.PutUint64(b[76:], uint64(r.Timeout))
	binary.BigEndian.PutUint32(b[84:], r.TypeP)
	binary.BigEndian.PutUint16(b[88:], r.ReflectOctets)
	binary.BigEndian.PutUint16(b[90:], r.ReflectPadding)
	for _, s := range r.Slots {
		slot := make([]byte, 16)
		slot[0] = octet(s.Fixed)
		binary.BigEndian.PutUint64(slot[8:], uint64(s.Parameter))
		slots = append(slots, slot...)
	}
	return b, slots
}

// decodeRequest reads the first part of a request, and returns how many slots follow.
func decodeRequest(b []byte, mode Mode) (r SessionRequest, slots uint32, err error) {
	section := "RFC 4656 section 3.5"
	if r.TwoWay = b[0] == requestTWSession; r.TwoWay {
		section = "RFC 5357 section 3.5"
	}
	if b[1] != 4 && b[1] != 6 {
		return r, 0, violated(section, "MBZ and IPVN are %#02x", b[1])
	}
	if b[2] > 1 || b[3] > 1 {
		return r, 0, violated(section, "Conf-Sender is %d and Conf-Receiver is %d", b[2], b[3])
	}
	r.ConfSender, r.ConfReceiver = b[2] == 1, b[3] == 1
	slots = binary.BigEndian.Uint32(b[4:])
	r.Packets = binary.BigEndian.Uint32(b[8:])
	r.SenderPort, r.ReceiverPort = binary.BigEndian.Uint16(b[12:]), binary.BigEndian.Uint16(b[14:])
	if r.SenderAddress, err = decodeAddress(section, b[1], b[16:32]); err != nil {
		return r, 0, err
	}
	if r.ReceiverAddress, err = decodeAddress(section, b[1], b[32:48]); err != nil {
		return r, 0, err
	}
	copy(r.SID[:], b[48:])
	r.Padding = binary.BigEndian.Uint32(b[64:])
	r.StartTime, r.Timeout = Timestamp(binary.BigEndian.Uint64(b[68:])), Timestamp(binary.BigEndian.Uint64(b[76:]))
	r.TypeP = binary.BigEndian.Uint32(b[84:])
	unused := b[88:96]
	if mode&ReflectOctets != 0 {
		r.ReflectOctets, r.ReflectPadding = binary.BigEndian.Uint16(b[88:]), binary.BigEndian.Uint16(b[90:])
		unused = b[92:96]
	}
	return r, slots, zero(section, "MBZ of the request", unused)
}

func decodeAddress(section string, version byte, b []byte) (netip.Addr, error) {
	if version == 6 {
		return netip.AddrFrom16([16]byte(b)), nil
	}
	return netip.AddrFrom4([4]byte(b)), zero(section, "MBZ after an IPv4 address", b[4:])
}

// decodeSlot reads one slot (RFC 4656 section 3.6).
func decodeSlot(b []byte) (Slot, error) {
	const section = "RFC 4656 section 3.6"
	if b[0] > 1 {
		return Slot{}, violated(section, "Slot Type is %d", b[0])
	}
	return Slot{b[0] == 1, Timestamp(binary.BigEndian.Uint64(b[8:]))}, zero(section, "MBZ of a slot", b[1:8])
}

// sendRequest sends a request with its slots.
func (c *Control) sendRequest(r SessionRequest) error {
	request, slots := r.encode()
	if err := c.send(request); err != nil || r.TwoWay {
		return err
	}
	return c.send(slots)
}

// readRequest reads a request of which the first block has been read, with its slots.
func (c *Control) readRequest(begin []byte) (SessionRequest, error) {
	rest, err := c.readMessage("Request-Session", requestLength-len(begin))
	if err != nil {
		return SessionRequest{}, err
	}
	r, slots, err := decodeRequest(append(begin, rest...), c.Mode)
	if err != nil || r.TwoWay {
		return r, first(err, checkTWRequest(r, slots))
	}
	if slots == 0 || slots > 1000 {
		return r, violated("RFC 4656 section 3.6", "a request has %d slots", slots)
	}
	all, err := c.readMessage("the schedule slots", int(slots)*16)
	if err != nil {
		return r, err
	}
	for b := all; len(b) > 0; b = b[16:] {
		slot, err := decodeSlot(b[:16])
		if err != nil {
			return r, err
		}
		r.Slots = append(r.Slots, slot)
	}
	return r, nil
}

// checkTWRequest reports fields that TWAMP has as zero.
func checkTWRequest(r SessionRequest, slots uint32) error {
	if r.ConfSender || r.ConfReceiver || slots != 0 || r.Packets != 0 {
		return violated("RFC 5357 section 3.5", "Conf-Sender, Conf-Receiver, slots and packets must be zero: %v", r)
	}
	return zero("RFC 5357 section 3.5", "SID of Request-TW-Session", r.SID[:])
}

// Accepted is an Accept-Session (RFC 4656 section 3.5, RFC 5357 section 3.5, RFC 6038 section 4.2):
//
//	Accept (1) | MBZ (1) | Port (2) | SID (16) | MBZ (12) | HMAC (16)
//
// In the mode ReflectOctets the second MBZ is Reflected octets (2) | Server octets (2) | MBZ (8).
type Accepted struct {
	Accept                        byte
	Port                          uint16
	SID                           [16]byte
	ReflectedOctets, ServerOctets uint16
}

func (a Accepted) encode() []byte {
	b := make([]byte, 32)
	b[0] = a.Accept
	binary.BigEndian.PutUint16(b[2:], a.Port)
	copy(b[4:], a.SID[:])
	binary.BigEndian.PutUint16(b[20:], a.ReflectedOctets)
	binary.BigEndian.PutUint16(b[22:], a.ServerOctets)
	return b
}

// RequestSession asks for a session and reads the answer. An Accept field that is not zero is returned as Refused.
func (c *Control) RequestSession(r SessionRequest) (Session, error) {
	const section = "RFC 4656 section 3.5"
	if err := c.sendRequest(r); err != nil {
		return Session{}, err
	}
	b, err := c.readMessage("Accept-Session", 32)
	if err != nil {
		return Session{}, err
	}
	a := Accepted{Accept: b[0], Port: binary.BigEndian.Uint16(b[2:]), SID: [16]byte(b[4:])}
	unused := b[20:]
	if c.Mode&ReflectOctets != 0 {
		a.ReflectedOctets, a.ServerOctets = binary.BigEndian.Uint16(b[20:]), binary.BigEndian.Uint16(b[22:])
		unused = b[24:]
	}
	if err := first(zero(section, "MBZ after Accept of Accept-Session", b[1:2]), zero(section, "MBZ of Accept-Session", unused)); err != nil {
		return Session{}, err
	}
	if a.Accept != 0 {
		return Session{}, &Refused{"Accept-Session", a.Accept}
	}
	return c.session(r, a)
}
