package lookup

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// ASN is an autonomous system.
type ASN struct {
	Number  uint32
	Name    string // "": the file has none
	Country string // of its registration, two letters
}

// Limits of files: the global tables have 1.3 million prefixes (2026), and a registry's dump has lines of some kilobytes.
const (
	mostRanges = 20_000_000
	mostLine   = 1 << 20 // bytes
)

// ReadASNs reads which autonomous system announces which prefix. It knows a line of each of these forms by its fields; lines that are empty or begin with ; or #
// are left out. Of several systems in a field (4_5, "4,5", {4,5}) the first counts; 0 says that the range is announced by none.
//
//	192.0.2.0/24    64500                             pyasn
//	192.0.2.0       24      64500                     RouteViews pfx2as
//	192.0.2.0       192.0.2.255  64500  CH  EXAMPLE   IPtoASN, TSV
func ReadASNs(r io.Reader) (*Table[ASN], error) {
	var all []span[ASN]
	names := map[string]string{} // each name once in memory
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		s, err := asnLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(all) == mostRanges {
			return nil, fmt.Errorf("line %d: more than %d prefixes", n, mostRanges)
		}
		if s.value.Number > 0 {
			s.value.Name, s.value.Country = once(names, printable(s.value.Name)), once(names, s.value.Country)
			all = append(all, s)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read prefixes: %w", err)
	}
	return newTable(all), nil
}

// once is a copy of a text that all equal ones share.
func once(texts map[string]string, text string) string {
	if had, known := texts[text]; known {
		return had
	}
	text = strings.Clone(text)
	texts[text] = text
	return text
}

// asnLine reads a line.
func asnLine(line string) (s span[ASN], err error) {
	fields := strings.Split(line, "\t")
	if len(fields) < 2 {
		fields = strings.Fields(line)
	}
	first, err := netip.ParseAddr(strings.TrimSpace(fields[0]))
	switch {
	case err != nil:
		p, err := netip.ParsePrefix(strings.TrimSpace(fields[0]))
		if err != nil || len(fields) < 2 {
			return s, fmt.Errorf("%q: want a prefix and a number, an address, a length and a number, or two addresses and a number", short(line))
		}
		s, fields = spanOf(p, ASN{}), fields[1:]
	case len(fields) < 3:
		return s, fmt.Errorf("%q: want an address, a length or another address, and a number", short(line))
	case first.Zone() != "":
		return s, fmt.Errorf("%q: want an address without a zone", short(line))
	default:
		if s, err = rangeOf[ASN](first, strings.TrimSpace(fields[1])); err != nil {
			return s, fmt.Errorf("%q: %w", short(line), err)
		}
		fields = fields[2:]
	}
	number := strings.FieldsFunc(strings.TrimPrefix(strings.TrimSpace(fields[0]), "AS"), func(r rune) bool { return r < '0' || r > '9' })
	if len(number) == 0 {
		return s, fmt.Errorf("%q: want the number of an autonomous system", short(line))
	}
	n, err := strconv.ParseUint(number[0], 10, 32)
	if err != nil {
		return s, fmt.Errorf("%q: want a number of an autonomous system below 2^32", short(line))
	}
	s.value.Number = uint32(n)
	if len(fields) >= 3 {
		s.value.Country, s.value.Name = country(fields[1]), strings.TrimSpace(fields[2])
	}
	return s, nil
}

// rangeOf is from an address, by a length of its prefix or to another one.
func rangeOf[V any](first netip.Addr, end string) (s span[V], err error) {
	if n, err := strconv.Atoi(end); err == nil {
		p, err := first.Prefix(n)
		if err != nil {
			return s, fmt.Errorf("want a length of a prefix of at most %d", first.BitLen())
		}
		return spanOf(p, s.value), nil
	}
	last, err := netip.ParseAddr(end)
	if err != nil || last.Is4() != first.Is4() || last.Zone() != "" || last.Less(first) {
		return s, fmt.Errorf("want a length or a last address of the same family, not below the first")
	}
	s.first, s.last = first, last
	return s, nil
}

// country is a code of two letters, in capitals; "" for what is none, such as "None".
func country(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) != 2 || text[0] < 'A' || text[0] > 'Z' || text[1] < 'A' || text[1] > 'Z' {
		return ""
	}
	return text
}

func short(line string) string {
	if len(line) > 80 {
		return line[:80] + "…"
	}
	return line
}
