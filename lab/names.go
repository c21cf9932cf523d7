package lab

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Names returns the labs of this user that are up on this machine, in order. Those that a program keeps to itself
// (Options.Name) have names of the lab's own making, which begin with "private-".
func Names() ([]string, error) {
	f, err := os.Open("/proc/net/unix")
	if err != nil {
		return nil, fmt.Errorf("list labs: %w", err)
	}
	defer f.Close()
	names, err := namesIn(f, socketName(""))
	if err != nil {
		return nil, fmt.Errorf("list labs: %w", err)
	}
	return names, nil
}

// namesIn reads /proc/net/unix (proc_net(5)): the name of a socket, if it has one, is the eighth field. A lab's socket is
// there once, and once more for each connection to it.
func namesIn(sockets io.Reader, prefix string) ([]string, error) {
	names := []string{}
	lines := bufio.NewScanner(sockets)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 8 {
			continue
		}
		name, ours := strings.CutPrefix(fields[7], prefix)
		if ours && nodeName.MatchString(name) { // anyone may take a name there
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), lines.Err()
}
