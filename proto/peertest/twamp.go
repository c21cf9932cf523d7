package peertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"
)

// Exchange is a packet of a sender and its reflection.
type Exchange struct {
	Sent       Packet
	Reflection Reflection
	Back       Timestamp // when the reflection arrived
	TTL        byte      // of the reflection
}

// Ping sends a packet of a TWAMP session, waits for its reflection, and checks that the two belong together. With a zero Session of
// the mode Open, it is a sender of TWAMP light, which has no control connection (RFC 5357 appendix I). In the mode SymmetricalSize the
// packet is made as long as its reflection, by zeros before its padding (RFC 6038 section 5.1.1; in open and mixed mode only).
func (s Session) Ping(socket *Socket, to netip.AddrPort, seq uint32) (Exchange, error) {
	p := Packet{Seq: seq, Sent: Stamp(time.Now()), Error: someError, Padding: make([]byte, s.Request.Padding)}
	rand.Read(p.Padding)
	if s.Mode&ReflectOctets != 0 && s.Request.ReflectPadding >= 4 {
		copy(p.Padding, []byte{byte(s.Accepted.ServerOctets >> 8), byte(s.Accepted.ServerOctets),
			byte(s.Accepted.ReflectedOctets >> 8), byte(s.Accepted.ReflectedOctets)})
	}
	if s.Mode&SymmetricalSize != 0 {
		p.Padding = append(make([]byte, openReflection-14), p.Padding...)
	}
	octets := p.Encode(s.Mode, s.Keys)
	if err := socket.Write(octets, to, 0); err != nil {
		return Exchange{}, err
	}
	datagram, err := socket.Read()
	if err != nil {
		return Exchange{}, fmt.Errorf("read reflection of packet %d: %w", seq, err)
	}
	r, err := DecodeReflection(datagram.Octets, s.Mode, s.Keys)
	if err != nil {
		return Exchange{}, err
	}
	return Exchange{p, r, datagram.At, datagram.TTL}, s.checkReflection(p, r, len(octets), len(datagram.Octets))
}

// checkReflection reports a reflection that is not that of a packet.
func (s Session) checkReflection(p Packet, r Reflection, sent, received int) error {
	const section = "RFC 5357 section 4.2.1"
	if r.SenderSeq != p.Seq || r.SenderSent != p.Sent || r.SenderError != p.Error {
		return violated(section, "the Sender's fields are %d, %#x, %#x and must be copies of %d, %#x, %#x",
			r.SenderSeq, r.SenderSent, r.SenderError, p.Seq, p.Sent, p.Error)
	}
	if r.Received > r.Sent {
		return violated(section, "Receive Timestamp %v is after Timestamp %v", r.Received.Time(), r.Sent.Time())
	}
	least := openReflection
	if s.Mode.ofPackets() != Open {
		least = secureReflection
	}
	if want := max(sent, least); received != want {
		return violated(section, "a reflection has %d octets, want %d for a packet of %d", received, want, sent)
	}
	if s.Mode&ReflectOctets != 0 {
		padding := p.Padding
		if s.Mode&SymmetricalSize != 0 {
			padding = padding[openReflection-14:]
		}
		n := min(int(s.Request.ReflectPadding), len(padding), len(r.Padding))
		if !bytes.Equal(padding[:n], r.Padding[:n]) {
			return violated("RFC 6038 section 4.2", "the first %d octets of padding are % x, want % x", n, r.Padding[:n], padding[:n])
		}
	}
	return nil
}

// Reflect answers the packets of a session until shortly after the context is done, and returns them with the first violation.
func (s Session) Reflect(ctx context.Context, socket *Socket) (all []Packet, err error) {
	defer context.AfterFunc(ctx, func() { socket.SetReadDeadline(time.Now().Add(grace)) })()
	for {
		d, err := socket.Read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		p, err := DecodePacket(d.Octets, s.Mode, s.Keys)
		if err != nil {
			return all, err
		}
		if s.Mode&SymmetricalSize != 0 {
			if len(p.Padding) < openReflection-14 {
				return all, violated("RFC 6038 section 5.1.1", "a packet of %d octets, want %d at least", len(d.Octets), openReflection)
			}
			if err := zero("RFC 6038 section 5.1.1", "MBZ before the padding", p.Padding[:openReflection-14]); err != nil {
				return all, err
			}
			p.Padding = p.Padding[openReflection-14:]
		}
		all = append(all, p)
		r := Reflection{Seq: uint32(len(all) - 1), Error: someError, Received: d.At, SenderSeq: p.Seq, SenderSent: p.Sent, SenderError: p.Error,
			SenderTTL: d.TTL, Sent: Stamp(time.Now())}
		least := len(r.Encode(s.Mode, s.Keys))
		r.Padding = make([]byte, max(0, len(d.Octets)-least)) // as long as the packet that arrived (section 4.2.1)
		if s.Mode&ReflectOctets != 0 {
			copy(r.Padding, p.Padding[:min(int(s.Request.ReflectPadding), len(p.Padding))])
		}
		if err := socket.Write(r.Encode(s.Mode, s.Keys), d.From, 0); err != nil {
			return all, err
		}
	}
}
