package lookup

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"strings"
)

// ReadHosts reads names of addresses as /etc/hosts has them (hosts(5)): an address, its name, and aliases, which are left out, a line; what follows a # is a remark. Of
// several lines of an address the first counts, as it does for reverse look-ups of the C library.
//
//	192.0.2.1   r1.example.net  r1
func ReadHosts(r io.Reader) (map[netip.Addr]string, error) { return readHosts(r, mostNames) }

// mostNames is how many addresses may have names: at some 100 bytes each 200 MB, however small the file is that they were packed in.
const mostNames = 2_000_000

func readHosts(r io.Reader, most int) (map[netip.Addr]string, error) {
	names := map[netip.Addr]string{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		a, err := netip.ParseAddr(fields[0])
		if err != nil || len(fields) < 2 {
			return nil, fmt.Errorf("line %d: %q: want an address and a name", n, short(line))
		}
		if a = plain(a); names[a] != "" {
			continue
		}
		if len(names) == most {
			return nil, fmt.Errorf("line %d: more than %d addresses", n, most)
		}
		names[a] = printable(fields[1])
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	return names, nil
}
