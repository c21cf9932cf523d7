package packet

import "bytes"

// Joinable returns how many of the first packets of a list a receiving adapter's offload would make one of (GRO,
// Documentation/networking/segmentation-offloads.rst): UDP datagrams of one flow whose headers differ in no more than
// IPv4's identification and the checksums, all as long as the first, but for the last, which may be shorter. Packets whose
// checksums are wrong, or not there, stay alone: whoever joins them says that they were right. It is at least 1.
func Joinable(list []*Packet) int {
	head := joinHead(list[0])
	if head == 0 {
		return 1
	}
	first, total := list[0].Data, len(list[0].Data)
	n := 1
	for _, p := range list[1:] {
		b := p.Data
		if p.VNet.Kind != GSONone || len(b) <= head || len(b) > len(first) || !sameFlow(first, b, head) {
			break
		}
		if total += len(b) - head; total > largestIP || !checksumsHold(b, head) || n == 1 && !checksumsHold(first, head) {
			break
		}
		if n++; len(b) < len(first) {
			break
		}
	}
	return n
}

// largestIP is the most that an IPv4 packet's length can say.
const largestIP = 1<<16 - 1

// joinHead is how long the headers of a packet are that may be joined with others; 0: it may not. It has no IP options or
// extension headers, and is no fragment.
func joinHead(p *Packet) int {
	b, at := p.Data, v6Header
	if b[0]>>4 == 4 {
		at = v4MinHeader
		if b[0] != 0x45 || be.Uint16(b[v4Fragment:])&^dontFragment != 0 || b[v4Protocol] != ProtocolUDP {
			return 0
		}
	} else if b[v6Next] != ProtocolUDP {
		return 0
	}
	head := at + udpHeader
	if p.VNet != (VNet{}) || len(b) <= head || int(be.Uint16(b[at+udpLength:])) != len(b)-at || be.Uint16(b[at+udpChecksum:]) == 0 {
		return 0
	}
	return head
}

// sameFlow compares two packets' headers but for lengths, identification and checksums; b's lengths must be those of b.
func sameFlow(first, b []byte, head int) bool {
	at := head - udpHeader
	if int(be.Uint16(b[at+udpLength:])) != len(b)-at || be.Uint16(b[at+udpChecksum:]) == 0 ||
		!bytes.Equal(first[at:at+udpLength], b[at:at+udpLength]) {
		return false
	}
	if at == v6Header {
		return bytes.Equal(first[:v6Length], b[:v6Length]) && bytes.Equal(first[v6Next:at], b[v6Next:at])
	}
	return bytes.Equal(first[:v4Length], b[:v4Length]) && bytes.Equal(first[v4Fragment:v4Checksum], b[v4Fragment:v4Checksum]) &&
		bytes.Equal(first[v4Source:at], b[v4Source:at])
}

// checksumsHold reports whether the checksums of a UDP packet are right.
func checksumsHold(b []byte, head int) bool {
	at := head - udpHeader
	if at == v4MinHeader && sum(b[:at]) != 0xffff {
		return false
	}
	return add(sum(b[at:]), pseudo(b, ProtocolUDP, len(b)-at)) == 0xffff
}

// MaxJoinHead is what JoinHead writes at most.
const MaxJoinHead = v6Header + udpHeader

// JoinHead writes the headers of the super-packet that packets make together, which must be Joinable, and returns their
// length and what the adapter that hands it over says of it. Behind them stands what each packet has behind as many bytes.
func JoinHead(to []byte, list []*Packet) (head int, v VNet) {
	first := list[0].Data
	head = joinHead(list[0])
	at, total := head-udpHeader, head
	for _, p := range list {
		total += len(p.Data) - head
	}
	b := to[:head]
	copy(b, first)
	be.PutUint16(b[at+udpLength:], uint16(total-at))
	if at == v6Header {
		be.PutUint16(b[v6Length:], uint16(total-at))
	} else {
		be.PutUint16(b[v4Length:], uint16(total))
		sealV4(b)
	}
	be.PutUint16(b[at+udpChecksum:], pseudo(b, ProtocolUDP, total-at))
	return head, VNet{Kind: GSOUDP, SegmentSize: uint16(len(first) - head), HeaderLength: uint16(head), NeedsChecksum: true,
		ChecksumStart: uint16(at), ChecksumOffset: udpChecksum}
}
