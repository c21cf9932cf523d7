package probe

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/proto/icmp"
)

// translated says what shows that an address or a port of a probe was changed before it came to who quotes it, as measure.Hop has it; "": nothing.
func (f *traceFlow) translated(q icmp.Quote, id int) string {
	from, to, ports := q.Ports()
	if ident, _, _, ok := q.Echo(); ok && f.protocol == traceICMP {
		from, to, ports = ident, 0, true
	}
	if now := netip.AddrPortFrom(q.From, from); ports && now != netip.AddrPortFrom(f.own(), f.source(id)) {
		return now.String()
	}
	if ports && q.To != f.to.Addr() {
		return translatedTarget + netip.AddrPortFrom(q.To, to).String()
	}
	if shift := f.shift(q, id); shift != 0 {
		return translatedChecksum + " by " + strconv.Itoa(int(shift))
	}
	return ""
}

// What measure.Hop.Translated begins with, where it is not the source.
const (
	translatedTarget   = "to "
	translatedChecksum = "checksum"
)

// shift is by how much the transport checksum in a quote differs from that of the probe which it quotes: an address translator on the way there
// adjusts it (RFC 3022, section 4.2). 0: not at all, or it is not known. What a kernel quotes of a packet that never left its machine may have the sum
// of the pseudo-header alone, since the adapter would have done the rest.
func (f *traceFlow) shift(q icmp.Quote, id int) uint16 {
	checksum, sent, ok := uint16(0), uint16(0), false
	switch f.protocol {
	case traceUDP:
		_, to, _ := q.Ports()
		if _, checksum, _, ok = q.UDP(); ok && f.itsPort(to, id) {
			sent = f.checksum(id, to)
		}
	case traceICMP:
		if _, _, checksum, ok = q.Echo(); ok && !q.IPv6 { // of IPv6 the kernel reckons it
			sent = binary.BigEndian.Uint16(f.request(id)[2:])
		}
	case traceTCP:
		if request := f.request(id); onlySumDiffers(q.Transport, request) {
			checksum, sent, ok = binary.BigEndian.Uint16(q.Transport[16:]), binary.BigEndian.Uint16(request[16:]), true
		}
	}
	if !ok || checksum == 0 || sent == 0 || checksum == f.pseudoSum() {
		return 0
	}
	const most = 1<<16 - 1 // sums go round there (RFC 1071), so that a translator shifts those of all packets of a flow alike
	return uint16((int(checksum) - int(sent) + most) % most)
}

// changed is a number for what translators of addresses made of a probe, the same for all packets of a flow that passed the same of them: a hash of the source or the
// target that it came with, or else the shift of its checksum. 0: nothing that is known.
func (a *traceAnswer) changed() uint16 {
	if a.translated == "" || strings.HasPrefix(a.translated, translatedChecksum) {
		return a.shift
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(a.translated)) // never fails, as package hash says
	return uint16(h.Sum32()) | 1
}

// onlySumDiffers says whether a quoted segment is as it was sent, its checksum aside: a box that lowers the MSS or takes an option out adjusts that as well.
func onlySumDiffers(quoted, sent []byte) bool {
	return len(quoted) >= len(sent) && bytes.Equal(quoted[:16], sent[:16]) && bytes.Equal(quoted[18:len(sent)], sent[18:])
}

// pseudoSum is the sum of the pseudo-header (RFC 768) of a probe, not complemented.
func (f *traceFlow) pseudoSum() uint16 {
	length, protocol := uint16(len(f.request(0))), uint16(icmp.ProtocolTCP)
	if f.protocol == traceUDP {
		length, protocol = length+udpHeader, icmp.ProtocolUDP
	}
	b := append(f.from.Addr().AsSlice(), f.to.Addr().AsSlice()...)
	return ^icmp.Checksum(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, protocol), length))
}
