package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/parse"
	"github.com/pathwise-net/pathwise/proto/iperf3"
	"github.com/pathwise-net/pathwise/sock"
)

type values = map[string]any

// Every parameter of every kind, as JSON and YAML hold them, ends where it belongs.
func TestReadTask(t *testing.T) {
	cases := []struct {
		kind, parameters string // YAML
		want             any
	}{
		{"ping", `{count: 20, interval: 200ms, timeout: 0.5, size: 1400, ttl: 9, dscp: 46, df: true, poisson: false, proto: icmp}`,
			&Ping{Target: "h", Proto: "icmp", Count: 20, Interval: 200 * time.Millisecond, Timeout: time.Second / 2, Size: 1400, TTL: 9, DSCP: 46,
				DontFragment: true, Deadline: 4 * time.Second}},
		{"ping", `{proto: syn, port: 80}`, &Ping{Target: "h", Proto: "tcp", Method: "syn", Port: 80, Deadline: 10 * time.Second}},
		{"ping", `{interval: "0.2", count: "5", poisson: "true"}`,
			&Ping{Target: "h", Count: 5, Interval: 200 * time.Millisecond, Poisson: true, Deadline: 2400 * time.Millisecond}},
		{"trace", `{max-ttl: 20, queries: 1, port: 40000, timeout: 2s, proto: udp}`,
			&Trace{Target: "h", Protocol: "udp", MaxTTL: 20, Queries: 1, Port: 40000, Timeout: 2 * time.Second}},
		{"throughput", `{proto: udp, port: 5202, duration: 5, bytes: 50MB, interval: 0.5s, parallel: 2, reverse: true, rate: 20mbit,
			cc: cubic, window: 4MiB, length: 1400, nodelay: true, dscp: 10, mss: 1400}`,
			&Throughput{Target: "h", Port: 5202, Config: iperf3.Config{Proto: "udp", Duration: 5 * time.Second, Bytes: 50e6,
				Interval: time.Second / 2, Parallel: 2, Reverse: true, Rate: 20e6, Congestion: "cubic", Window: 4 << 20, Length: 1400,
				NoDelay: true, DSCP: 10, MSS: 1400}}},
		{"throughput", `{bidir: true, rate: 10000000}`,
			&Throughput{Target: "h", Config: iperf3.Config{Bidir: true, Rate: 10e6, Duration: 10 * time.Second}}},
		{"capacity", `{port: 5202, reverse: true}`, &Capacity{Target: "h", Port: 5202, Reverse: true}},
		{"host", `{interval: 2s, iface: eth0, path: /var}`, &Host{Target: "h", Interval: 2 * time.Second, Iface: "eth0", Path: "/var"}},
		{"command", `{argv: [ping, "{target}", "{x}"], values: {x: "1"}, parse: [{metric: rtt_min_seconds, key: min, unit: ms}]}`,
			&Command{Target: "h", Argv: []string{"ping", "{target}", "{x}"}, Values: map[string]string{"x": "1"},
				Rules: []parse.Rule{{Metric: "rtt_min_seconds", Key: "min", Unit: "ms"}}}},
		// Every kind that has a target goes by the family that is asked for.
		{"ping", `{schedule: periodic, sizes: 64..1472}`, &Ping{Target: "h", Schedule: "periodic", Sizes: "64..1472", Deadline: 200 * time.Second}},
		{"ping", `{family: ipv6}`, &Ping{Target: "h", Family: sock.IPv6, Deadline: 10 * time.Second}},
		{"trace", `{family: ipv4}`, &Trace{Target: "h", Family: sock.IPv4}},
		{"trace", `{both: true, responder-port: 4444}`, &Trace{Target: "h", Both: true, ResponderPort: 4444}},
		{"trace", `{multipath: true, confidence: 99%}`, &Trace{Target: "h", Multipath: true, Confidence: 0.99}},
		{"throughput", `{family: ipv6}`,
			&Throughput{Target: "h", Family: sock.IPv6, Config: iperf3.Config{Duration: 10 * time.Second}}},
		{"capacity", `{hops: true}`, &Capacity{Target: "h", Hops: true}},
		{"capacity", `{family: ipv6}`, &Capacity{Target: "h", Family: sock.IPv6}},
		{"command", `{argv: [ping], family: ipv6}`, &Command{Target: "h", Argv: []string{"ping"}, Family: sock.IPv6}},
	}
	for _, c := range cases {
		var fromYAML, fromJSON values
		if err := yaml.Unmarshal([]byte(c.parameters), &fromYAML); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(fromYAML)
		if err == nil {
			err = json.Unmarshal(text, &fromJSON)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, parameters := range []values{fromYAML, fromJSON} {
			got, err := New(measure.Task{Kind: c.kind, Target: "h", Parameters: parameters}, Options{})
			if err != nil {
				t.Errorf("%s %s: %v", c.kind, c.parameters, err)
			} else if diff := cmp.Diff(c.want, got, cmpopts.IgnoreUnexported(Command{}, Throughput{})); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", c.kind, c.parameters, diff)
			}
		}
	}
}

// What a Result records of its parameters makes the same measurement again, through JSON.
func TestRecordedParameters(t *testing.T) {
	same(t, pingFields(), &Ping{Proto: "tcp", Method: "syn", Port: 80, Count: 20, Interval: 200 * time.Millisecond, Timeout: time.Second / 2, Size: 1400, TTL: 9, DSCP: 46,
		DontFragment: true, Poisson: true, Schedule: "poisson", Sizes: "64..1472", Flood: true, Burst: true, Window: "1..32", Family: sock.IPv6})
	same(t, mtuFields(), &MTU{Proto: "stamp", Port: 862, Timeout: 2 * time.Second, Family: sock.IPv6})
	same(t, traceFields(), &Trace{Protocol: "udp", MaxTTL: 20, Queries: 1, Port: 40000, Timeout: 2 * time.Second,
		Interval: 2 * time.Millisecond, DSCP: 46, NewFlow: true, Multipath: true, Confidence: 0.9, Both: true, ResponderPort: 4444, MTU: true, Middlebox: true, Rounds: 60, Every: 2 * time.Second, Family: sock.IPv4})
	same(t, throughputFields(), &Throughput{Port: 5202, Family: sock.IPv6, Narrow: 0.05, Login: Login{"ann", "password", "key", true}, Config: iperf3.Config{Proto: "udp", Duration: 5 * time.Second, Bytes: 50e6,
		Interval: time.Second / 2, Parallel: 2, Reverse: true, Bidir: true, Rate: 20e6, ReverseRate: 10e6, Congestion: "cubic", Window: 4 << 20, Length: 1400,
		NoDelay: true, EventLoop: true, DSCP: 10, MSS: 1400, Blocks: 3, Omit: time.Second, Burst: 2, FQRate: 5e6, ZeroCopy: true, MPTCP: true, FlowLabel: 7,
		ServerOutput: true}, Search: SearchTrials, Sweep: Sweep{"streams=1..4", time.Minute, 0.02, 7}, Beside: "reno,bbr", PathRate: 9e6, Group: Group{"239.1.2.3", "a", 4}})
	same(t, capacityFields(), &Capacity{Port: 5202, Reverse: true, Length: 200, Small: 100, Family: sock.IPv4})
	same(t, hostFields(), &Host{Interval: 2 * time.Second, Iface: "eth0", Path: "/var"})
}

func same[T any](t *testing.T, fields []field[T], want *T) {
	t.Helper()
	text, err := json.Marshal(recorded(fields, want))
	var parameters values
	if err == nil {
		err = json.Unmarshal(text, &parameters)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(parameters) != len(fields) {
		t.Errorf("%T: %d parameters recorded of %d: %s", want, len(parameters), len(fields), text)
	}
	got := new(T)
	for _, f := range fields {
		if v, there := parameters[f.Name]; there {
			if wrong := f.set(got, v); wrong != "" {
				t.Errorf("%T: %s %v: %s", want, f.Name, v, wrong)
			}
		}
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(*want)); diff != "" {
		t.Errorf("%T (-want +got):\n%s", want, diff)
	}
}

// What a Task cannot say is refused in one line that begins with the parameter's name, and is the user's error.
func TestReadTaskRefuses(t *testing.T) {
	cases := []struct {
		kind       string
		parameters values
		want       string
	}{
		{"pnig", nil, `probe "pnig": there is no such kind; did you mean ping?`},
		{"latency", nil, `probe "latency": there is no such kind; give one of app, audit, beacon, capacity, command, `},
		{"ping", values{"cuont": 5}, `cuont "5": ping has no such parameter; did you mean count?`},
		{"ping", values{"intervall": "1s"}, `intervall "1s": ping has no such parameter; did you mean interval?`},
		{"ping", values{"bananas": 5}, `bananas "5": ping has no such parameter; it has proto, method, count, interval`},
		{"ping", values{"interval_seconds": 5}, `interval_seconds "5": ping has no such parameter; did you mean interval?`},
		{"throughput", values{"time": 5}, `time "5": throughput has no such parameter; in a task it is duration`},
		{"throughput", values{"len": 5}, `len "5": throughput has no such parameter; in a task it is length`},
		{"trace", values{"max_ttl": 5}, `max_ttl "5": trace has no such parameter; did you mean max-ttl?`},
		{"trace", values{"both": true, "proto": "tcp"}, `protocol "tcp": give udp or icmp with both`},
		{"trace", values{"both": true, "mtu": true}, `mtu "true": leave away both; mtu HOST --proto stamp measures the way back`},
		{"mtu", values{"proto": "icmp", "port": 862}, `port "862": ICMP has no ports; leave it out, or ask for proto stamp or tcp`},
		{"trace", values{"confidence": 0.9}, `confidence "0.9": give it with multipath`},
		{"trace", values{"multipath": true, "confidence": 1}, `confidence "1": give a ratio above 0 and up to 0.9999`},
		{"ping", values{"count": 0}, `count "0": give a whole number from 1 to 10000000`},
		{"ping", values{"count": 1.5}, `count "1.5": give a whole number from 1`},
		{"ping", values{"count": true}, `count "true": give a whole number`},
		{"ping", values{"count": nil}, `count "<nil>": give a whole number`},
		{"ping", values{"count": []any{1}}, `count "[1]": give a whole number`},
		{"ping", values{"interval": "soon"}, `interval "soon": give a time such as 200ms or 10s; a bare number is seconds`},
		{"ping", values{"interval": 0}, `interval "0": give a time`},
		{"ping", values{"interval": "9us"}, `interval "9µs": give a time from 10µs to 1h0m0s`},
		{"ping", values{"df": "perhaps"}, `df "perhaps": give true or false`},
		{"ping", values{"proto": "sctp"}, `proto "sctp": give icmp, udp, stamp or tcp`},
		{"ping", values{"port": 80}, `port "80": ICMP has no ports`},
		{"ping", values{"proto": "tcp", "size": 56}, `size "56": a SYN has no payload`},
		{"ping", values{"proto": "tcp", "df": true}, `df "true": a SYN is too small to be cut`},
		{"throughput", values{"proto": "sctp"}, `proto "sctp": give tcp or udp`},
		{"throughput", values{"rate": "fast"}, `rate "fast": give a rate such as 20mbit`},
		{"throughput", values{"rate": -5}, `rate "-5": give a rate`},
		{"throughput", values{"window": "huge"}, `window "huge": give a size such as 1448, 256K or 4MiB`},
		{"throughput", values{"cc": 5}, `cc "5": give a text`},
		{"throughput", values{"reverse": true, "bidir": true}, `reverse`},
		{"ping", values{"dscp": "gold"}, `dscp "gold": give one of 0 to 63, ef`},
		{"throughput", values{"parallel": 1000}, `parallel "1000": give a whole number from 1 to 128`},
		{"host", values{"interval": "1ms"}, `interval "1ms": give a time from 100ms`},
		{"command", nil, `argv "": begin with the name of a program`},
		{"command", values{"argv": "ping -c 3"}, `argv "ping -c 3": give the program and its arguments`},
		{"command", values{"argv": []any{"{target}"}}, `argv "{target}": begin with the name of a program, without placeholders`},
		{"command", values{"argv": []any{"a", "{file}"}}, `argv "{file}": give values a "file", or write {{ and }} for braces`},
		{"command", values{"argv": []any{"a"}, "parse": []any{values{"metric": "rtt", "key": "a"}}}, `parse: metric "rtt": a name is`},
		{"command", values{"argv": []any{"a"}, "parse": []any{values{"metrics": "rtt"}}}, `parse "[map[metrics:rtt]]": give rules such as`},
	}
	for _, c := range cases {
		err := Validate(measure.Task{Kind: c.kind, Parameters: c.parameters})
		var bad interface{ BadInput() bool }
		if !errors.As(err, &bad) || !bad.BadInput() || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %v:\ngot  %v\nwant %s…", c.kind, c.parameters, err, c.want)
		}
		if _, err := New(measure.Task{Kind: c.kind, Target: "h", Parameters: c.parameters}, Options{}); err == nil {
			t.Errorf("%s %v: New took it", c.kind, c.parameters)
		}
		if _, err := Demand(measure.Task{Kind: c.kind, Parameters: c.parameters}); err == nil {
			t.Errorf("%s %v: Demand took it", c.kind, c.parameters)
		}
	}
}

// What the host adds reaches the probe.
func TestOptions(t *testing.T) {
	far := &measure.Responder{Kind: measure.ResponderIperf3, Port: 6001, Secret: strings.Repeat("s", 36)}
	seen := ""
	o := Options{Responder: far, Interval: func(measure.Interval) { seen += "interval " }, Echo: func(measure.Echo) { seen += "echo " },
		Hop: func(measure.Hop) { seen += "hop " }, Line: func(string) { seen += "line " }, Allow: func([]string) error { seen += "allow "; return nil }}
	made := map[string]measure.Prober{}
	for _, k := range []string{"ping", "trace", "throughput", "capacity", "command"} {
		task := measure.Task{Kind: k, Target: "h", Parameters: values{}}
		switch k {
		case "command":
			task.Parameters["argv"] = []string{"true"}
		case "throughput", "capacity":
			task.Parameters["port"] = 7
		}
		p, err := New(task, o)
		if err != nil {
			t.Fatal(err)
		}
		made[k] = p
	}
	made["ping"].(*Ping).Progress(measure.Echo{})
	made["trace"].(*Trace).Progress(measure.Hop{})
	throughput, capacity, command := made["throughput"].(*Throughput), made["capacity"].(*Capacity), made["command"].(*Command)
	throughput.OnInterval(measure.Interval{})
	command.Line("")
	_ = command.Allow(nil)
	if want := "echo hop interval line allow "; seen != want {
		t.Errorf("called %q, want %q", seen, want)
	}
	got := fmt.Sprint(throughput.Port, throughput.Config.Cookie, capacity.Port, capacity.Cookie, command.Port)
	if want := fmt.Sprint(6001, far.Secret, 6001, far.Secret, 6001); got != want {
		t.Errorf("ports and secrets %s, want %s", got, want)
	}
}

func TestDemand(t *testing.T) {
	const ethernet = 1538. // bytes that a full packet takes on the link
	cases := []struct {
		kind       string
		parameters values
		want       measure.Demand
	}{
		{"ping", nil, measure.Demand{DurationSeconds: 11, Bytes: 2 * 122 * 10, BitsPerSecond: 976}},
		{"ping", values{"size": 1}, measure.Demand{DurationSeconds: 11, Bytes: 2 * 84 * 10, BitsPerSecond: 672}}, // the least frame
		{"ping", values{"size": 3000, "count": 1}, measure.Demand{DurationSeconds: 2, Bytes: 2 * (3008 + 3*58), BitsPerSecond: 8 * (3008 + 3*58)}},
		{"ping", values{"size": 1400, "interval": "1ms", "count": 1000},
			measure.Demand{DurationSeconds: 2.999, Exclusive: true, Bytes: 2 * 1466 * 1000, BitsPerSecond: 1466 * 8000}},
		{"ping", values{"size": 100, "interval": "1ms", "count": 1000}, // 0.8 Mbit/s of payload, but 1.3 of the link's time
			measure.Demand{DurationSeconds: 2.999, Exclusive: true, Bytes: 2 * 166 * 1000, BitsPerSecond: 166 * 8000}},
		{"ping", values{"proto": "tcp"}, measure.Demand{DurationSeconds: 11, Bytes: (98 + 3*90 + 98 + 2*90) * 10, BitsPerSecond: 8 * (98 + 3*90)}},
		{"ping", values{"proto": "tcp", "family": "ipv6", "interval": "3ms", "timeout": "1s", "count": 1001}, measure.Demand{DurationSeconds: 4,
			Exclusive: true, Bytes: (118 + 3*110 + 118 + 2*110) * 1001, BitsPerSecond: 8 * (118 + 3*110) / 0.003}},
		{"ping", values{"proto": "syn"}, measure.Demand{DurationSeconds: 11, Bytes: (84 + 84 + 84) * 10, BitsPerSecond: 8 * (84 + 84)}},
		{"ping", values{"poisson": true, "count": 101}, measure.Demand{DurationSeconds: 142, Bytes: 2 * 122 * 101, BitsPerSecond: 976}},
		{"trace", nil, measure.Demand{DurationSeconds: 2.09, Bytes: 2 * 98 * 90, BitsPerSecond: 98 * 8 / 0.001}},
		{"trace", values{"both": true}, measure.Demand{DurationSeconds: 2*2.09 + 3, Bytes: 4 * 98 * 90, BitsPerSecond: 98 * 8 / 0.001,
			Responder: "ndt7", PortParameter: "responder-port"}},
		{"trace", values{"middlebox": true}, measure.Demand{DurationSeconds: 2*2.09 + 2*3, Bytes: 4 * 98 * 90, BitsPerSecond: 98 * 8 / 0.001, Responder: "ndt7"}},
		{"trace", values{"multipath": true}, measure.Demand{DurationSeconds: 3, Bytes: 2 * 98 * multipathTypical, BitsPerSecond: 98 * 8 / 0.001}},
		{"throughput", nil, measure.Demand{DurationSeconds: 11, Exclusive: true, Responder: "iperf3"}},
		{"throughput", values{"bytes": 1448000}, measure.Demand{DurationSeconds: 11, Exclusive: true, Bytes: 1000*ethernet + 500*90, Responder: "iperf3"}},
		{"throughput", values{"rate": "1mbit"}, measure.Demand{DurationSeconds: 11, Bytes: 10e6 / 8 / 1448 * (ethernet + 45),
			BitsPerSecond: 1e6 / 1448 * ethernet, Responder: "iperf3"}},
		{"throughput", values{"rate": "1mbit", "bidir": true}, measure.Demand{DurationSeconds: 11, Bytes: 2 * 10e6 / 8 / 1448 * (ethernet + 45),
			BitsPerSecond: 1e6 / 1448 * (ethernet + 45), Responder: "iperf3"}},
		{"throughput", values{"rate": "1mbit", "parallel": 2, "duration": 5}, measure.Demand{DurationSeconds: 6, Exclusive: true,
			Bytes: 10e6 / 8 / 1448 * (ethernet + 45), BitsPerSecond: 2e6 / 1448 * ethernet, Responder: "iperf3"}},
		{"throughput", values{"proto": "udp"}, measure.Demand{DurationSeconds: 11, Bytes: 10e6 / 8 / 1460 * 1526,
			BitsPerSecond: 1e6 / 1460. * 1526, Responder: "iperf3"}},
		{"throughput", values{"proto": "udp", "rate": "20mbit", "length": 1000}, measure.Demand{DurationSeconds: 11, Exclusive: true,
			Bytes: 200e6 / 8 / 1000 * 1066, BitsPerSecond: 20e6 * 1.066, Responder: "iperf3"}},
		{"capacity", nil, measure.Demand{DurationSeconds: 6, Exclusive: true, Bytes: 1640 * (ethernet - 20), Responder: "iperf3", ResponderTests: 24}},
		{"capacity", values{"hops": true}, measure.Demand{DurationSeconds: 12, Exclusive: true, Bytes: 8000 * ethernet}},
		{"ndt7", nil, measure.Demand{DurationSeconds: 24, Exclusive: true, Responder: "ndt7", ResponderTests: 2}},
		{"ndt7", values{"direction": "forward", "duration": 5}, measure.Demand{DurationSeconds: 7, Exclusive: true, Responder: "ndt7", ResponderTests: 1}},
		{"command", values{"argv": []string{"true"}}, measure.Demand{Exclusive: true}},
		{"host", values{"interval": 3}, measure.Demand{DurationSeconds: 3}},
	}
	for _, c := range cases {
		got, err := Demand(measure.Task{Kind: c.kind, Parameters: c.parameters})
		got.ResultBytes = 0 // see TestResultBytes
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(1e-9, 0)); err != nil || diff != "" {
			t.Errorf("%s %v: %v (-want +got):\n%s", c.kind, c.parameters, err, diff)
		}
	}
}

func FuzzTask(f *testing.F) {
	f.Add("ping", `{"count": 10, "interval": "200ms", "df": true}`)
	f.Add("throughput", `{"rate": "20mbit", "window": 1e6, "bidir": "yes"}`)
	f.Add("command", `{"argv": ["ping", "{target}", "{{x}}"], "values": {"x": "y"}, "parse": [{"metric": "a_seconds", "key": "a"}]}`)
	f.Fuzz(func(t *testing.T, kind, parameters string) {
		task := measure.Task{Kind: kind, Target: "192.0.2.1"}
		if json.Unmarshal([]byte(parameters), &task.Parameters) != nil {
			return
		}
		_, failed := New(task, Options{})
		d, err := Demand(task)
		if (failed == nil) != (err == nil) || d.Bytes < 0 || d.DurationSeconds < 0 || d.BitsPerSecond < 0 {
			t.Errorf("%s %s: demand %+v, errors %v and %v", kind, parameters, d, failed, err)
		}
	})
}
