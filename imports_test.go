// Package pathwise_test keeps the rules that hold for the whole house.
package pathwise_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of rooms in ARCHITECTURE.md anew")

const module = "github.com/pathwise-net/pathwise/"

// everything is what the top may import.
const everything = "everything"

// room is a package: what it holds, which of ours it imports, and which more its tests do.
type room struct{ name, holds, imports, tests string }

// rooms are all packages. An import that is not here is refused, and one that is here and not used is, too.
var rooms = []room{
	{"account", "who may do what at a controller: people, sessions, tokens, the audit log",
		"admission durable input", "durable/layouttest"},
	{"admission", "how many connections, handshakes and tests there may be at once, in all and of a network; who is silent for too long",
		"", ""},
	{"agent", "does a plan on a host, within its owner's policy",
		"agent/policy agent/sandbox agent/spool durable durable/daily fleet input measure probe proto/retrace respond sock", "durable/layouttest proto/iperf3"},
	{"agent/policy", "what the owner of a host lets others do with it",
		"document quantity respond", ""},
	{"agent/sandbox", "keeps programs that run as tools from the agent's keys",
		"", ""},
	{"agent/spool", "Results on disk until they are filed",
		"measure", "durable/layouttest"},
	{"analysis", "what changed in what was measured over days: steps, creep, loss, routes; and what the pairs that changed have in common; tools beside each other",
		"analysis/mates measure stat", ""},
	{"analysis/dispersion", "what a path can carry, by how it spreads pairs, trains and streams of packets: capacity, token buckets, available bandwidth; pure",
		"model", ""},
	{"analysis/hops", "what each link of a route can carry, its delay and its queue, by how the shortest round trips to each hop grow with size; pure",
		"", ""},
	{"analysis/loadrate", "the rate that a search of the maximum IP-layer capacity offers, by what the receiver reports (RFC 9097); pure",
		"", ""},
	{"analysis/mates", "which addresses may be the two ends of a link between routers; pure",
		"", ""},
	{"analysis/multipath", "all equal-cost paths to a target, by the multipath detection algorithm: what to ask, and the graph of what answered; pure",
		"", ""},
	{"analysis/passage", "by which way packets were lost, copied and reordered, as the counts of who answers them tell",
		"", "stat"},
	{"analysis/asymmetry", "the route to a target beside the route back: what they share, what they do not, and what cannot be told; pure",
		"analysis/mates measure quantity", ""},
	{"analysis/hoploss", "what a path loses, told from routers that merely answer seldom, by how many packets to each hop were answered; pure",
		"measure stat", ""},
	{"analysis/window", "what the figures of a windowed ping mean: the shape of a path, and its sentence",
		"measure quantity stat", ""},
	{"archive", "SQLite and PostgreSQL behind one interface; rollups, queries, gaps, backup",
		"durable input measure stat", "archive/postgrestest"},
	{"archive/generated", "a history to look at and to try pages on",
		"measure stat", "archive"},
	{"archive/postgrestest", "a PostgreSQL server for tests",
		"", ""},
	{"calc", "the catalogue of the formulas: their inputs as people write them, their working, their drawings",
		"input model quantity", ""},
	{"chart", "drawings and paragraphs for the terminal",
		"", ""},
	{"chart/route", "the route of a trace as a picture: graph and map as SVG, graph as DOT; pure",
		"measure quantity", ""},
	{"cmd/pathwise", "parse, wire, run, print", everything, everything},
	{"config", "the mesh file, its checks, what it adds up to",
		"document measure parse quantity respond", ""},
	{"config/psconfig", "a perfSONAR pSConfig template to a mesh file",
		"config document quantity", ""},
	{"control", "the loop of a mesh: plan, send, gather, file; runs on demand, diagnoses",
		"analysis archive config diagnose document durable durable/daily fleet input measure parse probe respond schedule", "durable/layouttest"},
	{"demo", "the demonstration: the case of Bob and Carol, and a mesh in a lab, with a made-up past, to look at",
		"archive archive/generated chart diagnose fleet lab lab/topology measure quantity stat", "config probe"},
	{"diagnose", "Results in, findings out: facts, rules, steps",
		"analysis analysis/dispersion diagnose/knowledge input measure model quantity sock stat", "calc document"},
	{"diagnose/knowledge", "what findings, metrics, formulas and terms mean, for people",
		"calc measure model", ""},
	{"disk", "how fast files of a folder are written and read, through the kernel's cache and past it",
		"", ""},
	{"document", "YAML and JSON from outside: bounded before it is parsed; where a fault stands; names that were probably meant",
		"", ""},
	{"durable", "files replaced so that they outlive a power cut, and given to whose folder they are in",
		"", ""},
	{"durable/daily", "counts of a day's bytes on disk",
		"durable", ""},
	{"durable/layouttest", "what tests read of earlier builds' files",
		"", ""},
	{"export", "Prometheus scrape and remote write, CSV, JSON lines",
		"archive durable input measure secret", ""},
	{"fleet", "plans and orders out, Results back: NATS, and SSH as a way to reach a host",
		"admission durable input measure", ""},
	{"host", "what a machine is set to, beside what a rate and a round trip need; changes to it, and the way back",
		"disk document durable input model quantity sock", ""},
	{"input", "what is wrong with what a person gave: the errors that are the caller's to mend",
		"", ""},
	{"lab", "namespaces, virtual routers; Spec, Plan, Network, pump, engine",
		"document input lab/link lab/middlebox lab/notation lab/packet lab/record lab/traffic lab/wait sock stat", "lab/chance lab/queue proto/icmp"},
	{"lab/accuracy", "how often a diagnosis is right: faults drawn by strata, played, judged",
		"diagnose document lab lab/scenario measure model quantity stat", "diagnose/knowledge"},
	{"lab/casebook", "the stories of the literature as cases, with their figures",
		"lab/scenario", "lab"},
	{"lab/chance", "random processes",
		"document lab/notation", ""},
	{"lab/faults", "the library of faults",
		"lab/scenario", "lab"},
	{"lab/gateway", "an emulated link between two interfaces of this machine",
		"document lab lab/link lab/notation lab/packet lab/wait stat", ""},
	{"lab/link", "one direction of a link, in virtual time",
		"document lab/chance lab/notation lab/packet lab/queue quantity stat", ""},
	{"lab/middlebox", "NAT, firewalls and the like",
		"document lab/notation lab/packet", ""},
	{"lab/notation", "values of a lab file",
		"document quantity", ""},
	{"lab/packet", "headers, checksums, segments",
		"document quantity", "lab/notation"},
	{"lab/queue", "what waits before a link",
		"document lab/notation lab/packet quantity", ""},
	{"lab/record", "the account of what became of each packet",
		"lab/packet stat", ""},
	{"lab/scenario", "plays cases: a lab, steps in it, a verdict",
		"document lab lab/link lab/notation lab/record quantity stat", "lab/chance"},
	{"lab/screen", "a running lab on a terminal, and keys that change it",
		"lab lab/link lab/notation lab/queue lab/record quantity", ""},
	{"lab/topology", "labs to start from",
		"document", "lab lab/packet"},
	{"lab/traffic", "cross traffic",
		"document lab/notation lab/packet", ""},
	{"lab/twin", "the lab that a Result looks like",
		"document lab lab/chance lab/link lab/notation lab/queue measure probe quantity stat", ""},
	{"lab/wait", "a thread that keeps its time",
		"", ""},
	{"lab/workload", "programs that behave well or badly",
		"input proto/iperf3 quantity sock stat", ""},
	{"lookup", "names, autonomous systems, owners and places of addresses, from files, or from servers where a caller names them",
		"", ""},
	{"measure", "the nouns: Task, Run, Result, Metric, samples, Finding",
		"stat", ""},
	{"model", "the formulas, each with its source",
		"", ""},
	{"parse", "metrics out of what a program printed",
		"document measure", ""},
	{"pcap", "when packets passed and how large they were, out of capture files",
		"input", ""},
	{"probe", "one method a file: ping, trace, throughput, capacity, programs, the host itself; the catalogue of their parameters",
		"analysis/asymmetry analysis/dispersion analysis/hoploss analysis/hops analysis/loadrate analysis/multipath analysis/passage analysis/window chart disk document host input measure model parse proto/arrived proto/beacon proto/changed proto/connect proto/control proto/endpoint proto/flows proto/icmp proto/iperf3 proto/ndt7 proto/owamp proto/reach proto/retrace proto/stamp proto/transact proto/twamp quantity sock stat traffic", "proto/peertest sock/socktest"},
	{"proto/beacon", "multicast beacons: the wire protocol, and a member of a group that knows loss and delay between all of them",
		"chart input proto/control proto/endpoint sock stat", "lab"},
	{"proto/capturetest", "captures on loopback that tshark judges, for tests of protocols",
		"", ""},
	{"proto/connect", "why a TCP port answers or not, from what both ends of the path saw; pure",
		"measure quantity sock", ""},
	{"proto/control", "what control connections of OWAMP and TWAMP share: modes, keys, encrypted streams, messages, time stamps",
		"", ""},
	{"proto/drilltest", "a fault drill for tests of protocols over TCP: peers that vanish, say nothing, or say what no client says",
		"", ""},
	{"proto/echo", "ICMP echo to many targets at once: packets, lists of targets, one socket a family",
		"input sock", "lab lab/record"},
	{"proto/flows", "flows of datagrams by a script: the wire protocol, client and server, and the account of what arrived",
		"input proto/endpoint sock stat traffic", "proto/drilltest"},
	{"proto/icmp", "ICMP errors: what they say, the packet that they quote, and the extensions behind it; a codec",
		"", ""},
	{"proto/iperf3", "iperf3's wire protocol, client and server, and our extra keys in it",
		"admission analysis/loadrate disk input sock stat", "proto/drilltest"},
	{"proto/endpoint", "what the ends of OWAMP, TWAMP and STAMP do alike, and some of others: listen, let in by policy and key, connect, read clocks, count refusals",
		"admission input proto/control sock", ""},
	{"proto/ndt7", "speed tests by ndt7: the wire protocol, client and server",
		"document proto/endpoint sock", "proto/drilltest"},
	{"proto/owamp", "one-way delay tests by OWAMP: the wire protocol, client and server",
		"input proto/control proto/endpoint sock", "proto/capturetest proto/drilltest"},
	{"proto/peertest", "peers of OWAMP, TWAMP and STAMP for tests, written from the RFCs by someone who has not seen what they test",
		"", "proto/control proto/endpoint proto/owamp proto/stamp proto/twamp"},
	{"proto/arrived", "the headers of a connection's SYN as they arrived, told by a responder to who asks over it",
		"document proto/jsonlines", ""},
	{"proto/changed", "what was changed on the way of a TCP SYN, and between which places, by what routers quote and the far end tells; pure",
		"proto/icmp", ""},
	{"proto/jsonlines", "the connection on which two ends of Pathwise tell each other what they do, in lines of JSON",
		"", "sock/socktest"},
	{"proto/reach", "whether fresh ports of two hosts are reached, each way over TCP and UDP: the wire protocol, caller and responder, and the verdict",
		"admission document measure proto/endpoint proto/jsonlines sock", "proto/drilltest sock/socktest"},
	{"proto/retrace", "the route back, traced by a responder to who asks for it: the wire protocol, caller and responder",
		"admission document measure proto/endpoint proto/jsonlines", "proto/drilltest sock/socktest"},
	{"proto/stamp", "STAMP packets, and the reflector that answers them",
		"input proto/control proto/endpoint sock", "proto/capturetest"},
	{"proto/transact", "requests and answers of agreed sizes: the wire protocol, client and server",
		"input proto/endpoint sock", "proto/drilltest"},
	{"proto/twamp", "two-way delay tests by TWAMP: the wire protocol, client and server",
		"input proto/control proto/endpoint sock", "proto/capturetest proto/drilltest"},
	{"quantity", "rates, sizes, times, ratios, counts and code points: text to number and back",
		"", ""},
	{"report", "the problem report of a diagnosis: a page, Markdown or JSON, its addresses masked on request",
		"diagnose diagnose/knowledge input measure quantity", "document"},
	{"respond", "the table of everything that answers a probe, for `pathwise respond`, agents and labs",
		"document measure proto/arrived proto/control proto/endpoint proto/flows proto/iperf3 proto/jsonlines proto/ndt7 proto/owamp proto/reach proto/retrace proto/stamp proto/transact proto/twamp quantity respond/page respond/seen sock traffic", "probe"},
	{"respond/page", "the page that runs a test of speed from a browser, and explains the answer",
		"", ""},
	{"respond/seen", "what a connection looked like where it arrived, and what that means",
		"quantity sock", ""},
	{"schedule", "from a mesh to a conflict-free plan; pure",
		"input measure", ""},
	{"secret", "the files of secrets that a mesh file names, from one folder",
		"", ""},
	{"sock", "what Linux knows about a socket: TCP_INFO, buffers, congestion control, time stamps, ICMP errors, path memory; all connections of a host, and what their programs do",
		"document input", ""},
	{"sock/socktest", "both ends of a connection, for tests",
		"", ""},
	{"stat", "quantiles, mergeable histograms, delay variation, loss patterns, connectivity, order, speech quality, two clocks beside each other, two samples beside each other, intervals",
		"", ""},
	{"terminal", "the terminal that a person looks at: its size, its colours, drawings that change in place",
		"", ""},
	{"traffic", "flows of datagrams by a script, and the plan of their packets; pure",
		"input quantity", ""},
	{"web", "HTTP: the API",
		"account admission analysis archive archive/generated calc config control diagnose diagnose/knowledge document export fleet host input lab lab/faults measure probe quantity report web/edit web/labs web/page", "archive/postgrestest stat"},
	{"web/browser", "tests of the pages in a browser",
		"", "account archive archive/generated config control diagnose/knowledge fleet lab measure probe respond web web/edit web/labs web/page"},
	{"web/edit", "the mesh file on the pages: forms, checks, history",
		"config control document durable input measure secret", "durable/layouttest probe"},
	{"web/labs", "labs on the pages",
		"input lab lab/faults lab/link lab/scenario measure probe respond", ""},
	{"web/page", "the pages and their scripts",
		"measure", ""},
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// packages are those of this module, as the go command lists them: what each imports of ours, and what its tests import beside that.
func packages(t *testing.T) (imports, tests map[string][]string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports, tests = map[string][]string{}, map[string][]string{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return imports, tests
		} else if err != nil {
			t.Fatal(err)
		}
		name, ours := strings.CutPrefix(p.ImportPath, module)
		if !ours {
			continue // the root holds no code
		}
		imports[name] = oursOf(p.Imports, nil)
		tests[name] = oursOf(append(p.TestImports, p.XTestImports...), append(imports[name], name))
	}
}

// oursOf are the packages of this module among some, without those that are known.
func oursOf(all, known []string) []string {
	found := []string{}
	for _, path := range all {
		if name, ours := strings.CutPrefix(path, module); ours && !slices.Contains(known, name) && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// Imports are those of the table, no more and no fewer; and so are those of tests.
func TestImportsGoDown(t *testing.T) {
	imports, tests := packages(t)
	for _, r := range rooms {
		for _, one := range []struct {
			what, want string
			got        []string
		}{{"imports", r.imports, imports[r.name]}, {"tests import", r.tests, tests[r.name]}} {
			if got := strings.Join(one.got, " "); one.want != everything && got != one.want {
				t.Errorf("%s: %s %q, and the table says %q", r.name, one.what, got, one.want)
			}
		}
	}
	for name := range imports {
		if !slices.ContainsFunc(rooms, func(r room) bool { return r.name == name }) {
			t.Errorf("%s: no such room; give it a line here", name)
		}
	}
	if len(imports) != len(rooms) {
		t.Errorf("%d packages, %d rooms", len(imports), len(rooms))
	}
}

// The table of ARCHITECTURE.md is made of the list above; -update writes it. A room stands one floor above the highest that it
// imports.
func TestImportsTable(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "| floor | package | what it holds | imports |\n|---|---|---|---|\n"
	before, rest, found := strings.Cut(string(text), begin)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no table of rooms")
	}
	want := before + begin + houseTable() + "\n" + after
	if *update {
		if err := os.WriteFile("ARCHITECTURE.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the table of rooms in ARCHITECTURE.md is not that of this test: go test -run TestImportsTable . -update")
	}
}

// houseTable is the table, from the ground up.
func houseTable() string {
	floors := floorsOf(rooms)
	sorted := slices.SortedStableFunc(slices.Values(rooms), func(a, b room) int { return cmp.Compare(floors[a.name], floors[b.name]) })
	var b strings.Builder
	for _, r := range sorted {
		imports := strings.ReplaceAll(cmp.Or(r.imports, "-"), " ", ", ")
		fmt.Fprintf(&b, "| %d | `%s` | %s | %s |\n", floors[r.name], r.name, r.holds, imports)
	}
	return b.String()
}

// floorsOf are the floors of rooms; the top stands above all.
func floorsOf(rooms []room) map[string]int {
	floors := map[string]int{}
	for range rooms { // as many rounds as there can be floors
		for _, r := range rooms {
			if r.imports == everything {
				continue
			}
			for _, below := range strings.Fields(r.imports) {
				floors[r.name] = max(floors[r.name], floors[below]+1)
			}
		}
	}
	for _, r := range rooms {
		if r.imports == everything {
			floors[r.name] = slices.Max(slices.Collect(maps.Values(floors))) + 1
		}
	}
	return floors
}
