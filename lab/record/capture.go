package record

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"github.com/pathwise-net/pathwise/lab/packet"
)

// Capture writes packets to a pcapng file (draft-ietf-opsawg-pcapng) as they pass interfaces: stamped to the
// nanosecond, with the number by which the truth knows each as a comment. Whoever hands packets over waits for no more than
// a copy in memory: a goroutine of the Capture's own does the writing, and what comes faster than that is left out,
// counted, and told in the file.
type Capture struct {
	writer *pcapgo.NgWriter
	zero   time.Time // virtual time 0 on the wall clock
	limit  int

	mu      sync.Mutex // guards what follows
	filling batch
	counts  []pcapgo.NgInterfaceStatistics // by interface
	closed  bool
	ended   int64 // when

	wake   chan struct{}
	failed chan struct{}
	done   chan error
}

// Interface is a place where packets are seen.
type Interface struct{ Name, Description string }

// Seen is what is known of a packet when it is captured.
type Seen struct {
	Number uint64 // 0: none
	Out    bool   // it leaves by the interface; otherwise it comes in
}

// batch is packets that wait to be written, one after the other in data.
type batch struct {
	packets []captured
	data    []byte
}

type captured struct {
	t      int64
	length int
	iface  int
	seen   Seen
}

// captureBuffer holds 27 ms of 1.2 Gbit/s, twice: one part is filled while the other is written.
const captureBuffer = 4 << 20

// NewCapture starts a file with a section header and a block for each interface (at least one). Zero is the wall clock's
// time at virtual time 0. Close ends it; the writer w is the caller's to close.
func NewCapture(w io.Writer, zero time.Time, interfaces []Interface) (*Capture, error) {
	return newCapture(w, zero, interfaces, captureBuffer)
}

func newCapture(w io.Writer, zero time.Time, interfaces []Interface, limit int) (*Capture, error) {
	if len(interfaces) == 0 {
		return nil, fmt.Errorf("start capture: no interface given")
	}
	c := &Capture{
		zero: zero, limit: limit, counts: make([]pcapgo.NgInterfaceStatistics, len(interfaces)),
		wake: make(chan struct{}, 1), failed: make(chan struct{}), done: make(chan error, 1),
	}
	section := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{
		Hardware: runtime.GOARCH, OS: runtime.GOOS, Application: "pathwise lab",
	}}
	var err error
	if c.writer, err = pcapgo.NewNgWriterInterface(w, described(interfaces[0]), section); err != nil {
		return nil, fmt.Errorf("start capture: %w", err)
	}
	for _, i := range interfaces[1:] {
		if _, err := c.writer.AddInterface(described(i)); err != nil {
			return nil, fmt.Errorf("start capture: %w", err)
		}
	}
	if err := c.writer.Flush(); err != nil {
		return nil, fmt.Errorf("start capture: %w", err)
	}
	go c.run()
	return c, nil
}

func described(i Interface) pcapgo.NgInterface {
	return pcapgo.NgInterface{
		Name: i.Name, Description: i.Description, OS: runtime.GOOS,
		LinkType: layers.LinkTypeEthernet, TimestampResolution: 9, // powers of ten of a second
	}
}

// Packet captures a packet (or a super-packet, as it is) at a virtual time, at an interface by its index in what NewCapture
// was given. The data is copied. Checksums that were left to an adapter are captured unfinished.
func (c *Capture) Packet(iface int, t int64, data []byte, seen Seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	header := ethernet(data, seen.Out)
	counts := &c.counts[iface]
	counts.PacketsReceived++
	if c.closed || len(c.filling.data)+len(header)+len(data) > c.limit {
		counts.PacketsDropped++
		return
	}
	c.filling.packets = append(c.filling.packets, captured{t: t, length: len(header) + len(data), iface: iface, seen: seen})
	c.filling.data = append(append(c.filling.data, header[:]...), data...)
	if len(c.wake) == 0 {
		c.wake <- struct{}{} // has room: all who send hold the lock
	}
}

// ethernet invents the header of an Ethernet frame for an IP packet: from the node to its link, or the other way. libpcap
// (1.10.3) refuses files with several interfaces of raw IP: it compares its own number for that, 12, with the file's 101.
func ethernet(data []byte, out bool) (header [14]byte) {
	node, link := [6]byte{0x02, 5: 1}, [6]byte{0x02, 5: 2} // locally administered (IEEE 802)
	to, from := node, link
	if out {
		to, from = link, node
	}
	copy(header[:], to[:])
	copy(header[6:], from[:])
	kind := layers.EthernetTypeIPv4
	if packet.Version(data) == 6 {
		kind = layers.EthernetTypeIPv6
	}
	header[12], header[13] = byte(kind>>8), byte(kind)
	return header
}

// Missed returns how many packets were left out.
func (c *Capture) Missed() (packets uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.counts {
		packets += i.PacketsDropped
	}
	return packets
}

// Failed returns a channel that is closed once a write has failed, when nothing more will come into the file. Close says
// why.
func (c *Capture) Failed() <-chan struct{} { return c.failed }

// Close ends the capture at a virtual time: it writes what is left, and the counts of each interface. It returns the first
// error of any write: the file ends there. Packets that come later are left out.
func (c *Capture) Close(t int64) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed, c.ended = true, t
	c.mu.Unlock()
	close(c.wake)
	if err := <-c.done; err != nil {
		return fmt.Errorf("write capture: %w", err)
	}
	return nil
}

// run writes until the capture is closed. After an error it goes on taking packets, and throws them away.
func (c *Capture) run() {
	var full batch
	var failed error
	for open := true; open; {
		_, open = <-c.wake
		c.mu.Lock()
		full, c.filling = c.filling, batch{packets: full.packets[:0], data: full.data[:0]}
		c.mu.Unlock()
		if failed != nil {
			continue
		}
		if failed = c.write(&full); failed != nil {
			close(c.failed)
		}
	}
	if failed == nil {
		failed = c.writeCounts()
	}
	c.done <- failed
}

func (c *Capture) write(b *batch) error {
	data := b.data
	for i := range b.packets {
		p := &b.packets[i]
		info := gopacket.CaptureInfo{
			Timestamp: c.zero.Add(time.Duration(p.t)), InterfaceIndex: p.iface, CaptureLength: p.length, Length: p.length,
		}
		way := pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}
		if p.seen.Out {
			way.Direction = pcapgo.NgEpbFlagDirectionOutbound
		}
		options := pcapgo.NgPacketOptions{Flags: &way}
		if p.seen.Number > 0 {
			options.Comments = []string{fmt.Sprintf("packet %d", p.seen.Number)}
		}
		if err := c.writer.WritePacketWithOptions(info, data[:p.length], options); err != nil {
			return err
		}
		data = data[p.length:]
	}
	return c.writer.Flush()
}

func (c *Capture) writeCounts() error {
	c.mu.Lock()
	all, ended := slices.Clone(c.counts), c.zero.Add(time.Duration(c.ended))
	c.mu.Unlock()
	for i, counts := range all {
		counts.LastUpdate = ended
		if err := c.writer.WriteInterfaceStats(i, counts); err != nil {
			return err
		}
	}
	return c.writer.Flush()
}
