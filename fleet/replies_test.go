package fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// administrative are subjects by which a NATS server, or somebody else than the agent of ucl, is told to do something.
func administrative() []string {
	return []string{
		"$JS.API.INFO", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.CREATE.X", "$JS.API.STREAM.UPDATE.RESULTS",
		"$JS.API.STREAM.DELETE.PLANS", "$JS.API.STREAM.DELETE.RESULTS", "$JS.API.STREAM.PURGE.RESULTS",
		"$JS.API.STREAM.MSG.DELETE.RESULTS", "$JS.API.STREAM.MSG.GET.PLANS", "$JS.API.STREAM.SNAPSHOT.PLANS",
		"$JS.API.STREAM.RESTORE.PLANS", "$JS.API.STREAM.LEADER.STEPDOWN.PLANS", "$JS.API.STREAM.PEER.REMOVE.PLANS",
		"$JS.API.CONSUMER.CREATE.RESULTS", "$JS.API.CONSUMER.DURABLE.CREATE.RESULTS.x", "$JS.API.CONSUMER.DELETE.RESULTS.archive",
		"$JS.API.CONSUMER.MSG.NEXT.RESULTS.archive", "$JS.API.CONSUMER.PAUSE.RESULTS.archive", "$JS.API.DIRECT.GET.PLANS",
		"$JS.API.META.LEADER.STEPDOWN", "$JS.API.ACCOUNT.PURGE.X", "$JS.ACK.RESULTS.archive.1.1.1.1.1", "$JS.FC.X",
		"$SYS.REQ.SERVER.PING", "$SYS.REQ.SERVER.x.RELOAD", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.USER.INFO",
		"pathwise.plan.ral", "pathwise.order.ral", "pathwise.order.ucl", "pathwise.filed.ral", "pathwise.result.ral",
		"pathwise.status.ral", "pathwise.ask.ral", "_INBOX.ral.x", "_INBOX_CONTROLLER.x",
	}
}

// observer sees every message of the account.
func observer(t *testing.T, s *Server) *nats.Subscription {
	t.Helper()
	seed, public, err := newSeed(nkeys.PrefixByteUser)
	if err != nil {
		t.Fatal(err)
	}
	user, err := fromSeed(nkeys.PrefixByteUser, seed, &public)
	if err != nil {
		t.Fatal(err)
	}
	opts := s.opts.Clone()
	opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: public})
	if err := s.nats.ReloadOptions(opts); err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(noServer, withKey(user, public), nats.SetCustomDialer(dialer{t.Context(), s.Dial}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync(">")
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// A request may name any subject for its answer, and the answer has the rights of who gives it. So nothing that an agent may
// publish, in whatever words, is answered to a subject that is not the agent's own.
func TestNoReplyIsAnOrder(t *testing.T) {
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral", "cern"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	m.plan(t, "ucl", 1)
	seen := observer(t, s)
	nc, _ := stolen(t, credentials["ucl"])
	cern, _ := stolen(t, credentials["cern"])
	all := 0
	for _, right := range AgentPermissions("ucl").Publish {
		for _, reply := range administrative() {
			for _, body := range []string{"", "{}", `{"host":"ucl"}`, `{"seq":1}`} {
				if err := nc.PublishRequest(one(right), reply, []byte(body)); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(reply, "$JS.ACK.") { // which the server itself refuses
					all++
				}
			}
		}
	}
	m.hasRead(t, nc, cern)
	if err := m.hub.nc.Publish(subjectFiled+"mark", nil); err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		msg, err := seen.NextMsg(patience)
		if err != nil {
			t.Fatalf("after %d of %d messages: %v", n, all, err)
		}
		switch {
		case msg.Subject == subjectFiled+"mark":
			if n != all {
				t.Errorf("%d messages of the agent seen, of %d", n, all)
			}
			return
		case slices.Contains(administrative(), msg.Reply):
			n++
		case slices.Contains(administrative(), msg.Subject):
			t.Errorf("an answer went to %s: %q %v", msg.Subject, msg.Data, msg.Header)
		}
	}
}

// one is a subject that a right allows.
func one(right string) string { return strings.ReplaceAll(right, ">", "x") }

// hasRead returns when the controller has read all that nc sent, each kind of which it reads in order. cern asks for its plan
// last, since ucl may have asked too often to get an answer.
func (m *mesh) hasRead(t *testing.T, nc, cern *nats.Conn) {
	t.Helper()
	const results, plan = inbox + "ucl.last", inbox + "cern.plan"
	var answers []*nats.Subscription
	for _, last := range []struct {
		from                   *nats.Conn
		subject, answer, words string
	}{{nc, subjectResult + "ucl", results, "none"}, {cern, subjectAsk + "cern", plan, ""}} {
		sub, err := last.from.SubscribeSync(last.answer)
		if err == nil {
			err = nc.FlushTimeout(patience) // what ucl has sent goes before what cern sends
		}
		if err == nil {
			err = last.from.PublishRequest(last.subject, last.answer, []byte(last.words))
		}
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, sub)
	}
	if err := nc.Publish(subjectStatus+"ucl", []byte(`{"host": "ucl", "plan": 77}`)); err != nil {
		t.Fatal(err)
	}
	for _, sub := range answers {
		if _, err := sub.NextMsg(patience); err != nil {
			t.Fatalf("%s: %v", sub.Subject, err)
		}
	}
	m.archive.until(t, "the last status is read", func() bool { return m.archive.status["ucl"].Plan == 77 })
}

// Who may answer what it hears may publish to whatever that names for the answer. Nothing that an agent hears, of what it can
// make anybody send, opens a subject to it that tells somebody to do something.
func TestNothingHeardOpensASubject(t *testing.T) {
	m := &mesh{keys: testKeyring(t), archive: newTestArchive()}
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	for _, right := range AgentPermissions("ucl").Subscribe {
		nc, violations := stolen(t, credentials["ucl"])
		own := one(right)
		heard, err := nc.SubscribeSync(own)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range AgentPermissions("ucl").Publish { // as near as it comes to writing to itself
			if err := nc.PublishRequest(one(r), own, nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
		if err := m.hub.nc.PublishRequest(own, inboxController+".y", nil); err != nil { // as an order comes
			t.Fatal(err)
		}
		for ordered := false; !ordered; {
			msg, err := heard.NextMsg(patience)
			if errors.Is(err, nats.ErrNoResponders) { // the server's own word to who asked
				continue
			}
			if err != nil {
				t.Fatalf("nothing came to %s: %v", own, err)
			}
			ordered = msg.Reply != ""
		}
		for _, subject := range administrative() {
			if err := nc.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
			if !denied(t, nc, violations) {
				t.Errorf("having heard %s, it may publish %s", own, subject)
			}
		}
		nc.Close()
	}
}
