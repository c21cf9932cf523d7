package diagnose

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/measure"
)

// exchanges are transactions over 10 ms, as tests of them would bring.
type exchanges struct {
	told       map[string]any // of a program
	times      []float64      // s, of transactions on one connection; below 0: it failed
	gather     float64        // s, at the far end
	resent     float64        // packets
	firstByte  float64        // s; 0: as the transaction
	new        []float64      // s, of those on connections of their own
	newGather  float64
	connects   []float64 // s, until these were open; nil: 10 ms
	undelayed  float64   // s; 0: not measured
	whole      float64   // s; 0: not measured
	idle       []float64 // s, of those after pauses
	service    []float64 // s, until connections to a service were open
	lostPings  float64
	lostSilent bool // a transfer's silent connection was lost
	early      bool // and the transfer ended long before it was to
}

// noAnswer and refused stand for the time of a connection that did not open.
const (
	noAnswer = -1
	refused  = -2
)

func times(n int, each float64) []float64 { return slices.Repeat([]float64{each}, n) }

// quick are ten transactions that take what the path takes.
func quick(change func(*exchanges)) exchanges {
	e := exchanges{times: times(10, .0103), new: times(10, .0206)}
	change(&e)
	return e
}

// result is one test of them.
func (e exchanges) result(second int, all, connects []float64, parameters map[string]any) *measure.Result {
	r := measure.NewResult("transact", testStart.Add(time.Duration(second)*time.Second))
	r.Source.Name, r.Target.Name = "bob", "carol"
	maps.Copy(r.Parameters, ownPattern)
	maps.Copy(r.Parameters, e.told)
	maps.Copy(r.Parameters, map[string]any{"interval": exchangeInterval})
	maps.Copy(r.Parameters, parameters)
	turns, _ := r.Number("turns")
	trips := turns
	if connects != nil {
		trips++
	}
	var done []float64
	for i, s := range all {
		one := measure.Transaction{Seq: i + 1}
		one.StartSeconds = r.DurationSeconds
		if r.DurationSeconds += exchangePatience; s >= 0 {
			r.DurationSeconds += s - exchangePatience
		}
		if connects != nil && connects[i] != noAnswer && connects[i] != refused {
			one.ConnectSeconds = &connects[i]
		}
		if s == refused {
			r.DurationSeconds = one.StartSeconds
		}
		if s >= 0 {
			first := s / trips
			if e.firstByte > 0 {
				first = e.firstByte
			}
			one.Seconds, one.FirstByteSeconds = &s, &first
			done = append(done, s)
		}
		if s > 1 {
			one.Retransmits = 1
		}
		r.Samples.Transactions = append(r.Samples.Transactions, one)
	}
	slices.Sort(done)
	m := r.Metrics
	m[measure.TransactionsDone], m[measure.TransactionsFailed] = float64(len(done)), float64(len(all)-len(done))
	m[measure.AnswerTime], m[measure.RequestGather], m[measure.Retransmits] = 50e-6, 20e-6, e.resent
	m[measure.TransactionIdeal] = .01 * trips
	if len(done) > 0 {
		m[measure.TransactionMin], m[measure.TransactionMedian], m[measure.TransactionMax] = done[0], done[len(done)/2], done[len(done)-1]
	}
	if connects != nil {
		m[measure.ConnectMin], m[measure.ConnectMedian] = slices.Min(connects), connects[len(connects)/2]
	}
	return r
}

func (e exchanges) results() []*measure.Result {
	ping := measure.NewResult("ping", testStart)
	ping.Metrics = map[measure.Metric]float64{measure.RTTMin: .01, measure.RTTMedian: .01, measure.SentPackets: 20, measure.ReceivedPackets: 20 - e.lostPings}
	base := e.result(1, e.times, nil, nil)
	base.Metrics[measure.RequestGather] = max(20e-6, e.gather)
	connects := e.connects
	if connects == nil {
		connects = times(len(e.new), .01)
	}
	fresh := e.result(2, e.new, connects, map[string]any{"new": true})
	fresh.Metrics[measure.RequestGather] = max(20e-6, e.newGather)
	all := []*measure.Result{ping, base, fresh}
	if e.undelayed > 0 {
		all = append(all, e.result(3, times(10, e.undelayed), nil, map[string]any{"nodelay": true}))
	}
	if e.whole > 0 {
		all = append(all, e.result(4, times(10, e.whole), times(10, .01), map[string]any{"new": true, "writes": 1.0}))
	}
	if e.service != nil {
		all = append(all, e.result(5, e.service, e.service, map[string]any{"connect": true, "port": 5002.0}))
	}
	if e.idle != nil {
		all = append(all, e.result(30, e.idle, nil, map[string]any{"interval": 8.0}))
	}
	for _, r := range with(fullPath).results()[1:] { // without its ping
		if r.Started = testStart.Add(10 * time.Second); r.Kind == "throughput" && e.lostSilent {
			r.Status, r.Parameters["duration"] = measure.StatusPartial, testSeconds-1
			if e.early {
				endEarly(r)
			}
		}
		all = append(all, r)
	}
	return all
}

// endEarly has a transfer move nothing, and have nothing to move, after a quarter of its time.
func endEarly(r *measure.Result) {
	for i := range r.Samples.TCPInfo {
		v := r.Samples.TCPInfo[i].Values
		if all := len(r.Samples.TCPInfo); i > all/4 {
			v["bytes_acked"] = r.Samples.TCPInfo[all/4].Values["bytes_acked"]
		}
		v["notsent_bytes"], v["unacked_packets"] = 0, 0
	}
}

var inPieces = map[string]any{"request": 202.0, "writes": 2.0}

// What transactions suffer is named where it is there, and not where something that looks like it is.
func TestTransactions(t *testing.T) {
	nagle := func(e *exchanges) { e.told, e.times, e.gather, e.undelayed = inPieces, times(10, .064), .05, .0104 }
	dribble := func(e *exchanges) {
		e.told = map[string]any{"request": 5000.0, "writes": 50.0, "nodelay": true}
		e.new, e.newGather, e.whole = times(10, .033), .012, .021
	}
	lateSYN := []float64{.01, 1.02, .01, 1.03, .01, .01, .01, 1.02, .01, .01}
	for name, c := range map[string]struct {
		of   exchanges
		want string // of the rules of transactions; "": none
	}{
		"nothing":                             {quick(func(*exchanges) {}), ""},
		"two writes":                          {quick(nagle), "nagle-delayed-ack"},
		"two writes, a round trip more":       {quick(func(e *exchanges) { nagle(e); e.times, e.gather = times(10, .0206), .0101 }), "nagle-delayed-ack"},
		"two writes, as slow without Nagle":   {quick(func(e *exchanges) { nagle(e); e.undelayed = .063 }), ""},
		"two writes, which came together":     {quick(func(e *exchanges) { nagle(e); e.gather = .001 }), ""},
		"two writes, not tried without Nagle": {quick(func(e *exchanges) { nagle(e); e.undelayed = 0 }), ""},
		"many writes":                         {quick(dribble), "small-writes"},
		"many writes, as slow in one":         {quick(func(e *exchanges) { dribble(e); e.whole = .032 }), ""},
		"turns":                               {quick(func(e *exchanges) { e.told, e.times = map[string]any{"turns": 12.0}, times(10, .125) }), "chatty-application"},
		"turns that nobody feels":             {quick(func(e *exchanges) { e.told, e.times = map[string]any{"turns": 5.0}, times(10, .052) }), ""},
		"turns that are a small part":         {quick(func(e *exchanges) { e.told, e.times = map[string]any{"turns": 5.0}, times(10, .4) }), ""},
		"a packet lost":                       {quick(func(e *exchanges) { e.times[3], e.resent = .214, 1 }), "transaction-loss"},
		"a SYN lost":                          {quick(func(e *exchanges) { e.new[5], e.connects, e.resent = 1.02, slices.Clone(lateSYN[:10]), 1 }), "transaction-loss"},
		"late, and nothing sent again":        {quick(func(e *exchanges) { e.times[3] = .214 }), ""},
		"a long answer that lost a packet": {quick(func(e *exchanges) {
			e.told, e.times[3], e.resent, e.firstByte = map[string]any{"response": 1e6}, .3, 1, .0103
		}), ""},
		"a service without room":                   {quick(func(e *exchanges) { e.service = lateSYN }), "accept-queue-full"},
		"a service that answers no more":           {quick(func(e *exchanges) { e.service = []float64{.01, .01, noAnswer, noAnswer} }), "accept-queue-full"},
		"a service that is not there":              {quick(func(e *exchanges) { e.service = []float64{noAnswer, noAnswer} }), ""},
		"a service that refuses":                   {quick(func(e *exchanges) { e.service = []float64{.01, .01, refused, refused} }), ""},
		"a service that lost one":                  {quick(func(e *exchanges) { e.service = times(10, .01); e.service[4] = 1.02 }), ""},
		"a service on a path that loses":           {quick(func(e *exchanges) { e.service, e.lostPings = lateSYN, 1 }), ""},
		"a service on a path that loses SYNs":      {quick(func(e *exchanges) { e.service, e.connects = lateSYN, lateSYN }), ""},
		"forgotten":                                {quick(func(e *exchanges) { e.lostSilent, e.idle = true, []float64{.01, -1, .01} }), "firewall-forgets"},
		"forgotten in a transfer that ended early": {quick(func(e *exchanges) { e.lostSilent, e.early, e.idle = true, true, []float64{.01, -1, .01} }), "firewall-forgets"},
		"idle, and alive":                          {quick(func(e *exchanges) { e.lostSilent, e.idle = true, times(3, .01) }), ""},
		"idle, and the path went down":             {quick(func(e *exchanges) { e.lostSilent, e.idle = true, []float64{.01, -1, -1} }), ""},
		"failing without a pause, too":             {quick(func(e *exchanges) { e.times[2], e.idle = -1, []float64{.01, -1, .01} }), ""},
		"held":                                     {quick(func(e *exchanges) { e.times, e.new = times(3, 1.51), times(3, 1.52) }), "proxy-holds-answer"},
		"held, all but one":                        {quick(func(e *exchanges) { e.times = []float64{.0103, 1.51, 1.51} }), ""},
		"the far end waits for the request":        {quick(func(e *exchanges) { e.times, e.gather = times(3, 1.51), 1.4 }), ""},
		"a long answer":                            {quick(func(e *exchanges) { e.times, e.firstByte = times(3, 1.51), .0103 }), ""},
	} {
		d := Diagnose(c.of.results())
		checkFindings(t, d)
		got := ""
		for _, f := range d.Findings {
			if ofExchange := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == f.ID && r.Of == OfExchange }); ofExchange >= 0 {
				got += f.ID
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What was asked of a program comes before what transfers suffer, and behind it where nobody asked.
func TestTransactionsThatWereAskedComeFirst(t *testing.T) {
	lost := quick(func(e *exchanges) { e.times[3], e.resent = .214, 1 })
	window := with(smallWindow).results()
	for _, r := range window {
		r.Started = testStart.Add(time.Minute)
	}
	if d := Diagnose(append(lost.results(), window...)); d.Verdict != "receive-window-limited" || !gives(d, "transaction-loss") {
		t.Errorf("nobody asked: verdict %s of %+v", d.Verdict, d.Findings)
	}
	lost.told = map[string]any{"request": 100.0}
	if d := Diagnose(append(lost.results(), window...)); d.Verdict != "transaction-loss" || !gives(d, "receive-window-limited") {
		t.Errorf("asked: verdict %s of %+v", d.Verdict, d.Findings)
	}
}

// The steps of transactions come before those that move much, with what was told; and what tells causes apart is asked for.
func TestPlanOfTransactions(t *testing.T) {
	program := Program{Pattern: map[string]any{"request": "202", "writes": "2"}, Service: 8080}
	plan := WithTransactions(Plan(time.Second, measure.Forward), program)
	if diff := cmp.Diff([]string{"ping", "trace", "transactions", "connections", "service", "capacity", "transfer"}, names(plan)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	want := map[string]any{"request": "202", "response": 65.0, "writes": "2", "turns": 1.0, "nodelay": false, "new": true,
		"count": exchangeCount, "interval": exchangeInterval, "timeout": exchangePatience}
	if diff := cmp.Diff(want, plan[3].Parameters); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for want, of := range map[string]exchanges{
		"":          quick(func(*exchanges) {}),
		"undelayed": quick(func(e *exchanges) { e.told, e.times, e.gather = inPieces, times(10, .064), .05 }),
		"whole": quick(func(e *exchanges) {
			e.told, e.new = map[string]any{"writes": 50.0, "request": 5000.0, "nodelay": true}, times(10, .033)
		}),
		"idle": quick(func(e *exchanges) { e.lostSilent = true }),
	} {
		longer := extend(plan, len(plan), of.results())
		got := ""
		if len(longer) > len(plan) {
			got = longer[len(plan)].Name
		}
		if got != want {
			t.Errorf("asked for %q, want %q", got, want)
		}
	}
	bare := Plan(time.Second, measure.Forward)
	if got := extend(bare, 0, quick(func(e *exchanges) { e.lostSilent = true }).results()); len(got) > len(bare) {
		t.Errorf("a plan without transactions is made longer: %v", names(got))
	}
}

// Tests that could not be made tell nothing, not even that transactions were tried.
func TestTransactionsThatFailed(t *testing.T) {
	r := measure.NewResult("transact", testStart)
	if g := gather([]*measure.Result{r}); g.exchange != nil {
		t.Errorf("%+v", g.exchange)
	}
}

// Where all transactions come to their end and the far end's account of them does not, the connection that was silent meanwhile is lost, and a pause shows
// whether others are, too.
func TestLostAccount(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*measure.Result)
		want   float64
	}{
		{"the account came", func(r *measure.Result) { r.Metrics[measure.AnswerTime] = 50e-6 }, 0},
		{"it did not", func(*measure.Result) {}, 1.1},
		{"one failed", func(r *measure.Result) { r.Metrics[measure.TransactionsFailed] = 1 }, 0},
		{"a service has none", func(r *measure.Result) { r.Parameters["connect"] = true }, 0},
	} {
		r := measure.NewResult("transact", testStart)
		took := 0.1
		r.Samples.Transactions = []measure.Transaction{{Seq: 1, Seconds: &took}, {Seq: 2, StartSeconds: 1, Seconds: &took}}
		r.Metrics[measure.TransactionsDone], r.Metrics[measure.TransactionsFailed] = 2, 0
		c.change(r)
		if got := lostAccount(r); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		g := gather([]*measure.Result{r})
		asked, ok := ask([]Rule{firewallForgets}, g.exchange, nil)
		if ok != (c.want > 0) || ok && (asked.Name != "idle" || asked.Parameters["interval"] != 2.0) {
			t.Errorf("%s: asks for %+v", c.name, asked)
		}
	}
}
