package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/diagnose"
	"github.com/pathwise-net/pathwise/lab/accuracy"
	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/quantity"
	"github.com/pathwise-net/pathwise/stat"
)

// kernelPath is a path whose narrow link, drops and translations are the kernel's own, and what a diagnosis of it shall say. Four network
// namespaces are joined by veth pairs:
//
//	a eth0 --- port1 wire port2 --- near wall far --- eth0 b
//
// The wall routes, and a token bucket filter each way is the narrow link. The wire carries frames with a delay and does nothing else:
// `pathwise lab gateway` is it, since neither netem nor fq, by which kernels can delay, is in every kernel. Without a delay there is no
// wire, and the cable of a ends at the wall.
type kernelPath struct {
	name      string   // of the truth
	says      string   // the truth in words; here and below @ stands for the strength
	want      string   // the finding; "": the path is healthy
	family    []string // findings that say the same less exactly
	named     string   // of a healthy path: a finding that is there all the same
	strengths []string
	short     bool             // every run of the tests plays it, at the first strength
	most      measure.Severity // of other findings; default: info on a healthy path, else warning

	rate    string            // of the filter; default: 50mbit; "none": there is none
	queue   string            // what may wait before it; default: 400kb
	delay   time.Duration     // each way; default: 10 ms
	near    bool              // there is no delay
	offload bool              // interfaces hand over several packets in one piece, which filters would count and drop as one
	sysctl  map[string]string // "HOST KEY": value
	steps   []kernelStep
	server  []string // the far end; default: pathwise respond
	args    []string // of diagnose
}

// kernelStep is a program on a host, or a wait.
type kernelStep struct {
	on, run string // a line of shell
	ready   string // what it prints once it is ready: it goes on in the background then
	wait    time.Duration
}

// kernelPathsDir makes TestDiagnoseKernelPaths play every path at every strength kernelRuns times, which takes hours, and keep what was
// measured in the folder that it names. What is there already is not played again.
const kernelPathsDir = "PATHWISE_KERNEL_PATHS"

// kernelRuns is how often each strength is played.
const kernelRuns = 5

const (
	kernelA    = "198.51.100.1" // addresses for documentation (RFC 5737)
	kernelNear = "198.51.100.254"
	kernelB    = "203.0.113.1"
	kernelFar  = "203.0.113.254"
)

// A diagnosis is right where the lab's emulator is not the path: where the kernel's token bucket filter is the narrow link, its packet
// filter drops, rewrites and forgets, an interface is small, sockets are limited and programs stand still.
func TestDiagnoseKernelPaths(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(kernelPathsDir)
	if dir != "" {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { printKernelTable(t, dir) })
	}
	for _, p := range kernelPaths {
		for i, strength := range p.strengths {
			for run := range kernelRuns {
				if dir == "" && (!p.short || i > 0 || run > 0) {
					continue
				}
				s := p.sample(t, i, run)
				t.Run(strings.Join([]string{p.name, strength, fmt.Sprint(run)}, "/"), func(t *testing.T) {
					t.Parallel()
					carrying(t)
					if dir == "" {
						checkKernelPath(t, &p, playKernelPath(t, &s))
						return
					}
					if left := accuracy.Left([]accuracy.Sample{s}, dir); len(left) > 0 {
						if err := playKernelPath(t, &s).Write(dir); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func playKernelPath(t *testing.T, s *accuracy.Sample) *accuracy.Record {
	t.Helper()
	r, err := accuracy.Play(t.Context(), s, []string{builtProgram(t)})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Failed, "which is not installed") {
		t.Skip(r.Failed)
	}
	if r.Failed != "" {
		t.Error(r.Failed)
	}
	d := diagnose.Diagnose(r.Results)
	t.Logf("%s; %s: %s in %.1f s", s.Name, s.Says, d.Verdict, r.Seconds)
	return r
}

// checkKernelPath holds a diagnosis against the truth.
func checkKernelPath(t *testing.T, p *kernelPath, r *accuracy.Record) {
	t.Helper()
	d := diagnose.Diagnose(r.Results)
	if grade := p.grade(d.Verdict); grade != "right" && grade != "family" {
		t.Errorf("verdict %s, want %s: %s", d.Verdict, p.truth(), inShort(d))
	}
	if p.named != "" && !slices.ContainsFunc(d.Findings, func(f measure.Finding) bool { return f.ID == p.named }) {
		t.Errorf("nothing is said of %s: %s", p.named, inShort(d))
	}
	for _, f := range d.Findings {
		if f.ID != p.want && !slices.Contains(p.family, f.ID) && rank(f.Severity) > rank(p.mostSevere()) {
			t.Errorf("%s is a %s, want a %s at most: %s", f.ID, f.Severity, p.mostSevere(), inShort(d))
		}
	}
}

// mostSevere is how severe a finding may be that is not the truth.
func (p *kernelPath) mostSevere() measure.Severity {
	switch {
	case p.most != "":
		return p.most
	case p.want == "":
		return measure.Info
	}
	return measure.Warning
}

func rank(s measure.Severity) int {
	return slices.Index([]measure.Severity{"", measure.Info, measure.Warning, measure.Problem}, s)
}

// truth is the verdict that is right.
func (p *kernelPath) truth() string {
	if p.want == "" {
		return diagnose.Healthy
	}
	return p.want
}

// grade says how a verdict stands to the truth.
func (p *kernelPath) grade(verdict string) string {
	switch {
	case verdict == p.truth():
		return "right"
	case slices.Contains(p.family, verdict):
		return "family"
	case verdict == diagnose.Healthy || verdict == diagnose.Unknown || verdict == "unexplained":
		return "missed"
	}
	return "wrong"
}

// sample is the path at one of its strengths as one that is played and judged as those of `pathwise lab accuracy` are.
func (p *kernelPath) sample(t *testing.T, strength, run int) accuracy.Sample {
	t.Helper()
	rate := 1e9 // of a cable between two hosts, where nothing narrows it
	if p.rate != "none" {
		var err error
		if rate, err = quantity.ParseRate(strings.ReplaceAll(cmp.Or(p.rate, kernelRate), "@", p.strengths[strength])); err != nil {
			t.Fatal(err)
		}
	}
	s := accuracy.Sample{Name: fmt.Sprintf("%s-%d-%d", p.name, strength, run), Cause: p.name, Sort: accuracy.Fault, Binds: accuracy.Always,
		Says: strings.ReplaceAll(p.says, "@", p.strengths[strength]), Seed: uint64(run + 1), Lasts: true,
		Path:   accuracy.Path{Rate: rate, RTT: 2 * p.delayed().Seconds(), Control: "cubic"},
		Expect: []accuracy.Expected{{Finding: p.want, Family: p.family}}}
	if p.want == "" {
		s.Sort, s.Expect[0].Finding = accuracy.Healthy, "path-full"
	}
	s.Case = p.render(&s, p.strengths[strength])
	return s
}

const (
	kernelRate  = "50mbit"
	kernelQueue = "400kb"
	kernelDelay = 10 * time.Millisecond
)

func (p *kernelPath) delayed() time.Duration {
	if p.near {
		return 0
	}
	return cmp.Or(p.delay, kernelDelay)
}

// render writes the case file of a sample.
func (p *kernelPath) render(s *accuracy.Sample, strength string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("name: %s\ntitle: %s\nfinding: %s\nfamily: %s", s.Name, quoted(p.name), s.Expect[0].Finding, quoted(p.family))
	line("cause: %s\ncondition: '-'\nneeds: [ip, tc, nft, iperf3, nginx, curl]", quoted(s.Says))
	line("lab:\n  seed: %d\n  links: []\n  hosts:", s.Seed)
	for _, host := range []string{"a", "wire", "wall", "b"} {
		sysctl := map[string]string{}
		if host == "wall" {
			sysctl["net.ipv4.ip_forward"] = "1"
		}
		for key, value := range p.sysctl {
			if on, key, _ := strings.Cut(key, " "); on == host {
				sysctl[key] = strings.ReplaceAll(value, "@", strength)
			}
		}
		line("    %s: {sysctl: %s}", host, quoted(sysctl))
	}
	server := kernelStep{on: "b", run: strings.Join(p.server, " "), ready: "listening"}
	if p.server == nil {
		server = kernelStep{on: "b", run: "pathwise respond", ready: "answering"}
	}
	before := p.cables()
	if p.rate != "none" { // its bucket holds three packets
		before = append(before, shaped("tbf rate "+cmp.Or(p.rate, kernelRate)+" burst 5kb limit "+cmp.Or(p.queue, kernelQueue)))
	}
	line("steps:")
	for _, step := range slices.Concat(before, []kernelStep{server}, p.steps) {
		line("  - %s", step.yaml(strength))
	}
	line("  - diagnose: {on: a, run: %s}", strings.ReplaceAll(quoted(append([]string{"b", "--cc", "cubic"}, p.args...)), "@", strength))
	return b.String()
}

// cables joins the namespaces.
func (p *kernelPath) cables() []kernelStep {
	// A process names its namespace to ip.
	all := []kernelStep{{on: "wall", run: "mount -t tmpfs -o size=8m none /mnt; echo '" + kernelA + " a\n" + kernelB + " b' >>/etc/hosts"}}
	for _, host := range []string{"a", "wall", "b"} {
		all = append(all, kernelStep{on: host, run: "echo $$ >/mnt/" + host + "; echo is there; exec sleep infinity", ready: "is there"})
	}
	up := "up gso_max_segs 1; "
	if p.offload {
		up = "up; "
	}
	near := kernelStep{on: "wall", run: "ip link add near type veth peer name eth0 netns $(cat /mnt/a)"}
	if p.delayed() > 0 {
		near = kernelStep{on: "wire", run: "ip link add port1 up type veth peer name eth0 netns $(cat /mnt/a)" +
			" && ip link add port2 up type veth peer name near netns $(cat /mnt/wall)"}
	}
	all = append(all, near,
		kernelStep{on: "wall", run: "ip link add far type veth peer name eth0 netns $(cat /mnt/b)"},
		kernelStep{on: "wall", run: "ip link set near " + up + "ip link set far " + up +
			"ip address add " + kernelNear + "/24 dev near; ip address add " + kernelFar + "/24 dev far"},
		kernelStep{on: "a", run: "ip link set eth0 " + up + "ip address add " + kernelA + "/24 dev eth0; " +
			"ip route add default via " + kernelNear},
		kernelStep{on: "b", run: "ip link set eth0 " + up + "ip address add " + kernelB + "/24 dev eth0; " +
			"ip route add default via " + kernelFar})
	if p.delayed() > 0 {
		all = append(all, kernelStep{on: "wire", run: fmt.Sprintf("pathwise lab gateway port1 port2 delay=%v", p.delayed()), ready: "port2"})
	}
	return all
}

func (s *kernelStep) yaml(strength string) string {
	if s.wait > 0 {
		return fmt.Sprintf("wait: %v", s.wait)
	}
	run := strings.ReplaceAll(s.run, "@", strength)
	words := []string{"sh", "-ec", run}
	if rest, ok := strings.CutPrefix(run, "pathwise "); ok {
		words = append([]string{"pathwise"}, strings.Fields(rest)...)
	}
	more := ""
	if s.ready != "" {
		more = fmt.Sprintf(", background: true, ready: %s", quoted(s.ready))
	}
	return fmt.Sprintf("exec: {on: %s, run: %s%s}", s.on, quoted(words), more)
}

// quoted is a value in JSON, which YAML reads, too.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, lists and maps of them
	}
	return string(text)
}

// printKernelTable prints what came of all that is in a folder.
func printKernelTable(t *testing.T, dir string) {
	outcomes, err := accuracy.Judge(dir)
	if err != nil {
		t.Fatal(err)
	}
	grades := map[string]map[string]int{}
	for _, p := range kernelPaths {
		grades[p.name] = map[string]int{}
		for _, o := range outcomes {
			if o.Sample.Cause != p.name {
				continue
			}
			grade := p.grade(o.Verdict)
			if o.State != accuracy.Counts {
				grade = "left out"
			}
			grades[p.name][grade]++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| path | truth | of | right | family | missed | wrong | left out | right or family, 95 %% interval |\n%s\n",
		strings.Repeat("|---", 9)+"|")
	for _, p := range kernelPaths {
		g := grades[p.name]
		of := g["right"] + g["family"] + g["missed"] + g["wrong"]
		low, high := stat.Wilson(g["right"]+g["family"], of)
		fmt.Fprintf(&b, "| %s | `%s` | %d | %d | %d | %d | %d | %d | %.0f to %.0f %% |\n", p.name, p.truth(), of, g["right"], g["family"],
			g["missed"], g["wrong"], g["left out"], 100*low, 100*high)
	}
	t.Logf("\n%s", b.String())
}
