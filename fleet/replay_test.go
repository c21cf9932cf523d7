package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/pathwise-net/pathwise/measure"
)

// builds are the commits whose messages are kept in testdata, each with the keys of its mesh: what the agent of host a sent in
// half a minute, from-agent, and what it got, to-agent.
var builds = []string{"a009c21", "b8fbf7d", "219ed0d"}

// lackOfTCP is what each is taken not to understand of a ping by TCP. The last one told its parameters, not yet their values.
var lackOfTCP = map[string]string{"a009c21": "value tcp of parameter proto of ping", "b8fbf7d": "value tcp of parameter proto of ping"}

// recorded is one message of an earlier build, as it was on the wire.
type recorded struct {
	Subject string      `json:"subject"`
	Reply   string      `json:"reply"`
	Header  nats.Header `json:"header"`
	Data    []byte      `json:"data"`
}

func (r *recorded) message() *nats.Msg {
	return &nats.Msg{Subject: r.Subject, Reply: r.Reply, Header: r.Header, Data: r.Data}
}

// record reads the messages of a file.
func record(t *testing.T, build, name string) (all []recorded) {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", build, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// oldMesh is the server of this build with the keys of an earlier one, and the credentials of its host a.
func oldMesh(t *testing.T, build string) (*Keyring, *Server, *Credentials) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "keys")
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", build, "keys"))); err != nil {
		t.Fatal(err)
	}
	k, err := OpenKeyring(folder)
	if err != nil {
		t.Fatal(err)
	}
	agents, err := k.Agents()
	if err != nil {
		t.Fatal(err)
	}
	s, err := StartServer(t.Context(), ServerConfig{Keys: k, Agents: agents, Listen: "127.0.0.1:0", Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	text, err := os.ReadFile(filepath.Join("testdata", build, "a.credentials"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCredentials(text)
	if err != nil {
		t.Fatal(err)
	}
	c.Reach = k.Embedded(s.Addr().String())
	return k, s, c
}

// recordedPlan is the plan that an agent got, as JSON.
func recordedPlan(t *testing.T, build string, c *Credentials) []byte {
	t.Helper()
	for _, r := range record(t, build, "to-agent") {
		if strings.HasPrefix(r.Subject, subjectPlan) {
			return planText(t, c, r.Data)
		}
	}
	t.Fatal("no plan was recorded")
	return nil
}

// planText opens a plan as an agent does.
func planText(t *testing.T, c *Credentials, data []byte) []byte {
	t.Helper()
	o, err := newOpener(c)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPacker()
	if err != nil {
		t.Fatal(err)
	}
	body, err := o.open(kindPlan, data)
	if err == nil {
		body, err = p.decompress(body, maxPlan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// An agent of an earlier build, as its messages are, is heard by this controller, has its Results filed and acknowledged, and
// gets a plan that says what its own controller's did, byte for byte. What it asks of JetStream, which is no more, ends nothing.
func TestReplayOlderAgent(t *testing.T) {
	for _, build := range builds {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			k, s, c := oldMesh(t, build)
			m := &mesh{keys: k, archive: newTestArchive()}
			m.serve(t, HubConfig{Keys: k, Server: s, Log: testLog(t)})
			nc, _ := stolen(t, c)
			got := make(chan *nats.Msg, 100)
			for _, subject := range []string{subjectPlan + "a", subjectOrder + "a", subjectFiled + "a", inbox + "a.>"} {
				if _, err := nc.ChanSubscribe(subject, got); err != nil {
					t.Fatal(err)
				}
			}
			var last Status
			deliveries := 0
			for _, r := range record(t, build, "from-agent") {
				if strings.HasPrefix(r.Subject, subjectStatus) {
					if err := json.Unmarshal(r.Data, &last); err != nil {
						t.Fatal(err)
					}
				}
				if strings.HasPrefix(r.Subject, subjectResult) {
					deliveries++
				}
				if err := nc.PublishMsg(r.message()); err != nil {
					t.Fatal(err)
				}
			}
			text := recordedPlan(t, build, c)
			var p Plan
			if err := json.Unmarshal(text, &p); err != nil {
				t.Fatal(err)
			}
			m.archive.until(t, "its last status is heard", func() bool { return m.archive.status["a"].At.Equal(last.At) })
			if err := m.hub.Plan(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			planned, filed := m.answers(t, c, got, deliveries)
			m.archive.mu.Lock()
			defer m.archive.mu.Unlock()
			if planned != string(text) {
				t.Errorf("it gets the plan %s\nwant %s", planned, text)
			}
			if diff := cmp.Diff(last, m.archive.status["a"]); diff != "" {
				t.Errorf("heard (-want +got):\n%s", diff)
			}
			heard, connects := m.archive.status["a"], measure.Task{Kind: "ping", Parameters: map[string]any{"proto": "tcp"}}
			if got := heard.Abilities().NotUnderstood(connects); got != lackOfTCP[build] || (heard.Can == nil) != (got != "") {
				t.Errorf("it is taken not to know %q of a ping by TCP, want %q", got, lackOfTCP[build])
			}
			for id, r := range m.archive.results {
				if !filed[id] || r.Schema != measure.ResultSchema || r.Source.Name != "a" || m.hub.Poison() != 0 {
					t.Errorf("%s: acknowledged %v, schema %s, of %s; %d messages refused", id, filed[id], r.Schema, r.Source.Name, m.hub.Poison())
				}
			}
		})
	}
}

// answers collects what an agent gets until each delivery is acknowledged, each Result filed, and its plan is there.
func (m *mesh) answers(t *testing.T, c *Credentials, got chan *nats.Msg, deliveries int) (planned string, filed map[string]bool) {
	t.Helper()
	acknowledged := 0
	filed = map[string]bool{}
	for ctx := within(t); acknowledged < deliveries || planned == "" || len(filed) < m.archive.count() || len(filed) == 0; {
		select {
		case msg := <-got:
			switch {
			case strings.HasPrefix(msg.Subject, subjectPlan):
				planned = string(planText(t, c, msg.Data))
			case strings.HasPrefix(msg.Subject, subjectFiled):
				for _, id := range filedIDs(t, c, msg.Data) {
					filed[id] = true
				}
			case strings.HasPrefix(string(msg.Data), `{"stream":"RESULTS"`): // as JetStream has it
				acknowledged++
			}
		case <-ctx.Done():
			t.Fatalf("%d of %d deliveries acknowledged, %d of %d filed, plan %q", acknowledged, deliveries, len(filed), m.archive.count(), planned)
		}
	}
	return planned, filed
}

// filedIDs opens an acknowledgement as an agent does.
func filedIDs(t *testing.T, c *Credentials, data []byte) (ids []string) {
	t.Helper()
	l, err := NewLink(LinkConfig{Credentials: c})
	if err == nil {
		err = l.unseal(kindFiled, data, &ids)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// obedient is a Handler that notes what it is told.
type obedient struct {
	plans chan Plan
	filed chan []string
}

func (o obedient) Plan(_ context.Context, p Plan) error        { o.plans <- p; return nil }
func (o obedient) Order(context.Context, Order) error          { return nil }
func (o obedient) Filed(_ context.Context, ids []string) error { o.filed <- ids; return nil }

// An agent of this build takes the plan and the acknowledgements of a controller of an earlier one, as its messages are, sees
// that its order is not fresh, and delivers to what answers as that controller's server did.
func TestReplayOlderController(t *testing.T) {
	for _, build := range builds {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			k, s, c := oldMesh(t, build)
			nc, err := nats.Connect(noServer, nats.SetCustomDialer(dialer{t.Context(), s.Dial}), nats.SkipHostLookup(),
				withKey(k.login, k.public.Login), nats.CustomInboxPrefix(inboxController))
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			messages := record(t, build, "to-agent")
			taken := slices.IndexFunc(messages, func(r recorded) bool { return strings.Contains(string(r.Data), `"RESULTS"`) })
			here := make(chan string, 10) // the subjects of what the agent sends
			for _, subject := range []string{subjectResult + "*", subjectStatus + "*"} {
				if _, err := nc.Subscribe(subject, func(m *nats.Msg) {
					if m.Reply != "" {
						_ = nc.Publish(m.Reply, messages[taken].Data)
					}
					here <- m.Subject
				}); err != nil {
					t.Fatal(err)
				}
			}
			l, err := NewLink(LinkConfig{Credentials: c, Log: testLog(t)})
			if err != nil {
				t.Fatal(err)
			}
			h := obedient{make(chan Plan, 10), make(chan []string, 10)}
			ctx, cancel := context.WithCancel(within(t))
			served := make(chan error, 1)
			go func() { served <- l.Serve(ctx, h) }()
			defer func() { cancel(); <-served }()
			waitFor(t, "it is connected", func() bool { return l.Report(ctx, Status{Host: "a"}) == nil })
			<-here
			asked := 0
			for _, r := range messages {
				switch {
				case strings.HasPrefix(r.Subject, subjectOrder):
					reply, err := nc.Request(r.Subject, r.Data, patience)
					var a orderAnswer
					if err != nil || json.Unmarshal(reply.Data, &a) != nil || a.Nonce == "" || a.Error != "" {
						t.Errorf("an order of another day: %+v, %v", a, err)
					}
				case strings.HasPrefix(r.Subject, subjectFiled):
					asked++
					fallthrough
				case strings.HasPrefix(r.Subject, subjectPlan):
					if err := nc.PublishMsg(&nats.Msg{Subject: r.Subject, Header: r.Header, Data: r.Data}); err != nil {
						t.Fatal(err)
					}
				}
			}
			var want Plan
			if err := json.Unmarshal(recordedPlan(t, build, c), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, <-h.plans); diff != "" || len(want.Runs) != 1 || len(want.Opens) != 1 {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			for range asked {
				if ids := <-h.filed; len(ids) == 0 {
					t.Error("an acknowledgement of nothing")
				}
			}
			if err := l.Deliver(ctx, results(testResult("a", testRun("a", "01M82MP23AE33XKW32V0APBSBC", 1)))); err != nil || l.Refused() != 0 {
				t.Errorf("deliver: %v; %d messages refused", err, l.Refused())
			}
		})
	}
}
