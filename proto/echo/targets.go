package echo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// MostTargets is how many targets a list may have, which is how many addresses an IPv4 prefix of 16 bits has: what is more was
// hardly meant.
const MostTargets = 1 << 16

// Target is one host of a list.
type Target struct {
	Name    string     // as it was given; of a prefix its address
	Address netip.Addr // the zero value: a name that is to be resolved
	Where   string     // where it was given, such as "hosts.txt:12"; "" of an argument
}

// Repeat is a target that was given before, and so is not in the list again.
type Repeat struct {
	Target
	First Target // as what it is in the list
}

func (r Repeat) String() string {
	text := r.Name
	if r.Where != "" {
		text = r.Where + ": " + text
	}
	text += " is given twice"
	switch {
	case r.First.Name != r.Name && r.First.Where != "":
		return text + ", first as " + r.First.Name + " at " + r.First.Where
	case r.First.Name != r.Name:
		return text + ", first as " + r.First.Name
	case r.First.Where != "":
		return text + ", first at " + r.First.Where
	}
	return text
}

// Targets is a list of targets in the order in which they were given, each once. It looks nothing up. The zero value is empty.
type Targets struct {
	All     []Target
	Repeats []Repeat

	first map[string]int // the index in All, by the address or the name in lower case
}

// Add adds what an argument or a line gives: a name, an address, or a prefix, which stands for all its addresses; of an IPv4 prefix below 31
// bits without the first and the last, which are no host's (RFC 3021). Errors are the caller's to mend.
func (t *Targets) Add(text, where string) error {
	if strings.Contains(text, "/") {
		return t.addPrefix(text, where)
	}
	host, port, err := sock.SplitHostPort(text)
	switch {
	case err != nil, port != 0, !isHost(host):
		return &input.Error{Field: "target", Value: text, Remedy: "give a name, an address, or a prefix such as 192.0.2.0/28"}
	}
	target := Target{Name: host, Where: where}
	if a, err := netip.ParseAddr(host); err == nil {
		target.Address = a.Unmap()
		if err := single(target.Address, text); err != nil {
			return err
		}
	}
	return t.add(target)
}

// single refuses addresses that are not one host's.
func single(a netip.Addr, text string) error {
	if a.IsMulticast() || a.IsUnspecified() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return &input.Error{Field: "target", Value: text, Remedy: "give addresses of single hosts"}
	}
	return nil
}

// isHost reports whether text can be a name (RFC 1123 section 2.1, and the underscore that some have) or is an address. What has only digits
// and dots is an address or wrong.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	const longest = 253 // RFC 1035 section 2.3.4, as text
	if len(text) > longest || strings.Trim(text, "0123456789.") == "" || strings.HasPrefix(text, "-") {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(text, "."), ".") {
		if label == "" || len(label) > 63 {
			return false
		}
	}
	for _, c := range []byte(text) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_') {
			return false
		}
	}
	return true
}

// addPrefix adds the hosts of a prefix.
func (t *Targets) addPrefix(text, where string) error {
	p, err := netip.ParsePrefix(text)
	if err != nil || p.Addr().Is4In6() {
		return &input.Error{Field: "target", Value: text, Remedy: "give a prefix such as 192.0.2.0/28 or 2001:db8::/120"}
	}
	if masked := p.Masked(); masked != p {
		return &input.Error{Field: "target", Value: text, Remedy: "give " + masked.String() + ", or " + p.Addr().String() + " alone"}
	}
	bits := p.Addr().BitLen()
	if bits-p.Bits() > 16 {
		return &input.Error{Field: "target", Value: text,
			Remedy: fmt.Sprintf("give a prefix of at least %d bits: %d targets are the most", bits-16, MostTargets)}
	}
	if err := single(p.Addr(), text); err != nil {
		return err
	}
	noHosts := p.Addr().Is4() && p.Bits() < 31
	for a := p.Addr(); p.Contains(a); a = a.Next() {
		if noHosts && (a == p.Addr() || !p.Contains(a.Next())) {
			continue
		}
		if err := t.add(Target{Name: a.String(), Address: a, Where: where}); err != nil {
			return err
		}
	}
	return nil
}

// add adds one target, unless it is there.
func (t *Targets) add(target Target) error {
	key := strings.ToLower(strings.TrimSuffix(target.Name, "."))
	if target.Address.IsValid() {
		key = target.Address.String()
	}
	if i, ok := t.first[key]; ok {
		t.Repeats = append(t.Repeats, Repeat{target, t.All[i]})
		return nil
	}
	if len(t.All) == MostTargets {
		return &input.Error{Field: "targets", Value: target.Name, Remedy: fmt.Sprintf("give at most %d", MostTargets)}
	}
	if t.first == nil {
		t.first = map[string]int{}
	}
	t.first[key] = len(t.All)
	t.All = append(t.All, target)
	return nil
}

// Read adds what a file gives: one name, address or prefix a line; what follows a # is for people, and empty lines are passed over. An error
// names the file, by the name that is told, and the line.
func (t *Targets) Read(r io.Reader, name string) error {
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		text, _, _ := strings.Cut(lines.Text(), "#")
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", name, number)
		if err := t.Add(text, where); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return input.Errorf("%s:%d: a line of more than %d bytes: give one target a line", name, number+1, bufio.MaxScanTokenSize)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read targets from %s: %w", name, err)
	}
	return nil
}
