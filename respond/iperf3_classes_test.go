package respond

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/proto/iperf3"
)

func TestParseIperf3Classes(t *testing.T) {
	got, err := ParseIperf3Classes("clients.yaml", []byte(`classes: [{refuse: true}]
throughput:
  - {networks: [192.0.2.7/24], hours: ["22:00-06:00", "12:00-12:30"], longest: 1h, streams: 16, rate: 1gbit}
  - {refuse: true}
`))
	want := []iperf3.Class{
		{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, MaxDuration: time.Hour, MaxStreams: 16, MaxRate: 1e9,
			Hours: []iperf3.Hours{{From: 22 * time.Hour, To: 6 * time.Hour}, {From: 12 * time.Hour, To: 12*time.Hour + 30*time.Minute}}},
		{Refuse: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"throughput: [{keys: [ann]}]":            "keys",
		"throughput: [{networks: [192.0.2]}]":    `throughput[0].networks: "192.0.2"`,
		"throughput: [{hours: [night]}]":         `throughput[0].hours: "night"`,
		`throughput: [{hours: ["25:00-26:00"]}]`: `hours: "25:00-26:00"`,
		`throughput: [{hours: ["6:00-6:00"]}]`:   `hours: "6:00-6:00"`,
		"throughput: [{longest: -1h}]":           `longest: "-1h"`,
		"throughput: [{rate: fast}]":             `rate: "fast"`,
		"throughput: [{streams: -1}]":            `streams: "-1"`,
	} {
		if _, err := ParseIperf3Classes("clients.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
