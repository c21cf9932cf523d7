package packet

// minFragment is what every IPv4 link must carry in one piece (RFC 791 section 3.2): the longest header and 8 bytes.
const minFragment = 68

// Fragment emits the packet in pieces of at most mtu bytes, as RFC 791 section 3.2 has it, and consumes it:
//
//	| IP | data ...                     |        offset o, more = m
//	| IP | data 0..n-1 |                         offset o,           more = 1     n: a multiple of 8
//	| IP'| data n..2n-1 |                        offset o + n/8,     more = 1     IP': options that are not for
//	| IP'| the rest |                            offset o + k*n/8,   more = m          every fragment are NOPs
//
// A packet that fits is emitted as it is, a super-packet segment by segment. False, with the packet untouched: IPv6,
// which only its source may fragment; "don't fragment"; or an MTU below 68, IPv4's least.
func Fragment(o *Pool, p *Packet, mtu int, emit func(*Packet)) bool {
	segments := p.Segments()
	if segments == 1 && len(p.Data) <= mtu {
		emit(p)
		return true
	}
	b := p.Data
	if b[0]>>4 != 4 || be.Uint16(b[v4Fragment:])&dontFragment != 0 || mtu < minFragment {
		return false
	}
	if segments > 1 {
		o.Split(p, func(s *Packet) { Fragment(o, s, mtu, emit) })
		return true
	}
	p.Finish() // its checksum goes with the first fragment alone
	header := v4HeaderLength(b)
	step := (mtu - header) &^ 7
	for start := header; start < len(b); start += step {
		emit(o.fragment(p, header, start, min(start+step, len(b))))
	}
	o.Put(p)
	return true
}

// fragment makes the fragment of p's bytes from start to end, which lie behind its header.
func (o *Pool) fragment(p *Packet, header, start, end int) *Packet {
	f := o.like(p, header+end-start)
	b := f.Data
	copy(b, p.Data[:header])
	copy(b[header:], p.Data[start:end])
	place := be.Uint16(b[v4Fragment:]) + uint16((start-header)/8)
	if end < len(p.Data) {
		place |= moreToCome
	}
	be.PutUint16(b[v4Fragment:], place)
	if start > header {
		blankOptions(b[v4MinHeader:header])
	}
	setLength(b, 0)
	return f
}

// IPv4 options (RFC 791 section 3.1): the uppermost bit of the kind says that every fragment carries it.
const copied = 0x80

// blankOptions overwrites the options that only the first fragment carries.
func blankOptions(list []byte) {
	for i := 0; i < len(list); {
		n := 1
		if list[i] == optionEnd {
			return
		}
		if list[i] != optionNOP {
			if i+2 > len(list) || list[i+1] < 2 || i+int(list[i+1]) > len(list) {
				return
			}
			n = int(list[i+1])
		}
		if list[i]&copied == 0 {
			for j := i; j < i+n; j++ {
				list[j] = optionNOP
			}
		}
		i += n
	}
}

// AllowFragments takes "don't fragment" off an IPv4 packet, as some routers do against RFC 791, and leaves IPv6 alone.
func AllowFragments(b []byte) {
	if b[0]>>4 != 4 {
		return
	}
	old := be.Uint16(b[v4Fragment:])
	be.PutUint16(b[v4Fragment:], old&^dontFragment)
	mend(b[v4Checksum:], old, old&^dontFragment)
}
