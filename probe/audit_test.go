package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/measure"
)

// What is wrong becomes a finding each, the worse first; what is right or was not read is counted only.
func TestFillAudit(t *testing.T) {
	r := measure.NewResult("audit", time.Time{})
	r.Source.Name = "bob"
	fillAudit(r, &host.Report{Rate: 1e9, RTTSeconds: 0.05, Missing: []string{"firewall: not root"}, Checks: []host.Check{
		{ID: "offload", Subject: "eth0", Status: host.Warning, Value: "tso off", Needed: "on", Why: "It costs processor time."},
		{ID: "tcp-rmem", Status: host.Problem, Value: "4096 87380 262144", Needed: "at least 12500000", Why: "The window is half of it.",
			Formula: "2 × rate × round trip", Command: "sysctl -w x", Keep: "a file"},
		{ID: "tcp-sack", Status: host.OK, Value: "1"}, {ID: "rings", Status: host.Unknown},
	}})
	want := []measure.Finding{
		{ID: "tcp-rmem", Severity: measure.Problem, Confidence: 1, Where: "bob", Evidence: []measure.Evidence{},
			Explanation: "4096 87380 262144, and at least 12500000 is needed. The window is half of it. " +
				"It can hold back transfers of 1.00 Gbit/s over 50.0 ms; a diagnosis says whether it does.",
			Advice: []measure.Advice{{Host: "bob", Command: "sysctl -w x", Why: "2 × rate × round trip; to make it stay: a file"}}},
		{ID: "offload", Severity: measure.Warning, Confidence: 1, Where: "bob eth0", Evidence: []measure.Evidence{}, Advice: []measure.Advice{},
			Explanation: "tso off, and on would be better. It costs processor time. It is no sign by itself that a transfer is held back now."},
	}
	if diff := cmp.Diff(want, r.Samples.Findings); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	counts := map[measure.Metric]float64{measure.HostSettingsBad: 1, measure.HostSettingsDoubtful: 1, measure.HostSettingsUnknown: 1}
	if diff := cmp.Diff(counts, r.Metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if r.Parameters["rate"] != 1e9 || r.Parameters["rtt"] != 0.05 || len(r.Notes) != 1 {
		t.Errorf("%v, %v", r.Parameters, r.Notes)
	}
}

// This machine can be audited, whoever asks, and what is found agrees with the counts.
func TestAuditOfThisHost(t *testing.T) {
	p, err := New(measure.Task{Kind: "audit", Parameters: map[string]any{"to": "127.0.0.1", "rate": "10mbit", "rtt": "10ms", "interval": "100ms"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := r.Metrics[measure.HostSettingsBad] + r.Metrics[measure.HostSettingsDoubtful]
	if r.Status != measure.StatusOK || float64(len(r.Samples.Findings)) != found || r.Source.Address != "127.0.0.1" || r.Target.Name != r.Source.Name {
		t.Errorf("%s: %+v, %d findings, from %+v to %+v", r.Status, r.Metrics, len(r.Samples.Findings), r.Source, r.Target)
	}
}

// What a disk and ciphers were tried for becomes metrics: of large blocks those past the cache, of digests SHA-256, and of ciphers the fastest.
func TestFillTrials(t *testing.T) {
	r := measure.NewResult("audit", time.Time{})
	fillTrials(r, &host.Report{
		DiskRates: []host.DiskRate{{What: "write", Rate: 1e9}, {What: "read", Rate: 2e9}, {What: "direct write", Rate: 3e8}, {What: "direct read", Rate: 4e8},
			{What: "direct write at random", Rate: 5e6, PerSecond: 150}, {What: "direct read at random", Rate: 6e6, PerSecond: 180}},
		Crypto: []host.CipherRate{{Name: "aes-128-gcm", Rate: 20e9}, {Name: "chacha20-poly1305", Rate: 8e9}, {Name: "sha-256", Rate: 9e9},
			{Name: "md5", Rate: 4e9}, {Name: "crc32c", Rate: 80e9}},
	})
	want := map[measure.Metric]float64{measure.HostFileWrite: 3e8, measure.HostFileRead: 4e8, measure.HostFileRandomWrite: 5e6, measure.HostFileRandomRead: 6e6,
		measure.HostCipher: 20e9, measure.HostDigest: 9e9}
	if diff := cmp.Diff(want, r.Metrics); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An audit tries what it is asked to, and says how long that takes.
func TestAuditTries(t *testing.T) {
	short := measure.Task{Kind: "audit", Parameters: map[string]any{"interval": "100ms", "crypto": true}}
	p, err := New(short, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.Metrics[measure.HostCipher] <= 0 || r.Metrics[measure.HostDigest] <= 0 || r.Metrics[measure.HostFileRead] != 0 {
		t.Errorf("%+v", r.Metrics)
	}
	if _, err := New(measure.Task{Kind: "audit", Parameters: map[string]any{"disk": "data"}}, Options{}); !input.Bad(err) {
		t.Errorf("a folder from nowhere: %v", err)
	}
	plain, long := measure.Task{Kind: "audit"}, measure.Task{Kind: "audit", Parameters: map[string]any{"crypto": true, "disk": "/data"}}
	less, err := Demand(plain)
	if err != nil {
		t.Fatal(err)
	}
	if more, err := Demand(long); err != nil || more.DurationSeconds-less.DurationSeconds != (diskTakes+cryptoTakes).Seconds() {
		t.Errorf("%+v and %+v, %v", less, more, err)
	}
}
