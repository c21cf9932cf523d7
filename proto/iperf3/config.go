// Package iperf3 speaks the wire protocol of iperf3 (github.com/esnet/iperf) in both roles, over TCP and over basic
// UDP, so that every iperf3 in the world is a peer.
//
// The codec (state bytes, JSON frames, parameters, results, datagram headers) is pure and touches no socket; Client
// and Server drive it over real ones. What it does not do: SCTP, and judging what was measured.
//
// One test, as it crosses the control connection (client on the left, state bytes named as in iperf3's source):
//
//	connect, 37-byte cookie,
//	parameters (JSON frame)  ---->                                      iperf3 sends the parameters when it has the 9
//	                         <----  PARAM_EXCHANGE 9
//	                         <----  PATHWISE 80, hello (JSON frame)     only if the parameters held "pathwise"
//	                         <----  CREATE_STREAMS 10
//	data connections, each
//	starting with the cookie ====>
//	                         <----  TEST_START 1, TEST_RUNNING 2
//	data                     <===>  data
//	TEST_END 4               ---->
//	                         <----  EXCHANGE_RESULTS 13
//	results (JSON frame)     ---->                                      to a Pathwise server at once behind the 4, and empty
//	                         <----  results (JSON frame), DISPLAY_RESULTS 14
//	IPERF_DONE 16            ---->
//
// At any time: CLIENT_TERMINATE 12, SERVER_TERMINATE 11, SERVER_ERROR -2 with two int32; instead of the first 9 a
// busy server sends ACCESS_DENIED -1 and closes.
//
// # What is counted
//
// iperf3 lets its sender count what it wrote and its receiver what it read, so the two differ by a send buffer, which
// on a long path is megabytes. Here both ends count what reached the receiving host:
//
//   - A TCP sender counts the bytes that the peer's kernel acknowledged (RFC 4898 HCThruOctetsAcked, tcpi_bytes_acked).
//     The client samples that when EXCHANGE_RESULTS arrives, the server when TEST_END arrives: in both cases the
//     acknowledgement of what the receiver held when it stopped counting travelled just ahead of that message.
//   - A test by time stops at that time. A test by bytes, or of a Source, ends when everything was acknowledged.
//   - A receiver stops at the end of the test after reading what the kernel already held (SIOCINQ), if the peer is
//     Pathwise. A stock peer reports what it wrote, so the receiver reads on until it has that many bytes (server) or
//     end of file (client), for at most drainLimit. Its seconds then run to the last byte.
//   - A Pathwise server, once it has counted, resets the TCP streams of a Pathwise client, which has stopped before.
//
// Goodput is the receiver's bytes over the receiver's own seconds, from TEST_START to its end.
package iperf3

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/analysis/loadrate"
	"github.com/pathwise-net/pathwise/sock"
)

// DefaultPort is iperf3's port, TCP and UDP.
const DefaultPort = 5201

// Defaults of iperf3's own (iperf.h, iperf_api.h) unless a reason is given.
const (
	defaultDuration   = 10 * time.Second
	defaultInterval   = time.Second
	defaultTCPLength  = 128 << 10
	defaultUDPLength  = 1460      // when the path's MSS is not known
	defaultUDPRate    = 1_000_000 // bit/s: a default that a shared link can bear
	defaultSampling   = 50 * time.Millisecond
	defaultTimeout    = 10 * time.Second // for each step of the handshake; more than five retransmissions of a SYN
	smallestSampling  = time.Millisecond // one reading takes some 5 us
	smallestInterval  = 10 * time.Millisecond
	trainWait         = 2 * time.Second // after the last train: 250 kB at 1 Mbit/s
	defaultPacingTick = 1000            // us, what iperf3 sends as pacing_timer
)

// Protocols of a test.
const (
	TCP = "tcp"
	UDP = "udp"
)

// Config is what a Client tests. The zero value is a TCP test of 10 s, one stream, client to server.
type Config struct {
	Proto    string        // TCP (default) or UDP
	Duration time.Duration // 0: 10 s, or no limit with Bytes or Source
	Bytes    int64         // end after this many bytes in each direction, over all streams; 0: no limit
	Blocks   int64         // the same in writes or datagrams of Length; one of the two at most
	Parallel int           // streams in each direction; 0: 1
	Reverse  bool          // the server sends
	Bidir    bool          // both send
	Interval time.Duration // of OnInterval and Report.Intervals; 0: 1 s; negative: none
	Omit     time.Duration // at the start, not counted; whole seconds

	Congestion string // congestion control of both ends; "": the kernel's default
	Window     int    // SO_SNDBUF and SO_RCVBUF of both ends in bytes; 0: the kernel tunes them
	Length     int    // bytes of one write or datagram; 0: 128 KiB, or what fits the path's MSS
	Rate       int64  // bit/s for each stream, paced by the application; 0: unlimited, or 1 Mbit/s for UDP
	Burst      int    // writes or datagrams that leave together at Rate; 0: those that are due
	FQRate     int64  // bit/s for each stream, held by the kernel (SO_MAX_PACING_RATE), of UDP only where the interface has the fq queueing discipline; 0: unlimited
	// ReverseRate is the rate of streams from the server in a test of both directions; 0: Rate. The server has to be Pathwise.
	ReverseRate int64
	DSCP        int
	FlowLabel   int // of what the client sends over IPv6, 1 to 1048575; 0: the kernel's choice
	NoDelay     bool
	ZeroCopy    bool // TCP senders have the kernel send pages of a file in memory (sendfile)
	MPTCP       bool // streams are of MPTCP, where both kernels have it (RFC 8684); the report's Notes say where it was plain TCP
	// ServerOutput asks the server for what it printed, or would: Report.ServerOutput.
	ServerOutput bool
	MSS          int // bytes, of the control connection as well, which large packets may not reach; 0: the kernel's choice

	// Source, if not nil, is what the client sends instead of memory; the test ends at its EOF. TCP, one stream.
	Source io.Reader
	// Sink, if not nil, is what the client writes what it receives into. TCP, one stream, from the server.
	Sink io.Writer
	// FarFile, if not "", is a file in the folder that a Pathwise server has for that: what it sends with Reverse, where the test ends at its end,
	// else what it writes what comes into, which must not be there before and is removed after the test. TCP, one stream.
	FarFile string
	// FarDirect has that file read or written past the kernel's cache.
	FarDirect bool
	// EventLoop makes the sender write as an event-driven program does: it asks whether the socket is writable before
	// each write. Only then does Linux hold the program to the send buffer: a program that writes until it is refused
	// gets past it, since what Nagle's algorithm holds back leaves room behind the last segment. TCP; a server that is
	// not Pathwise does not know it.
	EventLoop bool
	// NoOffload makes both ends of a UDP test hand over and take datagrams one by one. Otherwise those that are due together go to the kernel, and come
	// from it, in one piece (UDP_SEGMENT, UDP_GRO), where it can do that.
	NoOffload bool
	// Search has the sender find the maximum IP-layer capacity while the test runs, by RFC 9097: it begins with Rate, or 500 kbit/s, and goes by what
	// the receiver reports. UDP, one stream, one direction, 2 s to 5 min; the server has to be Pathwise, and what it sends holds to its Policy.
	Search bool
	// Group, if not "", is the multicast group that a GroupClient sends to; Hops is how many routers pass its datagrams on, and one more; 0: 1. UDP, one
	// stream, from the client; servers have to be Pathwise and let it in.
	Group string
	Hops  int
	// Train, if not nil, sends packet trains instead of a paced stream. UDP, one stream, one direction.
	Train *Train

	SampleEvery time.Duration // cadence of TCP_INFO samples, both ends; 0: 50 ms; negative: none
	Timeout     time.Duration // of each step of the handshake; 0: 10 s
	Auth        *ClientAuth   // nil: the client does not authenticate
	Cookie      string        // 36 printable characters, when the server admits a test by it; "": drawn at random

	// Enough, if not nil, is asked after each reading of TCP_INFO whether this end's readings so far say enough; the data then ends
	// before Duration. It is called from a goroutine of the test's, and keeps nothing of what it is given. TCP.
	Enough func([]Sample) bool
	// OnInterval, if not nil, is called for each interval as it ends, from a goroutine of the test's, in order.
	OnInterval func(IntervalReport)
}

// Validate returns an error, bad input, for the first field that cannot be.
func (c *Config) Validate() error {
	switch {
	case c.Proto != "" && c.Proto != TCP && c.Proto != UDP:
		return badConfig("protocol", strconv.Quote(c.Proto), "must be tcp or udp")
	case c.Duration < 0 || c.Duration > maxTime*time.Second:
		return badConfig("duration", c.Duration, "must be positive and at most 24h")
	case c.Bytes < 0:
		return badConfig("bytes", c.Bytes, "must not be negative")
	case c.Blocks < 0 || c.Blocks > 0 && c.Bytes > 0:
		return badConfig("blocks", c.Blocks, "must be positive, and takes no bytes beside it")
	case c.Burst < 0 || c.Burst > maxBurst:
		return badConfig("burst", c.Burst, fmt.Sprintf("must be 1 to %d", maxBurst))
	case c.FQRate < 0:
		return badConfig("kernel's rate", c.FQRate, "must be positive")
	case c.Parallel < 0 || c.Parallel > maxStreams:
		return badConfig("parallel streams", c.Parallel, fmt.Sprintf("must be 1 to %d", maxStreams))
	case c.Reverse && c.Bidir:
		return badConfig("reverse", true, "cannot be joined with bidir, which tests that direction too")
	case c.Omit < 0 || c.Omit > 60*time.Second || c.Omit%time.Second != 0:
		return badConfig("omit", c.Omit, "must be 0 to 60 whole seconds")
	case c.Interval > 0 && c.Interval < smallestInterval:
		return badConfig("interval", c.Interval, fmt.Sprintf("must be at least %v", smallestInterval))
	case c.SampleEvery > 0 && c.SampleEvery < smallestSampling:
		return badConfig("sampling", c.SampleEvery, fmt.Sprintf("must be at least %v", smallestSampling))
	case c.Window < 0 || c.Window > maxWindow:
		return badConfig("window", c.Window, fmt.Sprintf("must be 1 to %d bytes", maxWindow))
	case c.Rate < 0:
		return badConfig("rate", c.Rate, "must be positive")
	case c.ReverseRate < 0:
		return badConfig("reverse rate", c.ReverseRate, "must be positive")
	case c.DSCP < 0 || c.DSCP > 63:
		return badConfig("DSCP", c.DSCP, "must be 0 to 63")
	case c.FlowLabel < 0 || c.FlowLabel > sock.MaxFlowLabel:
		return badConfig("flow label", c.FlowLabel, fmt.Sprintf("must be 1 to %d", sock.MaxFlowLabel))
	case c.MSS != 0 && (c.MSS < 88 || c.MSS > maxMSS): // TCP_MIN_MSS of Linux
		return badConfig("MSS", c.MSS, fmt.Sprintf("must be 88 to %d bytes", maxMSS))
	case len(c.Congestion) > 15 || strings.ContainsFunc(c.Congestion, func(r rune) bool { return r <= ' ' || r > '~' }): // TCP_CA_NAME_MAX
		return badConfig("congestion control", strconv.Quote(oneLine(c.Congestion)), "must be a name of at most 15 letters")
	}
	if c.Auth != nil {
		if err := c.Auth.validate(); err != nil {
			return err
		}
	}
	if c.Cookie != "" {
		if _, err := ParseCookie(c.Cookie); err != nil {
			return err
		}
	}
	return cmp.Or(c.checkSearch(), c.checkGroup(), c.validateKind())
}

// validateKind checks what only one protocol, or only one direction, can do.
func (c *Config) validateKind() error {
	udp := c.Proto == UDP
	if err := c.checkFiles(udp); err != nil {
		return err
	}
	switch {
	case !udp && (c.Length < 0 || c.Length > maxTCPLength):
		return badConfig("length", c.Length, fmt.Sprintf("must be 1 to %d bytes", maxTCPLength))
	case udp && c.Length != 0 && (c.Length < minUDPLength || c.Length > maxUDPLength):
		return badConfig("length", c.Length, fmt.Sprintf("must be %d to %d bytes for UDP", minUDPLength, maxUDPLength))
	case c.FlowLabel > 0 && c.MPTCP:
		return badConfig("flow label", c.FlowLabel, "is not of MPTCP")
	case udp && c.MPTCP:
		return badConfig("MPTCP", true, "is of TCP")
	case c.Source != nil && c.ZeroCopy:
		return badConfig("source", "given", "cannot be sent by zero copy; leave one of them out")
	case c.Source != nil && (udp || c.Reverse || c.Bidir || c.Parallel > 1):
		return badConfig("source", "given", "works for one TCP stream from client to server")
	case c.Enough != nil && (udp || c.SampleEvery < 0):
		return badConfig("an early end", "given", "works for TCP whose ends are sampled")
	case c.Train != nil && (!udp || c.Bidir || c.Parallel > 1 || c.Omit > 0):
		return badConfig("train", "given", "works for one UDP stream in one direction without omit")
	case c.Train != nil:
		return c.Train.check()
	}
	return nil
}

// validateStock refuses what a server that is not Pathwise would not do, and not say so.
func (c *Config) validateStock() error {
	if c.FarFile != "" {
		return badConfig("far file", strconv.Quote(c.FarFile), "the far end is a stock iperf3, which opens no file for a client: leave it out")
	}
	if c.Search {
		return badConfig("search", "rfc9097", "the far end is a stock iperf3, which reports nothing while it receives: search by trials")
	}
	if c.Group != "" {
		return badConfig("group", c.Group, "the far end is a stock iperf3, which joins no group: leave it out")
	}
	if c.Bidir && c.ReverseRate > 0 && c.ReverseRate != c.Rate {
		return badConfig("reverse rate", c.ReverseRate, "the far end is a stock iperf3, which knows one rate for both directions: leave it out")
	}
	return nil
}

// withDefaults fills in what was left zero, except what depends on the path.
func (c Config) withDefaults() Config {
	c.Proto = cmp.Or(c.Proto, TCP)
	if c.Train != nil {
		c.Length = c.Train.Size
		if c.Duration == 0 { // how long to wait for datagrams that may be lost
			c.Duration = time.Duration(c.Train.seconds()*float64(time.Second)) + trainWait
		}
	}
	if c.Duration == 0 && c.Bytes == 0 && c.Blocks == 0 && c.Source == nil && !(c.FarFile != "" && c.Reverse) {
		c.Duration = defaultDuration
	}
	c.Parallel = max(c.Parallel, 1)
	c.Interval = orDefault(c.Interval, defaultInterval)
	c.SampleEvery = orDefault(c.SampleEvery, defaultSampling)
	c.Timeout = orDefault(c.Timeout, defaultTimeout)
	if c.Proto == TCP && c.Length == 0 {
		c.Length = defaultTCPLength
	}
	if c.Search && c.Rate == 0 {
		c.Rate = loadrate.Least
	}
	if c.Proto == UDP && c.Rate == 0 {
		c.Rate = defaultUDPRate
	}
	return c
}

func orDefault(v, fallback time.Duration) time.Duration {
	if v == 0 {
		return fallback
	}
	return v
}

// hostPort adds the default port to an address without one.
func hostPort(addr string) (string, error) {
	if addr == "" {
		return "", badConfig("address", `""`, "give a host, or host:port")
	}
	host, port, err := sock.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	port = cmp.Or(port, DefaultPort)
	return sock.JoinHostPort(host, port), nil
}
