package endpoint

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The log tells how many packets were not answered since the beginning, by the reason, now and then and at the end.
func TestRefusalsAreTold(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	var r Refusals
	now := time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	for i := range 30 {
		r.Add(log, now.Add(time.Duration(i)*time.Second), []string{"short", "forged"}[i%2], netip.AddrPort{})
	}
	r.Tell(log)
	r.Tell(log)
	var got []string
	for line := range strings.Lines(said.String()) {
		_, counts, _ := strings.Cut(line, " packets.")
		got = append(got, strings.TrimSpace(counts))
	}
	want := []string{"short=1", "forged=5 packets.short=6", "forged=10 packets.short=11", "forged=15 packets.short=15"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, said.String())
	}
}
