package packet

// Buffers come in two sizes: one for what an MTU of 1500 carries, and one for the largest IP packet, which offload and
// loopback-like MTUs send.
const (
	SmallBuffer = 2048
	LargeBuffer = 1<<16 + 128 // 65,535 bytes, and room for a longer header
)

// Pool keeps packets and their buffers for reuse, so that a lab allocates nothing per packet. The zero value is ready.
// It is not safe for use by two goroutines at once.
type Pool struct {
	// Reserve returns memory for buffers, at least so many bytes, which is never given back; nil: the Go heap's.
	Reserve func(bytes int) []byte

	packets      []*Packet
	small, large [][]byte
}

// reserve is how much memory is asked for at a time: a huge page.
const reserve = 2 << 20

// Get returns a zero packet whose Data has the given length (at most LargeBuffer) and any content.
func (o *Pool) Get(length int) *Packet {
	var p *Packet
	if k := len(o.packets); k > 0 {
		p, o.packets = o.packets[k-1], o.packets[:k-1]
	} else {
		p = &Packet{}
	}
	p.Flow = -1
	p.buffer = o.buffer(length)
	p.Data = p.buffer[:length]
	return p
}

func (o *Pool) buffer(length int) []byte {
	list, size := &o.small, SmallBuffer
	if length > SmallBuffer {
		list, size = &o.large, LargeBuffer
	}
	if len(*list) == 0 && o.Reserve != nil {
		for memory := o.Reserve(reserve); len(memory) >= size; memory = memory[size:] {
			*list = append(*list, memory[:size:size])
		}
	}
	if k := len(*list); k > 0 {
		b := (*list)[k-1]
		*list = (*list)[:k-1]
		return b
	}
	return make([]byte, size)
}

// Put takes a packet back. Nobody may hold it, or its Data, any more.
func (o *Pool) Put(p *Packet) {
	switch len(p.buffer) {
	case SmallBuffer:
		o.small = append(o.small, p.buffer)
	case LargeBuffer:
		o.large = append(o.large, p.buffer)
	}
	*p = Packet{}
	o.packets = append(o.packets, p)
}

// Clone returns a copy with a buffer of its own.
func (o *Pool) Clone(p *Packet) *Packet {
	c := o.like(p, len(p.Data))
	c.VNet = p.VNet
	copy(c.Data, p.Data)
	return c
}

// like returns a packet with p's place in the lab's account, a zero VNet, and Data of the given length and any content.
func (o *Pool) like(p *Packet, length int) *Packet {
	c := o.Get(length)
	data, buffer := c.Data, c.buffer
	*c = *p
	c.Data, c.buffer, c.VNet = data, buffer, VNet{}
	return c
}
