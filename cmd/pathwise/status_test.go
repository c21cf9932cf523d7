package main

import (
	"bytes"
	"testing"
)

// Exit statuses, as the contract fixes them: 2 for a wrong call, 1 for what could not be measured.
func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{
		{[]string{"version"}, exitDone},
		{[]string{"calc", "bdp", "--rate", "100mbit", "--rtt", "50ms"}, exitDone},
		{[]string{"frobnicate"}, exitBadCall},
		{[]string{"throughput"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--window", "0"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--rate", "-1"}, exitBadCall},
		{[]string{"diagnose", "no-such-host.invalid"}, exitBadCall},
		{[]string{"lab", "up", "/no/such/file"}, exitBadCall},
		{[]string{"throughput", "127.0.0.1", "--port", "9"}, exitFailed},
		{[]string{"diagnose", "127.0.0.1", "--port", "9"}, exitFailed},
		{[]string{"lab", "truth", "--name", "nobody-has-this"}, exitFailed},
	} {
		var stdout, stderr bytes.Buffer
		if got := run(c.args, nil, &stdout, &stderr); got != c.want {
			t.Errorf("pathwise %v: exit status %d, want %d: %s", c.args, got, c.want, stderr.String())
		}
		if lines := bytes.Count(stderr.Bytes(), []byte("\n")); c.want != exitDone && lines != 1 {
			t.Errorf("pathwise %v: %d lines of complaint, want 1:\n%s", c.args, lines, stderr.String())
		}
	}
}
