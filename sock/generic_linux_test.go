package sock

import (
	"encoding/hex"
	"testing"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// A message of generic netlink is what was put into it and nothing besides: its reserved part is zero.
func TestGenericMessage(t *testing.T) {
	request := nl.NewNetlinkRequest(controlFamily, unix.NLM_F_ACK)
	request.Seq = 0
	request.AddData(genericHeader{controlGetFamily, controlVersion})
	request.AddData(nl.NewRtAttr(attrFamilyName, nl.ZeroTerminated("a")))
	const want = "1c000000" + "10000500" + "00000000" + "00000000" + // struct nlmsghdr: length, type and flags, sequence, port
		"03020000" + "06000200" + "61000000"
	if got := hex.EncodeToString(request.Serialize()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The kernel knows the family that knows the families, and none that nobody registered.
func TestGenericFamily(t *testing.T) {
	if id, err := genericFamily("nlctrl"); err != nil || id != controlFamily {
		t.Errorf("nlctrl: %d, %v", id, err)
	}
	if id, err := genericFamily("no_such_family"); err == nil {
		t.Errorf("no_such_family: %d", id)
	}
}
