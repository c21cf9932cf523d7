// Package pcap reads when packets passed and how large they were out of capture files, of the formats pcap and pcapng, and between which ports.
//
// It reads the file alone: it captures nothing, and looks at no payload. What is no packet of IP it passes over.
package pcap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/pathwise-net/pathwise/input"
)

// Packet is one of IP.
type Packet struct {
	At     time.Time
	Bytes  int // of IP, with its header; of a packet that was captured in part, the whole
	Source int // port of TCP or UDP; 0: it has none, or it was cut off
	Target int
}

// Between reports whether a port is one of the packet's two.
func (p Packet) Between(port int) bool { return p.Source == port || p.Target == port }

// MostPackets is how many packets of IP are read of a file: more than anybody replays.
const MostPackets = 10_000_000

// Read calls f for each packet of IP of a capture, in the order of the file, and ends with the first error, its own or of f. A capture that breaks
// off in the midst of a packet, as of a program that was ended, ends before that packet. Errors of what is no capture are of package input.
func Read(r io.Reader, f func(Packet) error) error {
	buffered := bufio.NewReaderSize(r, 64<<10)
	source, link, err := open(buffered)
	if err != nil {
		return input.Errorf("capture: %v", err)
	}
	for n := 0; n < MostPackets; {
		data, info, err := source.ReadPacketData()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return input.Errorf("capture, after %d packets: %v", n, err)
		}
		if p, is := packetOf(data, info, link(info)); is {
			n++
			if err := f(p); err != nil {
				return err
			}
		}
	}
	return input.Errorf("capture: more than %d packets", MostPackets)
}

// sectionHeader begins a file of pcapng (draft-ietf-opsawg-pcapng, section 4.1).
var sectionHeader = []byte{0x0a, 0x0d, 0x0d, 0x0a}

// open reads the head of a file, and tells the link type of each packet.
func open(r *bufio.Reader) (source gopacket.PacketDataSource, link func(gopacket.CaptureInfo) layers.LinkType, err error) {
	first, err := r.Peek(len(sectionHeader))
	if err != nil {
		return nil, nil, fmt.Errorf("read head: %w", err)
	}
	if !bytes.Equal(first, sectionHeader) {
		plain, err := pcapgo.NewReader(r)
		if err != nil {
			return nil, nil, err
		}
		plain.SetSnaplen(mostSnapped)
		return plain, func(gopacket.CaptureInfo) layers.LinkType { return plain.LinkType() }, nil
	}
	next, err := pcapgo.NewNgReader(r, pcapgo.NgReaderOptions{WantMixedLinkType: true})
	if err != nil {
		return nil, nil, err
	}
	return next, func(info gopacket.CaptureInfo) layers.LinkType {
		if one, err := next.Interface(info.InterfaceIndex); err == nil {
			return one.LinkType
		}
		return next.LinkType()
	}, nil
}

// mostSnapped is what tcpdump writes of a packet at the most (pcap-savefile(5)).
const mostSnapped = 262_144

// packetOf takes out of a packet what is wanted; is is false where it is none of IP.
func packetOf(data []byte, info gopacket.CaptureInfo, link layers.LinkType) (p Packet, is bool) {
	all := gopacket.NewPacket(data, link, gopacket.DecodeOptions{Lazy: true, NoCopy: true})
	network := all.NetworkLayer()
	if network == nil {
		return Packet{}, false
	}
	p.At = info.Timestamp
	switch ip := network.(type) {
	case *layers.IPv4:
		p.Bytes = int(ip.Length)
	case *layers.IPv6:
		p.Bytes = ipv6Header + int(ip.Length)
	default:
		return Packet{}, false
	}
	switch transport := all.TransportLayer().(type) {
	case *layers.UDP:
		p.Source, p.Target = int(transport.SrcPort), int(transport.DstPort)
	case *layers.TCP:
		p.Source, p.Target = int(transport.SrcPort), int(transport.DstPort)
	}
	return p, p.Bytes > 0
}

// ipv6Header is not in the length that it tells (RFC 8200 section 3).
const ipv6Header = 40
