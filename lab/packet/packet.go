// Package packet reads and rewrites IP packets as routers, links and middleboxes do: headers of IPv4 and IPv6, ICMP
// errors, fragments, TCP options, and the super-packets that a host with segmentation offload hands over. It touches no
// socket and keeps no state of a network.
package packet

// Packet is an IP packet on its way through a lab. Times are nanoseconds of the lab's virtual time.
type Packet struct {
	Data   []byte // the IP packet, from its version field to its last byte
	VNet   VNet   // what the sending host's offloads left undone; zero: nothing
	Number uint64 // of the wire packet, counted from 1 as hosts send; 0: none; a super-packet has its first segment's
	Flow   int32  // the flow's number in the lab's account; -1: none
	Sent   int64  // when it entered the lab
	Came   int64  // when it came to the link that it is on
	Local  bool   // the lab's own cross traffic: it ends at its target node and is handed to no host
	Spoilt bool   // a bit of it was changed on the way

	Members uint64 // of a packet for a group: the members, by their bits, for whom this copy is; 0: it is for one receiver

	Frame       [18]byte // the link-layer header that it came with, where that is kept: Ethernet's, with a VLAN tag if any
	FrameLength uint8    // of it; 0: none is kept

	buffer []byte // the whole of what Data lies in; see Pool
}

// VNet is struct virtio_net_hdr (virtio 1.2 section 5.1.6): Linux hands packets over with it when their checksum or
// their cutting into segments was left to the adapter. Offsets count from the first byte of Data.
type VNet struct {
	NeedsChecksum  bool   // the transport checksum holds the pseudo-header's sum only
	ChecksumStart  uint16 // where the transport header begins
	ChecksumOffset uint16 // where the checksum is, from ChecksumStart
	Kind           uint8  // GSONone, GSOTCP4, GSOTCP6, GSOUDP (UDP_SEGMENT, VIRTIO_NET_HDR_GSO_UDP_L4)
	SegmentSize    uint16 // payload bytes of each segment but the last
	HeaderLength   uint16 // network and transport header together
}

// The values of VNet.Kind.
const (
	GSONone = 0
	GSOTCP4 = 1
	GSOTCP6 = 4
	GSOUDP  = 5
)

// Cause says why a packet went no further.
type Cause uint8

// The causes, as the truth names them.
const (
	Kept        Cause = iota // it was not dropped
	Loss                     // on the wire
	QueueFull                // came to a full queue, or was pushed out of one
	AQM                      // dropped early, by RED or CoDel
	Policed                  // above a policer's rate
	TooBig                   // above the link's MTU
	LinkDown                 // the link was out
	Collision                // sixteen collisions in a row, or a late one
	FrameError               // arrived cut short or with a bad frame check sequence
	Filtered                 // a firewall or filter
	NoRoute                  // no way to its target
	TTLExpired               // its hops were used up
	Unanswered               // addressed to a router that answers nothing to it
	NoAddress                // a translator had no port left, or knew no inside host for it
	HostRefused              // the receiving host's interface did not take it
	Reset                    // a disconnect of the connection that it belongs to
	Causes                   // how many there are
)

var causeNames = [Causes]string{"kept", "loss", "queue", "aqm", "policed", "mtu", "down", "collision", "frame_error",
	"filtered", "no_route", "ttl", "unanswered", "nat", "refused", "reset"}

func (c Cause) String() string {
	if c < Causes {
		return causeNames[c]
	}
	return "unknown"
}
