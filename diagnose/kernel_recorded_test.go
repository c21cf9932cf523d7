package diagnose

import "testing"

// Paths of the kernel's own means, as TestDiagnoseKernelPaths of cmd/pathwise recorded them, of which earlier rules said something else.
func TestKernelPathsReplayed(t *testing.T) {
	for _, c := range []struct {
		file, verdict string
		not           string // a finding that may not be there; "": any may
	}{
		{"slow-writer", "application-limited", ""},       // data waits to be sent for 18 % of the time
		{"bare", Unknown, "reordering-harmful"},          // 4 of 10 million packets were sent again in vain; its trains do not tell why they tell nothing
		{"bare-busy", Healthy, "application-limited"},    // and the hosts are busy otherwise
		{"random-loss", "random-loss", "flow-slow-path"}, // which a short flow did not meet
		{"large-bucket", Healthy, ""},                    // whole trains pass at the speed of the cable
		{"policer-near", "policer", ""},
		{"runs", "burst-loss", ""},
		{"runs-unseen", "unexplained", "shallow-buffer"}, // the paced probe met no run, that at half of the capacity three
		// No packet above 1100 bytes passes the wall, which says nothing, and the sender's kernel goes over to smaller ones after 3.7 s.
		{"mtu-probed", "pmtu-blackhole", "small-mss"},
	} {
		d := readRecording(t, "testdata/kernel/"+c.file+".json.gz").Diagnose()
		checkFindings(t, d)
		if d.Verdict != c.verdict || c.not != "" && gives(d, c.not) {
			t.Errorf("%s: verdict %s, want %s, and not %q: %+v", c.file, d.Verdict, c.verdict, c.not, d.Findings)
		}
	}
}
