package host

import (
	"encoding/binary"
	"errors"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// nfBatch sends messages to nf_tables as one change, and waits for the answer to each.
func nfBatch(messages ...*nl.NetlinkRequest) error {
	const begin, end, subsystem = 16, 17, 10
	mark := func(kind int) *nl.NetlinkRequest {
		r := nl.NewNetlinkRequest(kind, 0)
		r.AddData(&nl.Nfgenmsg{ResId: subsystem << 8}) // the most significant byte first
		return r
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	raw := mark(begin).Serialize()
	for _, m := range messages {
		raw = append(raw, m.Serialize()...)
	}
	raw = append(raw, mark(end).Serialize()...)
	if err := unix.Sendto(fd, raw, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	for answers := 0; answers < len(messages); {
		buffer := make([]byte, 1<<16)
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if err != nil {
			return err
		}
		for left := buffer[:n]; len(left) >= unix.NLMSG_HDRLEN+4; answers++ {
			if code := int32(binary.NativeEndian.Uint32(left[unix.NLMSG_HDRLEN:])); code != 0 {
				return unix.Errno(-code)
			}
			length := int(binary.NativeEndian.Uint32(left))
			left = left[min(len(left), (length+3)&^3):]
		}
	}
	return nil
}

// nfMessage makes something of nf_tables, of IPv4.
func nfMessage(message int, attrs ...*nl.RtAttr) *nl.NetlinkRequest {
	r := nl.NewNetlinkRequest(nfTables|message, unix.NLM_F_CREATE|unix.NLM_F_APPEND|unix.NLM_F_ACK)
	r.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_INET})
	for _, a := range attrs {
		r.AddData(a)
	}
	return r
}

func nested(kind int, inner ...*nl.RtAttr) *nl.RtAttr {
	a := nl.NewRtAttr(kind|unix.NLA_F_NESTED, nil)
	for _, i := range inner {
		a.AddChild(i)
	}
	return a
}

func text(kind int, value string) *nl.RtAttr { return nl.NewRtAttr(kind, nl.ZeroTerminated(value)) }

func big(kind int, value int32) *nl.RtAttr {
	return nl.NewRtAttr(kind, binary.BigEndian.AppendUint32(nil, uint32(value)))
}

// nfRule is a rule of table "t" and chain "input" that drops what its steps hold for.
func nfRule(steps ...*nl.RtAttr) *nl.NetlinkRequest {
	const newRule = 6
	drop := nested(1, text(1, "immediate"), nested(2, big(1, 0), nested(2, nested(2, big(1, 0)))))
	return nfMessage(newRule, text(1, "t"), text(2, "input"), nested(4, append(steps, drop)...))
}

// What the kernel's own nf_tables has is read back: a chain that drops, and rules of ICMP and of fragments.
func TestReadNFTables(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test, and its namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespace of its own: %v", err)
	}
	if chains, rules, err := readNFTables(); err != nil || len(chains)+len(rules) > 0 {
		t.Fatalf("before: %v %v %v", chains, rules, err)
	}
	const newTable, newChain = 0, 3
	load := func(base, offset, length int32) *nl.RtAttr {
		return nested(1, text(1, "payload"), nested(2, big(1, 1), big(2, base), big(3, offset), big(4, length)))
	}
	compare := func(operation int32, value ...byte) *nl.RtAttr {
		return nested(1, text(1, "cmp"), nested(2, big(1, 1), big(2, operation), nested(3, nl.NewRtAttr(1, value))))
	}
	mask := nested(1, text(1, "bitwise"), nested(2, big(1, 1), big(2, 1), big(3, 2), nested(4, nl.NewRtAttr(1, []byte{0x1f, 0xff})),
		nested(5, nl.NewRtAttr(1, []byte{0, 0}))))
	err := nfBatch(
		nfMessage(newTable, text(1, "t")),
		nfMessage(newChain, text(1, "t"), text(3, "input"), nested(4, big(1, 1), big(2, 0)), big(5, 0), text(7, "filter")),
		nfRule(load(1, 9, 1), compare(0, icmp4)),
		nfRule(load(1, 6, 2), mask, compare(1, 0, 0)),
	)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOENT) {
		t.Skipf("this kernel has no nf_tables: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	chains, rules, err := readNFTables()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Chain{{Family: "ip", Table: "t", Name: "input", Hook: "input", Drops: true}}, chains); diff != "" {
		t.Errorf("chains (-want +got):\n%s", diff)
	}
	want := []Rule{{Chain: "ip t input", Protocol: icmp4, Text: "icmp drop"}, {Chain: "ip t input", Number: 1, Fragments: true, Text: "fragments drop"}}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	var ids []string
	for _, c := range Judge(&Facts{Network: Network{Chains: chains, Rules: rules}}, gigabit) {
		ids = append(ids, c.ID+" "+c.Value)
	}
	if diff := cmp.Diff([]string{"firewall-icmp icmp drop", "firewall-icmp policy drop", "firewall-fragments fragments drop"}, ids); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}
