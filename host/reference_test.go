package host

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// sound is a run that this host's processor held.
func sound() ReferenceRun {
	return ReferenceRun{Sends: true, Streams: 1, Rate: 9e9, CPU: 0.97, Packets: 0.9, PeerCPU: 0.7, RTT: 2e-4}
}

// What else than this host may have been the limit makes a run no ceiling.
func TestReferenceIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ReferenceRun)
		link   float64
		want   string
	}{
		"this host":                      {func(*ReferenceRun) {}, 0, ""},
		"this host, on a faster link":    {func(*ReferenceRun) {}, 25e9, ""},
		"its kernel, beside the program": {func(r *ReferenceRun) { r.CPU, r.Packets, r.PeerCPU = 0.5, 0.98, 0.6 }, 0, ""},
		"nothing":                        {func(r *ReferenceRun) { r.Rate = 0 }, 0, "nothing was moved"},
		"far":                            {func(r *ReferenceRun) { r.RTT = 0.02 }, 0, "a round trip of 20.0 ms is not near: the path may be the limit"},
		"loss":                           {func(r *ReferenceRun) { r.Resent = 0.001 }, 0, "the path lost packets: 0.100 % of them were sent again"},
		"the link":                       {func(*ReferenceRun) {}, 10e9, "the link of 10.0 Gbit/s was full: this host may do more"},
		"the near host": {func(r *ReferenceRun) { r.PeerCPU = 1 }, 0,
			"the near host was the busier one, with 100 % of a processor against 97 % here"},
		"its window": {func(r *ReferenceRun) { r.Window, r.CPU, r.Packets = 0.8, 0.4, 0.4 }, 0, "the near host's window held it 80 % of the time"},
		"idle":       {func(r *ReferenceRun) { r.CPU, r.Packets = 0.4, 0.5 }, 0, "no processor here was busier than 50 %: the near host or the path may be the limit"},
	} {
		run := sound()
		c.change(&run)
		r := Reference{Self: Identity{LinkRate: c.link}, Runs: []ReferenceRun{run}}
		r.Judge()
		_, is := r.Ceiling(true)
		_, other := r.Ceiling(false)
		if got := r.Runs[0].Limit; got != c.want || is != (c.want == "") || r.Tells() != is || other {
			t.Errorf("%s: limited by %q, want %q; a ceiling %v", name, got, c.want, is)
		}
	}
}

// A host that has changed since, or that nobody looked at for long, has no reference.
func TestReferenceGetsStale(t *testing.T) {
	made := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	self := Identity{Name: "dtn1", Kernel: "6.18.1", Processors: 8, Interface: "eth0", Hardware: "02:00:00:00:00:01", MTU: 9000, LinkRate: 1e11}
	r := Reference{Made: made, Self: self}
	for name, c := range map[string]struct {
		change func(*Identity)
		after  time.Duration
		want   string
	}{
		"as it was":       {func(*Identity) {}, 90 * 24 * time.Hour, ""},
		"old":             {func(*Identity) {}, 91 * 24 * time.Hour, "91 days"},
		"before it":       {func(*Identity) {}, -2 * time.Hour, "clock"},
		"another host":    {func(i *Identity) { i.Name = "dtn2" }, 0, "the host dtn1"},
		"kernel":          {func(i *Identity) { i.Kernel = "6.19.0" }, 0, "6.18.1, and 6.19.0 runs now"},
		"processors":      {func(i *Identity) { i.Processors = 4 }, 0, "8 processors, and there are 4"},
		"other interface": {func(i *Identity) { i.Interface = "eth1" }, 0, "goes out by eth1"},
		"other adapter":   {func(i *Identity) { i.Hardware = "02:00:00:00:00:02" }, 0, "eth0 (02:00:00:00:00:02)"},
		"packets":         {func(i *Identity) { i.MTU = 1500 }, 0, "9000 bytes, and has 1500"},
		"link":            {func(i *Identity) { i.LinkRate = 0 }, 0, "none that is known"},
	} {
		now := self
		c.change(&now)
		if got := r.Stale(made.Add(c.after), now); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A reference is read as it was kept; one that is damaged, or of another schema, is said, and none is none.
func TestReferenceIsKept(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	path, err := ReferencePath()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ReadReference(path); r != nil || err != nil {
		t.Errorf("none is there: %v, %v", r, err)
	}
	r := &Reference{Schema: ReferenceSchema, Made: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), Self: Identity{Name: "dtn1"}, Peer: "dtn2", PeerAddress: netip.MustParseAddr("2001:db8::2"),
		Runs: []ReferenceRun{sound()}}
	for range 2 { // the second takes the first one's place
		if err := r.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := ReadReference(path)
	if diff := cmp.Diff(r, got, cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"{", `{"schema": "pathwise.reference/2"}`, strings.Repeat(" ", mostReference+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReference(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	t.Setenv("XDG_STATE_HOME", "not/whole")
	if path, err := ReferencePath(); err != nil || !strings.HasSuffix(path, filepath.Join(".local", "state", "pathwise", "reference.json")) {
		t.Errorf("%s, %v", path, err)
	}
}
