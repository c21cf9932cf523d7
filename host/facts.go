package host

import (
	"net/netip"
	"time"
)

// Facts are what was read of a machine. What could not be read is absent, and Missing says why.
type Facts struct {
	Name       string
	Kernel     string
	Sysctls    map[string]string     // running, by key as sysctl(8) writes it; values with one space between their parts
	Configured map[string]Configured // what files set, by the same keys and by those of configured.go
	Unaudited  []string              // keys of Configured that no Item has
	Counters   map[string]Counter    // by names as TcpExt.ListenDrops, softnet.0.dropped, link.eth0.rx_dropped
	Elapsed    time.Duration         // between the two
	Memory     map[string]float64    // bytes, by names of /proc/meminfo
	Sockets    map[string]uint64     // by names as TCP.inuse (/proc/net/sockstat)
	PageSize   float64               // bytes; 0: not known
	CPUs       []Processor
	Disks      []DiskFacts
	Mounts     []Mount
	Fstab      []Mount // as it is configured
	Time       TimeFacts
	Network    Network
	Ciphers    []CipherRate
	Transfer   []CipherRate // what a transfer does to each byte, where that was asked for
	DiskRates  []DiskRate

	OwnAddresses []netip.Addr // that this machine's name stands for
	Interrupts   []Interrupt
	Missing      []string
}

// Configured is what a file makes of a setting when the machine starts.
type Configured struct{ Value, File string }

// Counter is what the kernel has counted, at two moments.
type Counter struct{ First, Last uint64 }

// Moved is how much was counted between the two. A counter that went back was set to zero, and so counted what it has now.
func (c Counter) Moved() uint64 {
	if c.Last < c.First {
		return c.Last
	}
	return c.Last - c.First
}

// Processor is one logical processor.
type Processor struct {
	Number               int
	Governor             string // "": frequencies are not the kernel's to choose
	MaxHertz, LimitHertz float64
}

// DiskFacts are of one disk that a file system is on.
type DiskFacts struct {
	Name       string
	Rotational bool
	Scheduler  string // the one that is chosen
	ReadAhead  int    // bytes
}

// Mount is a file system where it is mounted. Free and size are 0 where it does not say.
type Mount struct {
	Device, Path, Type string
	Options            []string
	Free, Size         float64 // bytes
	Disk               string  // of DiskFacts; "": none of its own
}

// TimeFacts are of the clock.
type TimeFacts struct {
	Source       string // of time stamps
	Available    []string
	Known        bool // the next two are
	Synchronised bool
	MaxError     time.Duration // the kernel's own bound
}

// Interrupt is one line of an adapter.
type Interrupt struct {
	Number    int
	Interface string
	Counts    []uint64 // by processor, since the start

	matched bool // Interface is one; else it is still the interrupt's own name
}

// CipherRate is how fast one core of this machine does a cipher, or a digest.
type CipherRate struct {
	Name string  `json:"name"`
	Rate float64 `json:"bits_per_second"`
}

// DiskRate is how fast a file was read or written: see package disk.
type DiskRate struct {
	Path      string  `json:"folder"`
	What      string  `json:"what"` // such as "direct write"
	Rate      float64 `json:"bits_per_second"`
	PerSecond float64 `json:"blocks_per_second,omitempty"` // of small blocks at random places; 0: large ones, one after another
}

// Network is what the kernel says over netlink.
type Network struct {
	Links     []Link
	Way       Way
	Routes    []RouteFacts
	Rules     []Rule // of packet filters
	Chains    []Chain
	Listeners []Listener
}

// Link is one network interface.
type Link struct {
	Index       int
	Name        string
	Up, Adapter bool // adapter: it is hardware, or a hypervisor shows it as such
	Loopback    bool
	Address     string // of the hardware
	MTU         int
	QueueLength int
	Driver      string
	Addresses   []netip.Prefix

	// As ethtool has them; zero where the driver does not say.
	Speed         float64 // bit/s
	Fastest       float64 // of the modes that it supports
	Duplex        string  // full, half or ""
	Negotiates    *bool
	Features      map[string]Feature
	Rings         map[string]Range // rx, tx
	Channels      map[string]Range // rx, tx, combined
	Coalesce      *Coalesce
	Qdiscs        []Qdisc
	Node          int // of memory; -1: not known
	PCIe          float64
	ReceiveQueues int
	SteersToCPUs  bool              // some receive queue hands packets to other processors (RPS)
	Counts        map[string]uint64 // of packets, errors and drops
}

// Feature is an offload: whether it is on, and whether it can be changed.
type Feature struct{ On, Can bool }

// Range is what something is set to, and the most that it may be.
type Range struct{ Now, Most int }

// Coalesce is how an adapter gathers packets before it interrupts.
type Coalesce struct {
	Microseconds, Frames int // of receiving
	Adaptive             bool
}

// Qdisc is a queueing discipline of an interface.
type Qdisc struct {
	Kind  string
	Root  bool    // it is what the interface asks first
	Rate  float64 // bit/s; of one that shapes
	Drops uint64
}

// Way is the route to where packets are to go.
type Way struct {
	To     netip.Addr // none: the default route
	Source netip.Addr
	RouteFacts
	Remembered *Remembered // of earlier connections there
}

// RouteFacts is a route with what it lays down. Zero fields are left to TCP.
type RouteFacts struct {
	Destination, Interface          string // default, or a prefix
	Six                             bool   // it is of IPv6
	Metric                          int
	MTU, AdvertisedMSS              int // bytes
	MTULocked                       bool
	Window                          int // bytes
	InitialWindow, InitialReceive   int // packets
	CongestionWindow, SlowStartFrom int // packets
	HopLimit                        int
	Congestion                      string
}

// Remembered is what the kernel keeps of earlier TCP connections.
type Remembered struct {
	SlowStartFrom int // packets
	RTT           time.Duration
}

// Listener is a TCP socket that waits for connections.
type Listener struct {
	Address        string
	Waiting, Queue int // connections not yet accepted; the most that may be
}

// Chain is where a packet filter looks at packets.
type Chain struct {
	Family, Table, Name, Hook string
	Drops                     bool // what no rule takes
}

// name is what its rules call it.
func (c Chain) name() string { return c.Family + " " + c.Table + " " + c.Name }

// Rule is a rule of a packet filter that takes packets away, or lets them in.
type Rule struct {
	Chain     string // family, table and name
	Number    int    // in the order in which the chain is gone through
	Jumps     bool   // what becomes of a packet another chain says
	Accepts   bool   // else it drops or refuses
	Protocol  int    // of IP: 1 ICMP, 58 ICMPv6; 0: any
	Types     []int  // of ICMP; none: all
	Fragments bool   // it is of fragments
	Related   bool   // it is of what belongs to connections that are known
	Narrow    bool   // it has conditions beside these, such as an address or a limit
	Text      string
}
