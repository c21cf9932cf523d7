package packet

// A super-packet is what a sending host with segmentation offload hands over: one header, and the payload of many
// segments. The adapter, or we in its place, makes of it
//
//	| IP, TCP/UDP | s bytes | s bytes | … | rest |
//	       |
//	       +-> | IP', TCP' | s bytes |  | IP', TCP' | s bytes | … | IP', TCP' | rest |
//
// in which lengths and checksums are each segment's own, IPv4's identification goes up by one from segment to segment,
// TCP's sequence number by s bytes, FIN and PSH stay on the last segment, and CWR on the first.
type train struct {
	protocol byte
	at       int // where the transport header begins
	head     int // where the payload begins
	size     int // payload bytes of each segment but the last
	count    int
}

// gsoECN may be set in VNet.Kind: the first segment alone has CWR (VIRTIO_NET_HDR_GSO_ECN).
const gsoECN = 0x80

// train reads a packet as a super-packet. It has one segment if it is none, or if its headers do not fit its kind.
// Lengths come from the headers: VNet.HeaderLength means other things on other devices.
func (p *Packet) train() train {
	one := train{count: 1}
	if p.VNet.Kind == GSONone || p.VNet.SegmentSize == 0 {
		return one
	}
	b := p.Data
	protocol, at := Transport(b)
	if at < 0 || IsFragment(b) {
		return one
	}
	t := train{protocol: protocol, at: at, head: at + udpHeader, size: int(p.VNet.SegmentSize)}
	switch kind := p.VNet.Kind &^ gsoECN; {
	case (kind == GSOTCP4 && b[0]>>4 == 4 || kind == GSOTCP6 && b[0]>>4 == 6) && protocol == ProtocolTCP:
		n := tcpHeaderLength(b, at)
		if n == 0 {
			return one
		}
		t.head = at + n
	case kind == GSOUDP && protocol == ProtocolUDP:
	default:
		return one
	}
	t.count = max(1, (len(b)-t.head+t.size-1)/t.size)
	return t
}

// Segments is how many packets on the wire this one stands for: 1 unless it is a super-packet.
func (p *Packet) Segments() int {
	if p.VNet.Kind == GSONone {
		return 1
	}
	return p.train().count
}

// WireBytes is the length of those packets together, IP headers included.
func (p *Packet) WireBytes() int64 {
	if p.VNet.Kind == GSONone {
		return int64(len(p.Data))
	}
	t := p.train()
	return int64(len(p.Data) + (t.count-1)*t.head)
}

// Cut returns a packet of p's segments from (the first is 0) up to but not including to; 0 <= from < to <= Segments().
// One segment comes complete with its checksums; several are a super-packet again. p stays as it is.
func (o *Pool) Cut(p *Packet, from, to int) *Packet {
	t := p.train()
	if t.count == 1 {
		c := o.Clone(p)
		c.Finish()
		return c
	}
	return o.cut(p, t, from, to)
}

// Split emits all segments one by one, complete with their checksums; a packet that is no super-packet is emitted
// itself. p is consumed.
func (o *Pool) Split(p *Packet, emit func(*Packet)) {
	t := p.train()
	if t.count == 1 {
		p.Finish()
		emit(p)
		return
	}
	for i := range t.count {
		emit(o.cut(p, t, i, i+1))
	}
	o.Put(p)
}

func (o *Pool) cut(p *Packet, t train, from, to int) *Packet {
	start, end := t.head+from*t.size, min(t.head+to*t.size, len(p.Data))
	c := o.like(p, t.head+end-start)
	b := c.Data
	copy(b, p.Data[:t.head])
	copy(b[t.head:], p.Data[start:end])
	if p.Number > 0 {
		c.Number = p.Number + uint64(from)
	}
	setLength(b, uint16(from))
	if t.protocol == ProtocolTCP {
		tcp := b[t.at:]
		be.PutUint32(tcp[tcpSequence:], be.Uint32(tcp[tcpSequence:])+uint32(from*t.size))
		if to < t.count {
			tcp[tcpFlags] &^= FlagFIN | FlagPSH
		}
		if from > 0 {
			tcp[tcpFlags] &^= FlagCWR
		}
	} else {
		be.PutUint16(b[t.at+udpLength:], uint16(len(b)-t.at))
	}
	if to-from == 1 {
		seal(b, t.protocol, t.at)
		return c
	}
	c.leaveToAdapter(t, p.VNet, from)
	return c
}

// setLength makes the IP header say what len(b) is, and adds step to IPv4's identification.
func setLength(b []byte, step uint16) {
	if b[0]>>4 == 6 {
		be.PutUint16(b[v6Length:], uint16(len(b)-v6Header))
		return
	}
	be.PutUint16(b[v4Length:], uint16(len(b)))
	be.PutUint16(b[v4ID:], be.Uint16(b[v4ID:])+step)
	sealV4(b)
}

// leaveToAdapter makes c a super-packet like the one that v came with, from whose segment from on it is: Linux wants
// the sum of the pseudo-header, with the length of the whole, in the checksum's place.
func (c *Packet) leaveToAdapter(t train, v VNet, from int) {
	offset, _ := checksumField(t.protocol)
	be.PutUint16(c.Data[t.at+offset:], pseudo(c.Data, t.protocol, len(c.Data)-t.at))
	v.NeedsChecksum, v.ChecksumStart, v.ChecksumOffset = true, uint16(t.at), uint16(offset)
	v.HeaderLength = uint16(t.head)
	if from > 0 {
		v.Kind &^= gsoECN
	}
	c.VNet = v
}

// LargestPacket is the length of the longest of those packets, what an MTU is held against.
func (p *Packet) LargestPacket() int {
	if p.VNet.Kind == GSONone {
		return len(p.Data)
	}
	if t := p.train(); t.count > 1 {
		return t.head + t.size
	}
	return len(p.Data)
}
