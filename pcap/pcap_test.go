package pcap

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/pathwise-net/pathwise/input"
)

// Headers of packets, as bytes: Ethernet, IPv4 and UDP of a packet of 60 bytes from port 1000 to 53; ARP; IPv6 and TCP of 72 bytes from 443 to 2000.
const (
	ethernet4 = "020000000001020000000002" + "0800"
	udp4      = "4500003c000000004011000a0a0000010a000002" + "03e8003500280000"
	arp       = "020000000001020000000002" + "0806" + "00010800060400010200000000010a0000010200000000020a000002"
	ethernet6 = "020000000001020000000002" + "86dd"
	tcp6      = "600000000020064000000000000000000000000000000001" + "00000000000000000000000000000002" + "01bb07d0000000010000000050100000" + "00000000"
)

func bytesOf(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var began = time.Unix(1_700_000_000, 0).UTC()

// written is a capture of packets, 5 ms apart, in one of the formats.
func written(t testing.TB, format string, link layers.LinkType, packets ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	var write func(gopacket.CaptureInfo, []byte) error
	flush := func() error { return nil }
	if format == "pcap" {
		w := pcapgo.NewWriter(&b)
		if err := w.WriteFileHeader(96, link); err != nil {
			t.Fatal(err)
		}
		write = w.WritePacket
	} else {
		w, err := pcapgo.NewNgWriter(&b, link)
		if err != nil {
			t.Fatal(err)
		}
		write, flush = w.WritePacket, w.Flush
	}
	for i, p := range packets {
		data := bytesOf(t, p)
		if err := write(gopacket.CaptureInfo{Timestamp: began.Add(time.Duration(i) * 5 * time.Millisecond), CaptureLength: len(data), Length: max(len(data), 74)}, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (all []Packet, err error) {
	err = Read(bytes.NewReader(b), func(p Packet) error {
		p.At = p.At.UTC()
		all = append(all, p)
		return nil
	})
	return all, err
}

func TestRead(t *testing.T) {
	for _, format := range []string{"pcap", "pcapng"} {
		got, err := read(written(t, format, layers.LinkTypeEthernet, ethernet4+udp4, arp, ethernet6+tcp6))
		want := []Packet{{began, 60, 1000, 53}, {began.Add(10 * time.Millisecond), 72, 443, 2000}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", format, err, diff)
		}
		got, err = read(written(t, format, layers.LinkTypeRaw, udp4))
		if diff := cmp.Diff(want[:1], got); diff != "" || err != nil {
			t.Errorf("%s without Ethernet: %v (-want +got):\n%s", format, err, diff)
		}
	}
	if p := (Packet{Source: 1, Target: 2}); !p.Between(1) || !p.Between(2) || p.Between(3) {
		t.Error("ports")
	}
}

// A capture that breaks off ends before the packet that is not whole; what is none is refused.
func TestBroken(t *testing.T) {
	for _, format := range []string{"pcap", "pcapng"} {
		whole := written(t, format, layers.LinkTypeEthernet, ethernet4+udp4, ethernet4+udp4)
		if got, err := read(whole[:len(whole)-10]); err != nil || len(got) != 1 {
			t.Errorf("%s: %d packets, %v", format, len(got), err)
		}
	}
	for _, text := range []string{"", "x", "no capture at all, but some text", "\x0a\x0d\x0d\x0a" + strings.Repeat("\xff", 40)} {
		if _, err := read([]byte(text)); !input.Bad(err) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, format := range []string{"pcap", "pcapng"} {
		f.Add(written(f, format, layers.LinkTypeEthernet, ethernet4+udp4, arp, ethernet6+tcp6))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		all, _ := read(b)
		for _, p := range all {
			if p.Bytes < 1 || p.Bytes > 65535+ipv6Header {
				t.Errorf("%+v", p)
			}
		}
	})
}
