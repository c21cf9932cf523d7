package host

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/pathwise-net/pathwise/sock"
)

// Messages of nf_tables (include/uapi/linux/netfilter/nf_tables.h): its part of netfilter's netlink, in the upper byte, and what is asked.
const (
	nfTables   = 10 << 8
	nfChains   = 4
	nfRules    = 7
	nfElements = 13
)

// nfHeader begins each message of netfilter: the family, a version and a number.
const nfHeader = 4

// families are those that packets of IP go through.
var families = map[byte]string{1: "inet", 2: "ip", 10: "ip6"}

// hooks are where a chain looks at packets.
var hooks = map[int]string{0: "prerouting", 1: "input", 2: "forward", 3: "output", 4: "postrouting"}

// dump asks nf_tables for all of one kind.
func dump(message int, family byte, more ...*nl.RtAttr) ([][]byte, error) {
	request := nl.NewNetlinkRequest(nfTables|message, unix.NLM_F_DUMP)
	request.AddData(&nl.Nfgenmsg{NfgenFamily: family})
	for _, a := range more {
		request.AddData(a)
	}
	return request.Execute(unix.NETLINK_NETFILTER, 0)
}

// readNFTables reads the chains and rules of nf_tables, which only root may. A kernel without it has none.
func readNFTables() (chains []Chain, rules []Rule, err error) {
	found, err := dump(nfChains, unix.AF_UNSPEC)
	switch {
	case errors.Is(err, unix.EPERM):
		return nil, nil, errors.New("list the firewall's chains: only root may")
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EPROTONOSUPPORT):
		return nil, nil, nil // this kernel has none
	case err != nil:
		return nil, nil, fmt.Errorf("list the firewall's chains: %w", err)
	}
	for _, raw := range found {
		if c, ok := readChain(raw); ok {
			chains = append(chains, c)
		}
	}
	if len(chains) == 0 {
		return nil, nil, nil
	}
	if found, err = dump(nfRules, unix.AF_UNSPEC); err != nil {
		return chains, nil, fmt.Errorf("list the firewall's rules: %w", err)
	}
	for i, raw := range found {
		if r, ok := readNFRule(raw); ok {
			r.Number = i
			rules = append(rules, r)
		}
	}
	return chains, rules, nil
}

func readChain(raw []byte) (Chain, bool) {
	const table, name, hook, policy, number = 1, 3, 4, 5, 1
	if len(raw) < nfHeader {
		return Chain{}, false
	}
	a, err := readAttributes(raw[nfHeader:])
	family, ours := families[raw[0]]
	if err != nil || !ours {
		return Chain{}, false
	}
	c := Chain{Family: family, Table: a.text(table), Name: a.text(name)}
	if inner, err := readAttributes(a[hook]); err == nil && len(inner[number]) == 4 {
		c.Hook = hooks[inner.big(number)]
	}
	_, has := a[policy]
	c.Drops = has && a.big(policy) == 0
	return c, true
}

func readNFRule(raw []byte) (Rule, bool) {
	const table, chain, expressions, name, data, set = 1, 2, 4, 1, 2, 1
	if len(raw) < nfHeader {
		return Rule{}, false
	}
	a, err := readAttributes(raw[nfHeader:])
	family, ours := families[raw[0]]
	if err != nil || !ours {
		return Rule{}, false
	}
	var all []expression
	sets := map[string][][]byte{}
	err = sock.EachAttr(a[expressions], func(_ uint16, one []byte) error {
		outer, err := readAttributes(one)
		if err != nil {
			return err
		}
		inner, err := readAttributes(outer[data])
		if err != nil {
			return err
		}
		e := expression{outer.text(name), inner}
		if e.name == "lookup" {
			sets[e.text(set)] = readSet(raw[0], a.text(table), e.text(set))
		}
		all = append(all, e)
		return nil
	})
	if err != nil {
		return Rule{}, false
	}
	r, ok := readRule(all, sets)
	r.Chain = family + " " + a.text(table) + " " + a.text(chain)
	return r, ok
}

// readSet are the elements of a set; none where it cannot be read.
func readSet(family byte, table, name string) (all [][]byte) {
	const inTable, ofSet, elements, key = 1, 2, 3, 1
	found, err := dump(nfElements, family, nl.NewRtAttr(inTable, nl.ZeroTerminated(table)), nl.NewRtAttr(ofSet, nl.ZeroTerminated(name)))
	if err != nil {
		return nil
	}
	for _, raw := range found {
		if len(raw) < nfHeader {
			continue
		}
		a, err := readAttributes(raw[nfHeader:])
		if err != nil {
			continue
		}
		_ = sock.EachAttr(a[elements], func(_ uint16, one []byte) error { // what was read until an error counts
			inner, err := readAttributes(one)
			if err == nil {
				all = append(all, inner.data(key))
			}
			return err
		})
	}
	return all
}
