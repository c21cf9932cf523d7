package changed

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"
)

// Kinds of TCP options (IANA, "TCP Option Kind Numbers").
const (
	optionEnd   = 0
	optionNOP   = 1
	OptionMSS   = 2
	OptionScale = 3
	OptionSACK  = 4
	OptionTimes = 8
	OptionMPTCP = 30
)

// optionName is what people call a kind.
func optionName(kind byte) string {
	switch kind {
	case OptionMSS:
		return "MSS"
	case OptionScale:
		return "window scale"
	case OptionSACK:
		return "SACK permitted"
	case OptionTimes:
		return "time stamps"
	case OptionMPTCP:
		return "Multipath TCP"
	}
	return "option " + strconv.Itoa(int(kind))
}

// options compares the options of two headers. Of a header that is not shown whole only what is there is compared: the rest may be there, too.
func options(sent, seen []byte) (all []Field) {
	if len(sent) < tcpHeader || len(seen) < tcpHeader {
		return nil
	}
	had, _ := optionsOf(sent)
	has, whole := optionsOf(seen)
	var kinds []byte
	for kind := range had {
		kinds = append(kinds, kind)
	}
	for kind := range has {
		if _, known := had[kind]; !known {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		before, was := had[kind]
		after, is := has[kind]
		if !is && !whole {
			continue
		}
		f := Field{optionName(kind), None, None}
		if was {
			f.Sent = optionText(kind, before)
		}
		if is {
			f.Seen = optionText(kind, after)
		}
		if kind == OptionTimes && was && len(before) == 8 {
			f.Sent = AsSent
			if is && len(after) == 8 {
				f.Seen = off32(after, before)
			}
		}
		all = append(all, f)
	}
	return all
}

// optionsOf are the values of a header's options by kind, the first of each, and whether all of them are shown.
func optionsOf(tcp []byte) (values map[byte][]byte, whole bool) {
	values = map[byte][]byte{}
	end := headerOf(tcp)
	b := tcp[tcpHeader:min(end, len(tcp))]
	for len(b) > 0 && b[0] != optionEnd {
		if b[0] == optionNOP {
			b = b[1:]
			continue
		}
		if len(b) < 2 || b[1] < 2 || int(b[1]) > len(b) {
			break
		}
		if _, twice := values[b[0]]; !twice {
			values[b[0]] = b[2:b[1]]
		}
		b = b[b[1]:]
	}
	return values, len(tcp) >= end
}

// optionText is an option's value; one without a value is there.
func optionText(kind byte, v []byte) string {
	switch {
	case len(v) == 0:
		return "there"
	case kind == OptionMSS && len(v) == 2, kind == OptionScale && len(v) == 1:
		return value(v)
	}
	return hex.EncodeToString(v)
}

// Option is the value of the first option of a kind that a TCP header shows, and part of that header; ok is false where it shows none.
func Option(tcp []byte, kind byte) (value []byte, ok bool) {
	if len(tcp) < tcpHeader {
		return nil, false
	}
	values, _ := optionsOf(tcp)
	value, ok = values[kind]
	return value, ok
}

// TimeStamp is the time stamp that a TCP header shows.
func TimeStamp(tcp []byte) (stamp uint32, ok bool) {
	v, _ := Option(tcp, OptionTimes)
	if len(v) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint32(v), true
}
