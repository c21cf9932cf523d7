package beacon

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/lab"
)

func TestMain(m *testing.M) {
	lab.RunEngineIfAsked() // the labs of these tests are this test binary again
	os.Exit(m.Run())
}

const (
	memberVariable = "PATHWISE_TEST_BEACON" // the name of a member that is a program on a lab's host
	labHosts       = 12
	labProbes      = 100
)

var labGroups = []string{"239.255.86.3", "ff15::5863"}

// labMember is what a program on a lab's host does in both groups.
func labMember(name, group string) Config {
	return Config{Group: netip.MustParseAddr(group), Name: name, Count: labProbes, Interval: 20 * time.Millisecond, Settle: 4 * time.Second} // twelve programs on a busy machine begin and end apart
}

// TestLabMember is a program on a lab's host: it joins both groups, says so, begins when its input ends, and prints its reports.
func TestLabMember(t *testing.T) {
	name := os.Getenv(memberVariable)
	if name == "" {
		t.Skip("runs only as a child of TestLab")
	}
	joined, begin, ended := make(chan struct{}), make(chan struct{}), make(chan Report)
	for _, group := range labGroups {
		c := labMember(name, group)
		c.Joined = func() { joined <- struct{}{}; <-begin }
		go func() {
			report, err := c.Run(t.Context())
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			ended <- report
		}()
	}
	for range labGroups {
		<-joined
	}
	fmt.Println("joined")
	_, _ = io.Copy(io.Discard, os.Stdin)
	close(begin)
	var reports []Report
	for range labGroups {
		reports = append(reports, <-ended)
	}
	if err := json.NewEncoder(os.Stdout).Encode(reports); err != nil {
		t.Fatal(err)
	}
}

// labFile has members behind four routers, and links that lose, copy, delay and reorder what passes.
func labFile() string {
	var names []string
	links := `
  - {between: [r1, r2], delay: 10ms, forward: {loss: 3%}, reverse: {duplicate: 4%}}
  - {between: [r2, r3], delay: 5ms, forward: {reorder: {ratio: 5%, by: 45ms}}, reverse: {loss: 2%}}
  - {between: [r3, r4], delay: 20ms, forward: {duplicate: 3%}, reverse: {reorder: {gap: 7, by: 65ms}}}
`
	for i := range labHosts {
		names = append(names, fmt.Sprintf("h%d", i+1))
		links += fmt.Sprintf("  - {between: [%s, r%d], delay: %dms%s}\n", names[i], i%4+1, i+1, map[int]string{
			2: ", forward: {loss: 5%}", 5: ", reverse: {loss: {every: 4}}", 7: ", reverse: {duplicate: 10%}", 10: ", forward: {loss: 2%, reorder: {ratio: 4%, by: 50ms}}"}[i])
	}
	members := "[" + strings.Join(names, ", ") + "]"
	return "seed: 5863\nhosts: {" + strings.Join(names, ": {}, ") + ": {}}\nrouters: [r1, r2, r3, r4]\ngroups: {" + labGroups[0] + ": " + members +
		`, "` + labGroups[1] + `": ` + members + "}\nlinks:" + links
}

// Twelve members over four routers, in a group of IPv4 and one of IPv6: what each pair lost, had twice and reordered is what the lab did.
func TestLab(t *testing.T) {
	spec, err := lab.ParseSpec("lab.yaml", []byte(labFile()))
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Start(t.Context(), spec, lab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	reports := runLabMembers(t, l)
	truth, err := l.Truth()
	if err != nil {
		t.Fatal(err)
	}
	if truth.Emulator.Bottleneck {
		t.Logf("emulator: %+v", truth.Emulator)
	}
	for _, of := range reports {
		for i := range of {
			checkMatrix(t, &of[i], truth)
		}
	}
	for _, q := range Quantities {
		t.Logf("%s\n%s", q, strings.Join(reports[0][0].Table(q), "\n"))
	}
}

// runLabMembers runs a member on each host, and returns the reports of each.
func runLabMembers(t *testing.T, l *lab.Lab) (reports [][]Report) {
	t.Helper()
	input, begin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer begin.Close()
	defer input.Close()
	var outputs []*bufio.Reader
	for i := range labHosts {
		output, writer, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer output.Close()
		name := fmt.Sprintf("h%d", i+1)
		p, err := l.Start(t.Context(), name, lab.Command{Argv: []string{lab.Self(), "-test.run", "^TestLabMember$"},
			Env: append(os.Environ(), memberVariable+"="+name), Stdin: input, Stdout: writer, Stderr: os.Stderr})
		writer.Close()
		if err != nil {
			t.Fatal(err)
		}
		defer p.Wait() // it ended when its output did
		outputs = append(outputs, bufio.NewReader(output))
	}
	for i, output := range outputs {
		if line, err := output.ReadString('\n'); line != "joined\n" {
			t.Fatalf("h%d says %q, %v", i+1, line, err)
		}
	}
	begin.Close()
	for i, output := range outputs {
		var both []Report
		if err := json.NewDecoder(output).Decode(&both); err != nil {
			t.Fatalf("h%d: %v", i+1, err)
		}
		reports = append(reports, both)
	}
	return reports
}

// fate is what became of the probes of one pair, by the lab or by a member.
type fate struct{ Sent, Received, Duplicates, Reordered int }

// checkMatrix holds a report against what the lab did.
func checkMatrix(t *testing.T, r *Report, truth *lab.Truth) {
	t.Helper()
	at := addresses(t, r, truth)
	var want, got = map[string]fate{}, map[string]fate{}
	for i := range r.Pairs {
		p := &r.Pairs[i]
		name := p.Sender.Name + " > " + p.Receiver.Name
		f := &p.Figures
		got[name] = fate{int(f.Judged()), int(f.Received), int(f.Duplicates), int(f.Reordered)}
		for _, flow := range truth.Flows {
			if flow.Source != at[p.Sender.Name] || flow.Target != at[p.Receiver.Name] || flow.SourcePort == DefaultPort {
				continue
			}
			want[name] = fate{int(flow.Packets), int(flow.Delivered), int(flow.Duplicates), int(flow.Reordered)}
			checkDelay(t, name, f.Delay.Min, flow.DelaySeconds.Min, flow.LateSeconds.P99)
			checkDelay(t, name, f.Delay.Median, flow.DelaySeconds.Median, flow.LateSeconds.P99)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) != labHosts*(labHosts-1) {
		t.Errorf("%s of %d members, of %d pairs (-lab +member):\n%s", r.Members[0].Name, len(r.Members), len(want), diff)
	}
	if !r.Complete {
		t.Errorf("%s does not know everything", r.Members[0].Name)
	}
}

// hostTime is how long a packet may be in the hosts of a busy machine, before and behind the lab.
const hostTime = 10 * time.Millisecond

func checkDelay(t *testing.T, name string, got time.Duration, due, late float64) {
	t.Helper()
	over := got.Seconds() - due
	if over < 0 || over > late+hostTime.Seconds() {
		t.Errorf("%s: delay %v; the lab's is %v, and up to %v late", name, got, due, late)
	}
}

// addresses are those of the members by their names: of the one that a report is of, the lab's flows tell it.
func addresses(t *testing.T, r *Report, truth *lab.Truth) map[string]string {
	t.Helper()
	at, known := map[string]string{}, map[string]bool{}
	for _, m := range r.Members[1:] {
		at[m.Name], known[m.Address.String()] = m.Address.String(), true
	}
	for _, flow := range truth.Flows {
		source := netip.MustParseAddr(flow.Source)
		if !known[flow.Source] && source.Is4() == r.Members[1].Address.Is4() && flow.Protocol == "udp" {
			at[r.Members[0].Name] = flow.Source
		}
	}
	return at
}
