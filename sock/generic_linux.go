package sock

import (
	"encoding/binary"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Numbers of the family of generic netlink that knows the others (include/uapi/linux/genetlink.h).
const (
	controlFamily    = 0x10
	controlVersion   = 2
	controlGetFamily = 3

	attrFamilyID   = 1
	attrFamilyName = 2
)

// genericHeader begins each message of generic netlink (include/uapi/linux/genetlink.h):
//
//	| command : 8 | version : 8 | reserved : 16 |
//
// That of package nl has no reserved part: what it sends there is whatever lies behind it in memory.
type genericHeader struct{ command, version uint8 }

const genericHeaderSize = 4

// Len is the header's length in bytes.
func (genericHeader) Len() int { return genericHeaderSize }

// Serialize is the header as it is sent.
func (h genericHeader) Serialize() []byte { return []byte{h.command, h.version, 0, 0} }

// Package nl learns the order of bytes at its first use, which may be in several goroutines at once: here it does before any.
var _ = nl.NativeEndian()

// Generic sends one message to a family of generic netlink that is known by its name, such as ethtool, and returns the attributes of
// each answer, for EachAttr. It is about the network namespace of the calling thread.
func Generic(family string, command, version uint8, attributes ...*nl.RtAttr) ([][]byte, error) {
	id, err := genericFamily(family)
	if err != nil {
		return nil, err
	}
	return genericCall(id, genericHeader{command, version}, attributes...)
}

// genericCall sends one message to a family, and returns the attributes of each answer.
func genericCall(family int, header genericHeader, attributes ...*nl.RtAttr) ([][]byte, error) {
	request := nl.NewNetlinkRequest(family, unix.NLM_F_ACK)
	request.AddData(header)
	for _, a := range attributes {
		request.AddData(a)
	}
	replies, err := request.Execute(unix.NETLINK_GENERIC, 0)
	if err != nil {
		return nil, err
	}
	for i, reply := range replies {
		if len(reply) < genericHeaderSize {
			return nil, fmt.Errorf("answer of %d bytes is too short", len(reply))
		}
		replies[i] = reply[genericHeaderSize:]
	}
	return replies, nil
}

// genericFamily returns the number that the kernel gave a family when it was registered.
func genericFamily(name string) (int, error) {
	replies, err := genericCall(controlFamily, genericHeader{controlGetFamily, controlVersion},
		nl.NewRtAttr(attrFamilyName, nl.ZeroTerminated(name)))
	if err != nil {
		return 0, fmt.Errorf("find netlink family %s: %w", name, err)
	}
	id := 0
	for _, reply := range replies {
		err := EachAttr(reply, func(kind uint16, value []byte) error {
			if kind == attrFamilyID && len(value) == 2 {
				id = int(binary.NativeEndian.Uint16(value))
			}
			return nil
		})
		if err != nil {
			return 0, fmt.Errorf("find netlink family %s: %w", name, err)
		}
	}
	if id == 0 {
		return 0, fmt.Errorf("find netlink family %s: the kernel's answer has no number", name)
	}
	return id, nil
}
