package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// stolen is a connection by somebody who has a host's credentials and a NATS client of his own.
func stolen(t *testing.T, c *Credentials) (*nats.Conn, chan error) {
	t.Helper()
	var public string
	user, err := fromSeed(nkeys.PrefixByteUser, c.Login, &public)
	if err != nil {
		t.Fatal(err)
	}
	tls, err := c.tlsConfig()
	if err != nil {
		t.Fatal(err)
	}
	violations := make(chan error, 1000)
	nc, err := nats.Connect(urls(c.Reach), withKey(user, public), nats.Secure(tls), nats.CustomInboxPrefix(inbox+token(c.Host)),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { violations <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc, violations
}

// denied says whether the server refused what was just sent, by what it says of it.
func denied(t *testing.T, nc *nats.Conn, violations chan error) bool {
	t.Helper()
	// The server answers in order: after the flush, a violation is here or will never come.
	if err := nc.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	last := nc.LastError()
	if last == nil || !errors.Is(last, nats.ErrPermissionViolation) {
		return false
	}
	select {
	case <-violations:
		return true
	case <-time.After(patience):
		t.Fatal("a violation without a message")
		return false
	}
}

func TestStolenKeySpeaksOnlyAsItself(t *testing.T) {
	m := embedded(t, "127.0.0.1:0", nil)
	s, credentials := testServer(t, m.keys, "127.0.0.1:0", []string{"ucl", "ral"})
	m.serve(t, HubConfig{Keys: m.keys, Server: s, Log: testLog(t)})
	m.plan(t, "ral", 1)

	publish := func(nc *nats.Conn, subject string) error { return nc.Publish(subject, []byte("x")) }
	subscribe := func(nc *nats.Conn, subject string) error { _, err := nc.SubscribeSync(subject); return err }
	for _, c := range []struct {
		do      func(*nats.Conn, string) error
		may     bool
		subject string
	}{
		{publish, true, "pathwise.status.ucl"},
		{publish, true, "pathwise.live.ucl.run"},
		{publish, true, "pathwise.result.ucl"},
		{publish, true, "pathwise.ask.ucl"},
		{subscribe, true, "pathwise.plan.ucl"},
		{subscribe, true, "pathwise.order.ucl"},
		{subscribe, true, "pathwise.filed.ucl"},
		{subscribe, true, "_INBOX.ucl.x"},

		{publish, false, "pathwise.status.ral"},
		{publish, false, "pathwise.live.ral.run"},
		{publish, false, "pathwise.result.ral"},
		{publish, false, "pathwise.plan.ucl"},
		{publish, false, "pathwise.plan.ral"},
		{publish, false, "pathwise.order.ral"},
		{publish, false, "pathwise.order.ucl"},
		{publish, false, "pathwise.filed.ucl"},
		{publish, false, "_INBOX_CONTROLLER.x"},
		{publish, false, "_INBOX.ral.x"},
		{publish, false, "$JS.API.INFO"},
		{publish, false, "$JS.API.STREAM.NAMES"},
		{publish, false, "$JS.API.STREAM.DELETE.RESULTS"},
		{publish, false, "$JS.API.STREAM.PURGE.PLANS"},
		{publish, false, "$JS.API.STREAM.MSG.GET.RESULTS"},
		{publish, false, "pathwise.ask.ral"},
		{publish, false, "$JS.API.DIRECT.GET.PLANS"},
		{publish, false, "$JS.API.DIRECT.GET.PLANS.pathwise.plan.ucl"},
		{publish, false, "$JS.API.DIRECT.GET.PLANS.pathwise.plan.ral"},
		{publish, false, "$JS.API.DIRECT.GET.RESULTS.pathwise.result.ral"},
		{publish, false, "$JS.API.CONSUMER.CREATE.PLANS"},
		{publish, false, "$JS.API.CONSUMER.MSG.NEXT.RESULTS.archive"},
		{publish, false, "$JS.ACK.RESULTS.archive.1.1.1.1.1"},
		{publish, false, "$SYS.REQ.SERVER.PING"},
		{subscribe, false, ">"},
		{subscribe, false, "pathwise.>"},
		{subscribe, false, "pathwise.plan.*"},
		{subscribe, false, "pathwise.order.ral"},
		{subscribe, false, "pathwise.filed.ral"},
		{subscribe, false, "pathwise.status.*"},
		{subscribe, false, "pathwise.live.>"},
		{subscribe, false, "pathwise.result.*"},
		{subscribe, false, "pathwise.ask.*"},
		{subscribe, false, "_INBOX.>"},
		{subscribe, false, "_INBOX.ral.>"},
		{subscribe, false, "_INBOX_CONTROLLER.>"},
		{subscribe, false, "$SYS.>"},
	} {
		nc, violations := stolen(t, credentials["ucl"]) // a new one each: errors stick to a connection
		if err := c.do(nc, c.subject); err != nil {
			t.Fatal(err)
		}
		if got := !denied(t, nc, violations); got != c.may {
			t.Errorf("a stolen key may use %s: %v, want %v", c.subject, got, c.may)
		}
		nc.Close()
	}
}
