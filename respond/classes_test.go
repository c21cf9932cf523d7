package respond

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/proto/endpoint"
)

func TestParseClasses(t *testing.T) {
	got, err := ParseClasses("clients.yaml", []byte(`classes:
  - {keys: [ann, bob], sessions: 64, longest: 1h, packets: 1000000, rate: 20000, bit_rate: 1gbit}
  - networks: [192.0.2.7/24, "2001:db8::/32"]
  - {refuse: true}
`))
	want := []endpoint.Class{
		{KeyIDs: []string{"ann", "bob"}, Limits: endpoint.Limits{Sessions: 64, Longest: time.Hour, Packets: 1e6, Rate: 20_000, BitRate: 1e9}},
		{Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}},
		{Limits: endpoint.Limits{Refuse: true}},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Prefix{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"classes: [{network: [192.0.2.0/24]}]": "networks",
		"classes: [{networks: [192.0.2.1]}]":   `classes[0].networks: "192.0.2.1"`,
		"classes: [{longest: never}]":          `longest: "never"`,
		"classes: [{bit_rate: fast}]":          `bit_rate: "fast"`,
		"classes: [{rate: -1}]":                `rate: "-1"`,
	} {
		if _, err := ParseClasses("clients.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
