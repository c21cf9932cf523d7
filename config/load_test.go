package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
)

var update = flag.Bool("update", false, "write the golden files anew")

// someKinds is a Checker that knows some kinds, and takes a count from 1. What leads out of theirs is a port, and a path of a host.
type someKinds struct{}

func (someKinds) Itself(kind string) bool { return kind == "host" }

func (someKinds) Outward(kind, parameter string) bool {
	return parameter == "port" || kind == "host" && parameter == "path"
}

func (someKinds) Validate(task measure.Task) error {
	if !slices.Contains([]string{"ping", "throughput", "trace", "host", KindCommand}, task.Kind) {
		return &Error{Field: "probe", Value: task.Kind, Want: "give one of the kinds that there are"}
	}
	if n, ok := task.Parameters["count"].(float64); ok && n < 1 {
		return fmt.Errorf("count %q: give a whole number from 1", fmt.Sprint(n))
	}
	if _, ok := task.Parameters["size"].(string); ok {
		return errors.New(`size "056": ping has no such size`)
	}
	return nil
}

// load reads testdata/folder, and fails the test if that is wrong.
func load(t *testing.T) *Mesh {
	t.Helper()
	m, err := Load("testdata/folder", someKinds{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// public leaves out what only this package sees.
var public = cmp.FilterPath(func(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && strings.ToLower(field.Name()[:1]) == field.Name()[:1]
}, cmp.Ignore())

func TestHostsOfAFolder(t *testing.T) {
	m := load(t)
	agent := Ports{First: 5201, Last: 5300}
	want := []Host{
		{
			Name: "ucl", Reach: ReachAgent, Site: "London", Labels: []string{"big", "gpu"}, Ports: Ports{First: 5201, Last: 5210},
			Interfaces: []Interface{
				{Name: "eth0", Addresses: []string{"10.1.0.1", "fd00:1::1"}, BitsPerSecond: 1e9},
				{Name: "eth1", Addresses: []string{"10.1.1.1"}},
			},
			Budget: Budget{BytesPerDay: 40e9, BitsPerSecond: 900e6, Share: 0.1},
			Overrides: map[string]map[string]any{
				"bbcp": {"path": "/data", "program": "/opt/bbcp"}, "bulk": {"port": 5300.0, "cc": "bbr"},
			},
		},
		{
			Name: "ral", Reach: ReachSSH, Site: "Didcot", Labels: []string{"gpu"}, Ports: agent,
			SSH: &SSH{Port: 2222, User: "pathwise", Key: "/etc/pathwise/id", KnownHosts: "/etc/pathwise/known",
				Directory: "/var/tmp/pw"},
			Interfaces: []Interface{{Addresses: []string{"10.2.0.1", "fd00:2::1"}, BitsPerSecond: 100e6}},
			Budget:     Budget{BytesPerDay: 40e9, Share: 0.1},
		},
		{Name: "cern", Reach: ReachAgent, Site: "Geneva", Ports: agent, Interfaces: []Interface{{Addresses: []string{"cern.example.org"}}}},
		{Name: "old", Reach: ReachResponder, Ports: Ports{Fixed: map[string]int{"iperf3": 5201}},
			Interfaces: []Interface{{Addresses: []string{"10.3.0.1"}}}},
		{Name: "spare", Reach: ReachAgent, Ports: agent, Offline: true, Interfaces: []Interface{{Addresses: []string{"10.4.0.1"}}}},
		{Name: "short", Reach: ReachAgent, Ports: agent, Interfaces: []Interface{{Addresses: []string{"10.5.0.1"}}}},
	}
	if diff := cmp.Diff(want, m.Hosts, public); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
	sites := []Site{
		{Name: "London", BitsPerSecond: 1e9, Labels: []string{"uk"}, Hosts: []int{0},
			Budget: Budget{BytesPerDay: 500e9, BitsPerSecond: 500e6, Share: 0.2}},
		{Name: "Didcot", BitsPerSecond: 622e6, Labels: []string{"uk"}, Hosts: []int{1}},
		{Name: "Geneva", Hosts: []int{2}, Budget: Budget{BitsPerSecond: 500e6}},
	}
	if diff := cmp.Diff(sites, m.Sites, public); diff != "" {
		t.Errorf("sites (-want +got):\n%s", diff)
	}
}

func TestToolsOfAFolder(t *testing.T) {
	yes, no := true, false
	want := []Tool{
		{Name: "rtt", Kind: "ping", Parameters: map[string]any{"count": 10.0, "size": 56.0, "interval": 0.5, "df": true}},
		{Name: "bulk", Kind: "throughput", Parameters: map[string]any{"duration": "10s", "rate": "20mbit"},
			Timeout: 40 * time.Second, Exclusive: &yes},
		{
			Name: "bbcp", Kind: KindCommand, Timeout: 5 * time.Minute,
			Needs: Needs{Duration: 30 * time.Second, Bytes: 1e9, BitsPerSecond: 400e6},
			Command: &Command{
				Words: []string{"{program}", "-P", "2", "-t", "{length}", "{file}", "{target}:{target.path}", "-z", "{source}",
					"#", "{target_name}"},
				Server: []string{"sh", "-c", "exec bbcp -s {port}"},
				Values: map[string]string{"file": "/data/1 GB", "length": "10", "program": "bbcp", "path": "/tmp", "port": "5031"},
				Parse: []parse.Rule{
					{Metric: "throughput_bits_per_second", Regex: "rate ([0-9.]+) Mb/s"},
					{Metric: "loss_ratio", JSON: "$.loss", Unit: "%"},
					{Metric: "sent_bytes", Key: "Bytes sent", Scale: 1024},
				},
			},
		},
		{Name: "load", Kind: "host", Itself: true},
		{Name: "disk", Kind: KindCommand, Timeout: time.Minute, Exclusive: &no, Offline: true, Command: &Command{
			Words: []string{"df", "--output=avail"}, Parse: []parse.Rule{{Metric: "free_bytes", Regex: "([0-9]+)"}}}},
	}
	if diff := cmp.Diff(want, load(t).Tools, public); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestTestsOfAFolder(t *testing.T) {
	m := load(t)
	nightly := Schedule{Cron: "30 2 * * 1-5", Zone: "Europe/London", Phase: "nightly", Tries: 5}
	own := Schedule{Every: 10 * time.Second, Sampling: Periodic}
	want := []Test{
		{Name: "rtt@all", Tool: "rtt", Group: "all",
			Schedule: Schedule{Every: time.Minute, Sampling: Poisson, Slot: 30 * time.Second, Tries: 3}},
		{Name: "bulk@gpus", Tool: "bulk", Group: "gpus", Family: 4, Schedule: nightly},
		{Name: "bbcp@gpus", Tool: "bbcp", Group: "gpus", Family: 4, Schedule: nightly},
		{Name: "sampled", Tool: "bulk", Group: "hub",
			Schedule: Schedule{Every: time.Hour, Sampling: Geometric, Step: 36 * time.Second}},
		{Name: "own/load", Tool: "load", Group: "selves", Schedule: own},
		{Name: "own/disk", Tool: "disk", Group: "selves", Schedule: own},
		{Name: "one", Tool: "rtt", Group: "pairs", Offline: true,
			Schedule: Schedule{Every: 24 * time.Hour, Sampling: Periodic, Slot: 2 * time.Hour}},
		{Name: "rtt@ways", Tool: "rtt", Group: "ways", Schedule: Schedule{Cron: "@hourly"}},
	}
	if diff := cmp.Diff(want, m.Tests, public); diff != "" {
		t.Errorf("tests (-want +got):\n%s", diff)
	}
	for _, test := range want {
		if got := m.Test(test.Name); got == nil || got.Name != test.Name {
			t.Errorf("Test(%q) is %v", test.Name, got)
		}
	}
	var active []string
	for i := range m.Tests {
		if m.Active(&m.Tests[i]) {
			active = append(active, m.Tests[i].Name)
		}
	}
	if got, want := strings.Join(active, " "), "rtt@all bulk@gpus bbcp@gpus sampled own/load rtt@ways"; got != want {
		t.Errorf("active: %s; want %s", got, want)
	}
}

func TestControllerOfAFolder(t *testing.T) {
	const day = 24 * time.Hour
	want := Controller{
		Listen: "[::]:8080",
		NATS: NATS{URLs: []string{"tls://nats1.example.org:4222", "nats://[2001:db8::2]"}, CAFile: "/etc/pathwise/nats-ca.pem",
			CertFile: "nats.crt", KeyFile: "nats.key", Nkey: "nats.nk", Replicas: 3},
		Archive: "postgres://pathwise:secret@db.example.org/pathwise",
		Retention: Retention{Results: 90 * day, Points: 30 * day,
			Rollups: map[string]time.Duration{"1m": 26 * 7 * day, "1h": 5 * 365 * day, "1d": Forever}},
		RemoteWrite: []RemoteWrite{{URL: "https://prometheus.example.org/api/v1/write"},
			{URL: "http://127.0.0.1:8428/api/v1/write", User: "pathwise", Password: "/etc/pathwise/rw"}},
		Data: "/srv/pathwise", Horizon: 12 * time.Hour, HourlyDiagnoses: 0,
		Lookup: Lookup{Names: "/etc/hosts", ASN: AskCymru, Owners: "ripe.db.gz", Places: "geofeed.csv", NameServer: "192.0.2.53:53"},
	}
	if diff := cmp.Diff(want, load(t).Controller); diff != "" {
		t.Errorf("controller (-want +got):\n%s", diff)
	}
	m, err := Parse([]File{{"", []byte("hosts: {a: 10.0.0.1}")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defaults := Controller{Listen: "127.0.0.1:8080", NATS: NATS{Listen: ":4222"}, Data: "/var/lib/pathwise", Horizon: 6 * time.Hour,
		HourlyDiagnoses: 4}
	if diff := cmp.Diff(defaults, m.Controller); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}
