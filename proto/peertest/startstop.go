package peertest

import "encoding/binary"

// StartSessions starts the sessions that were accepted and waits for the Start-Ack (RFC 4656 section 3.7):
//
//	2 (1) | MBZ (15) | HMAC (16)      Accept (1) | MBZ (15) | HMAC (16)
func (c *Control) StartSessions() error {
	b := make([]byte, 16)
	b[0] = startSessions
	if err := c.send(b); err != nil {
		return err
	}
	b, err := c.readMessage("Start-Ack", 16)
	if err != nil {
		return err
	}
	if err := zero("RFC 4656 section 3.7", "MBZ of Start-Ack", b[1:]); err != nil {
		return err
	}
	if b[0] != 0 {
		return &Refused{"Start-Ack", b[0]}
	}
	return nil
}

// acknowledgeStart reads what follows the first block of a Start-Sessions, and answers it.
func (c *Control) acknowledgeStart(begin []byte) error {
	if err := first(c.readHMAC("Start-Sessions"), zero("RFC 4656 section 3.7", "MBZ of Start-Sessions", begin[1:])); err != nil {
		return err
	}
	return c.send(make([]byte, 16))
}

// Stop is a Stop-Sessions (RFC 4656 section 3.8; TWAMP's has no descriptions, RFC 5357 section 3.8):
//
//	3 (1) | Accept (1) | MBZ (2) | Number of Sessions (4) | MBZ (8)
//	for each session that its author sends:
//	  SID (16) | Next Seqno (4) | Number of Skip Ranges (4) | First, Last (4 each) ... | zeros up to 16 octets
//	HMAC (16)
type Stop struct {
	Accept   byte
	Number   uint32
	Sessions []StoppedSession // none in TWAMP
}

// StoppedSession is what a Stop-Sessions says of one session.
type StoppedSession struct {
	SID  [16]byte
	Sent Sent
}

// SendStop sends a Stop-Sessions.
func (c *Control) SendStop(s Stop) error {
	b := make([]byte, 16)
	b[0], b[1] = stopSessions, s.Accept
	binary.BigEndian.PutUint32(b[4:], s.Number)
	for _, session := range s.Sessions {
		b = append(b, session.SID[:]...)
		b = binary.BigEndian.AppendUint32(b, session.Sent.Next)
		b = binary.BigEndian.AppendUint32(b, uint32(len(session.Sent.Skips)))
		b = padded(appendSkips(b, session.Sent.Skips))
	}
	return c.send(b)
}

func appendSkips(b []byte, skips []SkipRange) []byte {
	for _, r := range skips {
		b = binary.BigEndian.AppendUint32(b, r.First)
		b = binary.BigEndian.AppendUint32(b, r.Last)
	}
	return b
}

// padded fills the last block with zeros.
func padded(b []byte) []byte { return append(b, make([]byte, -len(b)&15)...) }

// ReadStop waits for a Stop-Sessions.
func (c *Control) ReadStop(twoWay bool) (Stop, error) {
	begin, err := c.read(16)
	if err != nil {
		return Stop{}, err
	}
	if begin[0] != stopSessions {
		return Stop{}, violated("RFC 4656 section 3.8", "command %d while sessions run, want Stop-Sessions", begin[0])
	}
	return c.finishStop(begin, twoWay)
}

// finishStop reads what follows the first block of a Stop-Sessions.
func (c *Control) finishStop(begin []byte, twoWay bool) (Stop, error) {
	const section = "RFC 4656 section 3.8"
	s := Stop{Accept: begin[1], Number: binary.BigEndian.Uint32(begin[4:])}
	if err := first(zero(section, "MBZ of Stop-Sessions", begin[2:4]), zero(section, "MBZ of Stop-Sessions", begin[8:])); err != nil {
		return s, err
	}
	if s.Number > 1000 {
		return s, violated(section, "Number of Sessions is %d", s.Number)
	}
	for range s.Number {
		if twoWay {
			break
		}
		session, err := c.readStopped()
		if err != nil {
			return s, err
		}
		s.Sessions = append(s.Sessions, session)
	}
	return s, c.readHMAC("Stop-Sessions")
}

// readStopped reads the description of one session.
func (c *Control) readStopped() (StoppedSession, error) {
	const section = "RFC 4656 section 3.8"
	b, err := c.read(32)
	if err != nil {
		return StoppedSession{}, err
	}
	s := StoppedSession{SID: [16]byte(b), Sent: Sent{Next: binary.BigEndian.Uint32(b[16:])}}
	skips := int(binary.BigEndian.Uint32(b[20:]))
	if skips > 1000 {
		return s, violated(section, "Number of Skip Ranges is %d", skips)
	}
	b = b[24:]
	if missing := skips*8 - len(b); missing > 0 {
		rest, err := c.read((missing + 15) &^ 15)
		if err != nil {
			return s, err
		}
		b = append(b, rest...)
	}
	s.Sent.Skips, err = decodeSkips(section, b[:skips*8], s.Sent.Next)
	return s, first(err, zero(section, "padding after skip ranges", b[skips*8:]))
}

// decodeSkips reads skip ranges, which are in order and apart, and before the next packet.
func decodeSkips(section string, b []byte, next uint32) (all []SkipRange, err error) {
	for ; len(b) > 0; b = b[8:] {
		r := SkipRange{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
		if r.First > r.Last || r.Last >= next || len(all) > 0 && r.First <= all[len(all)-1].Last {
			return all, violated(section, "skip range %d to %d after %v, of the packets before %d", r.First, r.Last, all, next)
		}
		all = append(all, r)
	}
	return all, nil
}
