package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/vishvananda/netlink"

	"github.com/pathwise-net/pathwise/durable"
	"github.com/pathwise-net/pathwise/input"
)

// meshFile is the mesh file that serve uses where none is named and this one is there.
const meshFile = "mesh.yaml"

func meshInit(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "init [FILE]", Short: "Write a mesh file to begin with", Args: cobra.MaximumNArgs(1),
		Long: "Write a mesh file of this host and its gateway, with a second host to fill in; to mesh.yaml unless FILE says otherwise.\n" +
			"A file that is there stays.",
		Example: "  pathwise mesh init\n  pathwise mesh init /etc/pathwise/mesh.yaml",
		RunE: func(_ *cobra.Command, args []string) error {
			file := meshFile
			if len(args) > 0 {
				file = args[0]
			}
			if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
				return input.Errorf("%s: there is one already; edit it, or name another file", file)
			}
			if err := writeFirstMesh(file); err != nil {
				return err
			}
			doc := map[string]string{"schema": "pathwise.init/1", "path": file}
			return s.emit(doc, func(w io.Writer) { fmt.Fprintln(w, file) })
		},
	}
}

// fileToServe is the mesh file that serve was given; else mesh.yaml; "" if there is none.
func fileToServe(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	there, err := os.Stat(meshFile)
	if err == nil && !ofThisUser(there) {
		return "", input.Errorf("%s: it belongs to another user, and says which programs run; if you mean it, name it: pathwise serve %s",
			meshFile, meshFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return meshFile, nil // and what is wrong with it is said when it is read
}

// ofThisUser reports whether a file belongs to who runs this process, or to root.
func ofThisUser(f fs.FileInfo) bool {
	s, is := f.Sys().(*syscall.Stat_t)
	return is && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// writeFirstMesh writes a mesh file of this host as it finds it.
func writeFirstMesh(file string) error {
	here := thisMachine()
	text := firstMesh(here.name, here.address, here.gateway, os.Geteuid() == 0)
	err := durable.Replace(file, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	if err != nil {
		return input.Errorf("write mesh file: %w", err)
	}
	return nil
}

// defaultGateway is where packets to elsewhere go, invalid if nowhere, or if only a link-local address is known, which no other host
// would understand.
func defaultGateway() netip.Addr {
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := netlink.RouteList(nil, family)
		if err != nil {
			continue
		}
		for _, r := range routes {
			a, ok := netip.AddrFromSlice(r.Gw)
			if ok && isDefault(r.Dst) && !a.IsLinkLocalUnicast() {
				return a.Unmap()
			}
		}
	}
	return netip.Addr{}
}

func isDefault(to *net.IPNet) bool {
	if to == nil {
		return true
	}
	ones, _ := to.Mask.Size()
	return ones == 0
}

// hostName makes of a machine's name one that a mesh file may have: the first label, and no name that means something else.
func hostName(machine string) string {
	name, _, _ := strings.Cut(machine, ".")
	name = strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return -1
	}, name)
	name = strings.TrimLeft(name, "-_")
	if name == "" || name == "all" || name == "gateway" || len(name) > 63 {
		return "here"
	}
	return name
}

// firstMesh is a mesh file of a host and its gateway, if it has one. Who is not root keeps what the controller has beside the file.
func firstMesh(host string, address, gateway netip.Addr, root bool) string {
	data := ""
	if !root {
		data = "data: pathwise-data, "
	}
	second, alone := "192.0.2.1", ""
	if address.Is6() {
		second = "2001:db8::1"
	}
	if !gateway.IsValid() {
		alone = "# " // a mesh takes two
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# A mesh to begin with: see docs/mesh-file.md for all that can stand here.\n"+
		"controller: {%slisten: \"127.0.0.1:8080\"}\nhosts:\n  %s: {address: \"%s\"} # this host; an agent runs here\n", data, host, address)
	if gateway.IsValid() {
		fmt.Fprintf(&b, "  gateway: {address: \"%s\", reach: responder} # it answers pings, and runs nothing of ours\n", gateway)
	}
	b.WriteString("  # second: {address: \"" + second + "\"} # a host far away: put its address here, and run `pathwise mesh deploy`\n" +
		"tools:\n  rtt: {probe: ping, parameters: {count: 10, interval: 200ms}}\n" +
		"  load: {probe: host}\n" +
		"  # bulk: {probe: throughput, parameters: {duration: 10s}}\n" +
		"groups:\n  " + alone + "everybody: {mesh: all}\n  agents: {list: [" + host + "]}\ntests:\n" +
		"  - {tool: load, group: agents, schedule: {every: 1m}}\n")
	b.WriteString("  " + alone + "- {tool: rtt, group: everybody, schedule: {every: 1m, sampling: poisson}}\n" +
		"  # - {tool: bulk, group: everybody, schedule: {every: 6h}}\n")
	return b.String()
}
