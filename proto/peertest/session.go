package peertest

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"time"
)

// Session is a test session, as the two ends agreed on it.
type Session struct {
	Request  SessionRequest
	Accepted Accepted
	SID      [16]byte
	Mode     Mode // of the connection
	Keys     Keys // of test packets, zero where they are open
}

// session is what follows from a request and its answer. The receiver chooses the SID (RFC 4656 section 3.5), and in TWAMP the
// server (RFC 5357 section 3.5).
func (c *Control) session(r SessionRequest, a Accepted) (Session, error) {
	s := Session{Request: r, Accepted: a, SID: a.SID, Mode: c.Mode}
	if !r.TwoWay && !r.ConfReceiver {
		s.SID = r.SID
	}
	if s.SID == [16]byte{} {
		return s, violated("RFC 4656 section 3.5", "the SID is zero")
	}
	if a.Port == 0 {
		return s, violated("RFC 4656 section 3.5", "Port of Accept-Session is zero")
	}
	if c.Mode.ofPackets() != Open {
		var err error
		s.Keys, err = testKeys(c.Keys, s.SID)
		return s, err
	}
	return s, nil
}

// testKeys are the keys of a session: those of the control connection, encrypted with AES under the SID as the key, the AES key as
// one block and the HMAC key as two blocks in CBC mode with a vector of zero (RFC 4656 section 4.1.2).
func testKeys(control Keys, sid [16]byte) (keys Keys, err error) {
	block, err := aes.NewCipher(sid[:])
	if err != nil {
		return keys, err
	}
	block.Encrypt(keys.AES[:], control.AES[:])
	cipher.NewCBCEncrypter(block, make([]byte, 16)).CryptBlocks(keys.HMAC[:], control.HMAC[:])
	return keys, nil
}

// NewSID makes a session identifier for a receiver: its address, the time, and 4 random octets (RFC 4656 section 3.5).
func NewSID(receiver netip.Addr) (sid [16]byte) {
	address := receiver.AsSlice()
	copy(sid[:4], address[len(address)-4:])
	binary.BigEndian.PutUint64(sid[4:], uint64(Stamp(time.Now())))
	rand.Read(sid[12:])
	return sid
}

// SkipRange are packets that a sender did not send (RFC 4656 section 3.8).
type SkipRange struct{ First, Last uint32 }

// Sent is what a sender sent of a session: the packets before Next, but those that it skipped.
type Sent struct {
	Next  uint32
	Skips []SkipRange
}

// Send sends a session's packets by its schedule until it is done or the context is. It leaves out those that are to be skipped.
func (s Session) Send(ctx context.Context, socket *Socket, to netip.AddrPort, skips ...SkipRange) (Sent, error) {
	sent, start := Sent{}, s.Request.StartTime.Time()
	for seq, after := range Schedule(s.SID, s.Request.Slots, s.Request.Packets) {
		timer := time.NewTimer(time.Until(start.Add(after.Duration())))
		select {
		case <-ctx.Done():
			timer.Stop()
			return sent, nil
		case <-timer.C:
		}
		sent.Next = uint32(seq) + 1
		if len(skips) > 0 && skips[0].First <= uint32(seq) {
			if skips[0].Last == uint32(seq) {
				sent.Skips, skips = append(sent.Skips, skips[0]), skips[1:]
			}
			continue
		}
		p := Packet{Seq: uint32(seq), Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, s.Request.Padding)}
		rand.Read(p.Padding)
		if err := socket.Write(p.Encode(s.Mode, s.Keys), to, 0); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// Received is a test packet as it arrived.
type Received struct {
	Packet Packet
	At     Timestamp
	TTL    byte
	From   netip.AddrPort
	Late   time.Duration // after its place in the schedule, by the sender's own time stamp
}

// grace is how long a receiver goes on after its end, for packets that have been sent: on loopback, they are in the socket.
const grace = 50 * time.Millisecond

// Receive collects a session's packets until shortly after the context is done, or until it has as many as the session has. It
// returns the first violation with what it has.
func (s Session) Receive(ctx context.Context, socket *Socket) (all []Received, err error) {
	defer context.AfterFunc(ctx, func() { socket.SetReadDeadline(time.Now().Add(grace)) })()
	schedule := Schedule(s.SID, s.Request.Slots, s.Request.Packets)
	for len(all) < int(s.Request.Packets) {
		datagram, err := socket.Read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		p, err := DecodePacket(datagram.Octets, s.Mode, s.Keys)
		if err != nil {
			return all, err
		}
		if p.Seq >= s.Request.Packets {
			return all, violated("RFC 4656 section 4.1.2", "Sequence Number %d of %d packets", p.Seq, s.Request.Packets)
		}
		if len(p.Padding) != int(s.Request.Padding) {
			return all, violated("RFC 4656 section 4.1.2", "a packet has %d octets of padding, want %d", len(p.Padding), s.Request.Padding)
		}
		due := s.Request.StartTime + schedule[p.Seq]
		all = append(all, Received{p, datagram.At, datagram.TTL, datagram.From, p.Sent.Time().Sub(due.Time())})
	}
	return all, nil
}
