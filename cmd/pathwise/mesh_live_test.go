package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/archive"
	"github.com/pathwise-net/pathwise/measure"
)

// liveLab is a mesh of six hosts. Only e and f use the link between p and q.
const liveLab = `
seed: %d
hosts: {controller: {}, a: {}, b: {}, c: {}, d: {}, e: {}, f: {}}
routers: [r1, r2, r3, p, q]
links:
  - {between: [controller, r2], rate: 100mbit}
  - {between: [r1, r2], rate: 20mbit, delay: %dms}
  - {between: [r2, r3], rate: 20mbit, delay: %dms}
  - {between: [p, r2], rate: 20mbit, delay: 4ms}
  - {between: [q, r2], rate: 20mbit, delay: 3ms}
  - {between: [p, q], rate: 20mbit, delay: 5ms}
  - {between: [a, r1], rate: 20mbit, delay: 1ms}
  - {between: [b, r1], rate: 20mbit, delay: 1ms}
  - {between: [c, r3], rate: 20mbit, delay: 1ms}
  - {between: [d, r3], rate: 20mbit, delay: 1ms}
  - {between: [e, p], rate: 20mbit, delay: 1ms}
  - {between: [f, q], rate: 20mbit, delay: 1ms}
`

const liveTests = `
tools:
  rtt:  {probe: ping, parameters: {count: 10, interval: 50ms}}
  path: {probe: trace, parameters: {queries: 1}}
  bulk: {probe: throughput, parameters: {duration: 1s, cc: cubic}}
groups: {all: {mesh: all}}
tests:
  - {tool: rtt,  group: all, schedule: {every: 5s}}
  - {tool: path, group: all, schedule: {every: 1m}}
  - {tool: bulk, group: all, schedule: {every: 30s}}
`

// liveFault is a fault of a link, and what the first line is to name.
type liveFault struct{ a, b, setting, want string }

// plantLive draws the fault of a mesh by its number: of a host, a link or a pair; losses, delay or rate.
func plantLive(number int) (f liveFault, spec string) {
	r := rand.New(rand.NewPCG(uint64(number), 77))
	spec = fmt.Sprintf(liveLab, number+1, 2+r.IntN(12), 2+r.IntN(12))
	hosts := [][2]string{{"a", "r1"}, {"b", "r1"}, {"c", "r3"}, {"d", "r3"}, {"e", "p"}, {"f", "q"}}
	settings := []string{fmt.Sprintf("loss=%d%%", 3+r.IntN(5)), fmt.Sprintf("delay=%dms", 30+r.IntN(40)), fmt.Sprintf("rate=%dmbit", 2+r.IntN(4))}
	host, link := hosts[r.IntN(len(hosts))], [][2]string{{"r1", "r2"}, {"r2", "r3"}}[r.IntN(2)]
	switch kind := number % 7; {
	case kind < 3:
		f = liveFault{host[0], host[1], settings[kind], "host " + host[0]}
	case kind < 6:
		f = liveFault{link[0], link[1], settings[kind-3], "link " + link[0] + " - " + link[1]}
	default:
		f = liveFault{"p", "q", "forward." + settings[2], "pair e → f"}
	}
	return f, spec
}

// liveMeshes are the numbers of the meshes that are played: the first; or, by PATHWISE_LIVE_MESHES, so many, such as 21, or those from one number
// to another, such as 7-20, which goes on where one run ended.
func liveMeshes(t *testing.T) (first, last int) {
	t.Helper()
	text := os.Getenv("PATHWISE_LIVE_MESHES")
	if text == "" {
		return 0, 0
	}
	if n, err := fmt.Sscanf(text, "%d-%d", &first, &last); n == 2 && err == nil {
		return first, last
	}
	if _, err := fmt.Sscanf(text, "%d", &last); err != nil || last < 1 {
		t.Fatalf("PATHWISE_LIVE_MESHES=%q: want how many, such as 21, or from which to which, such as 7-20", text)
	}
	return 0, last - 1
}

// The first line of the summary names what was planted in a mesh that measures: a host, a link or a pair. Its past is made of what the same mesh
// measured while it was well, again and again through a day and more.
func TestLiveMeshes(t *testing.T) {
	t.Parallel()
	carrying(t)
	first, last := liveMeshes(t)
	for number := first; number <= last; number++ {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			fault, spec := plantLive(number)
			t.Logf("planted %s between %s and %s", fault.setting, fault.a, fault.b)
			m := newMeshLab(t, spec)
			m.deploy(liveTests, "horizon: 10m, hourly_diagnoses: 0")
			m.startServe()
			m.startAgents()
			calm := m.calmResults(fault)
			m.kill(m.serve)
			began := time.Now()
			if err := m.lab.Set(fault.a, fault.b, fault.setting); err != nil {
				t.Fatal(err)
			}
			m.makePast(calm, began)
			m.startServe()
			named := ""
			m.eventually("the first line names "+fault.want, func() bool {
				now := m.firstLine()
				if now != named {
					named = now
					t.Logf("after %v the first line names %q", time.Since(began).Round(time.Second), named)
				}
				return named == fault.want
			})
		})
	}
}

// calmResults are what the mesh measures until each pair was measured often enough to say what is usual.
func (m *meshLab) calmResults(fault liveFault) (all []*measure.Result) {
	m.t.Helper()
	least := map[string]int{"ping": 3, "trace": 1, "throughput": 1}
	if strings.Contains(fault.setting, "rate=") { // by which rates are told from those that are usual
		least["throughput"] = 2
	}
	pairs := (len(m.addresses) - 1) * (len(m.addresses) - 2)
	m.eventually("all pairs are measured", func() bool {
		all = m.results()
		counts := map[string]int{}
		for _, r := range all {
			counts[r.Kind+r.Source.Name+r.Target.Name]++
			for kind, n := range least {
				if r.Kind == kind && counts[r.Kind+r.Source.Name+r.Target.Name] == n {
					counts[kind]++
				}
			}
		}
		for kind := range least {
			if counts[kind] < pairs {
				return false
			}
		}
		return true
	})
	return all
}

// makePast replaces the archive by one in which the mesh measured the same for a day and more, up to the hour before the newest: each pair's
// Results in turn.
func (m *meshLab) makePast(calm []*measure.Result, now time.Time) {
	m.t.Helper()
	old, err := filepath.Glob(filepath.Join(m.data, "archive.sqlite*"))
	for _, file := range old {
		err = errors.Join(err, os.RemoveAll(file))
	}
	if err != nil {
		m.t.Fatal(err)
	}
	a, err := archive.Open(context.Background(), filepath.Join(m.data, "archive.sqlite"), archive.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	of := map[string][]*measure.Result{}
	for _, r := range calm {
		if r.Kind != "trace" {
			r.Samples = measure.Samples{} // nobody looks at them
		}
		key := r.Kind + " " + r.Source.Name + " " + r.Target.Name
		of[key] = append(of[key], r)
	}
	end := now.UTC().Truncate(time.Hour).Add(-time.Hour)
	var past []*measure.Result
	for key, results := range of {
		every := map[string]time.Duration{"ping": 10 * time.Minute, "throughput": 30 * time.Minute, "trace": time.Hour}[strings.Fields(key)[0]]
		for n, at := 0, end.Add(-26*time.Hour); at.Before(end); n, at = n+1, at.Add(every) {
			copied := *results[n%len(results)]
			copied.ID, copied.Started = measure.NewResult(copied.Kind, at).ID, at
			past = append(past, &copied)
		}
	}
	for len(past) > 0 && err == nil {
		n := min(len(past), 500)
		err = a.Put(context.Background(), past[:n])
		past = past[n:]
	}
	if err := errors.Join(err, a.Close()); err != nil {
		m.t.Fatal(err)
	}
}

// firstLine is what the first line of the summary names, with routers by their names in the lab; "" if all is as usual.
func (m *meshLab) firstLine() string {
	m.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(m.data, controlSocket))
	}}}
	answer, err := client.Get("http://controller/api/v1/summary")
	if err != nil {
		return "nothing: " + err.Error()
	}
	defer answer.Body.Close()
	var doc struct {
		Troubles []struct{ Kind, Name string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
		m.t.Fatal(err)
	}
	if len(doc.Troubles) == 0 {
		return ""
	}
	t := doc.Troubles[0]
	switch t.Kind {
	case "from", "to":
		t.Kind = "host"
	case "link": // a router answers with the address by which the packet came in: that of the second is on the link
		one, other, _ := strings.Cut(t.Name, " - ")
		one, other = m.router(one), m.router(other)
		t.Name = min(one, other) + " - " + max(one, other)
	case "router": // where several links lead to the first, all that they have in common is that address
		t.Kind, t.Name = "link", m.linkOf(t.Name)
	}
	return t.Kind + " " + t.Name
}

// linkOf are the nodes of the lab at both ends of the link on which an address is: its network is the link's own.
func (m *meshLab) linkOf(address string) string {
	m.t.Helper()
	state, err := m.lab.State()
	if err != nil {
		m.t.Fatal(err)
	}
	network := func(address string) string { return address[:strings.LastIndexAny(address, ".:")+1] }
	var ends []string
	for _, n := range state.Nodes {
		for _, a := range n.Addresses {
			if network(a) == network(address) {
				ends = append(ends, n.Name)
			}
		}
	}
	slices.Sort(ends)
	return strings.Join(ends, " - ")
}

// router is the node of the lab that has an address.
func (m *meshLab) router(address string) string {
	m.t.Helper()
	state, err := m.lab.State()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, n := range state.Nodes {
		for _, a := range n.Addresses {
			if a == address {
				return n.Name
			}
		}
	}
	return address
}
