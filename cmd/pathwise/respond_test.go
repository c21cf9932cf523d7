package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/respond"
)

// twoKinds is a table in which the first kind comes again, under another name.
func twoKinds() []respond.Kind {
	again := respond.Kinds()[0]
	again.Name, again.Meaning, again.Port = "again", "the same tests again", 5202
	return slices.Insert(respond.Kinds(), 1, again)
}

// freePorts are so many that nobody has now.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

// responding runs `pathwise respond` of twoKinds, and returns what read its output once it answers.
func responding[T any](t *testing.T, asJSON bool, read func(io.Reader) T, args ...string) T {
	t.Helper()
	out, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	c := respondWith(&session{json: asJSON, out: writer, err: io.Discard}, twoKinds())
	c.SetArgs(args)
	c.SilenceUsage, c.SilenceErrors = true, true
	ended := make(chan error, 1)
	go func() {
		err := c.ExecuteContext(ctx)
		writer.CloseWithError(err)
		ended <- err
	}()
	got := read(out)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return got
}

// Each kind has a flag of its own, made of the table; the first is opened whatever the call says, and says so as ever. One that is
// always opened can be left out, and is where another program has its port and nobody asked for it.
func TestRespondOpensKinds(t *testing.T) {
	ports := freePorts(t, 2)
	one, other := fmt.Sprint("127.0.0.1:", ports[0]), fmt.Sprint("127.0.0.1:", ports[1])
	alone := []string{"--bind", one, "--transact-port", "0", "--flows-port", "0", "--ndt7-port", "0", "--owamp-port", "0", "--twamp-port", "0", "--stamp-port", "0"}
	both, always := append(alone[:14:14], "--again-port", fmt.Sprint(ports[1])), []string{"--bind", one, "--flows-port", "0", "--ndt7-port", "0", "--owamp-port", "0", "--twamp-port", "0", "--stamp-port", "0", "--transact-port", fmt.Sprint(ports[1])}
	lines := func(n int) func(io.Reader) []string {
		return func(r io.Reader) (all []string) {
			for b := bufio.NewReader(r); len(all) < n; {
				line, err := b.ReadString('\n')
				if err != nil {
					t.Error(err)
					break
				}
				all = append(all, strings.TrimSpace(line))
			}
			return all
		}
	}
	document := func(r io.Reader) (doc map[string]any) {
		if err := json.NewDecoder(r).Decode(&doc); err != nil {
			t.Error(err)
		}
		return doc
	}
	for _, c := range []struct{ what, got, want any }{
		{"one", responding(t, false, lines(1), alone...), []string{"answering on " + one}},
		{"two", responding(t, false, lines(2), both...), []string{"answering on " + one, "answering again on " + other}},
		{"one that is always opened", responding(t, false, lines(2), always...), []string{"answering on " + one, "answering transact on " + other}},
		{"one in JSON", responding(t, true, document, alone...), map[string]any{"schema": "pathwise.respond/1", "address": one}},
		{"two in JSON", responding(t, true, document, both...),
			map[string]any{"schema": "pathwise.respond/1", "address": one, "others": map[string]any{"again": other}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

// With --any-port what no port is named for answers on one that is free.
func TestRespondOnAnyPort(t *testing.T) {
	named := freePorts(t, 1)[0]
	type answer struct {
		Address string
		Others  map[string]string
	}
	got := responding(t, true, func(r io.Reader) (doc answer) {
		if err := json.NewDecoder(r).Decode(&doc); err != nil {
			t.Error(err)
		}
		return doc
	}, "--bind", "127.0.0.1", "--any-port", "--again-port", fmt.Sprint(named))
	ports := []int{portOf(got.Address), portOf(got.Others["transact"]), portOf(got.Others["again"])}
	if ports[0] == 0 || ports[0] == 5201 || ports[1] == 0 || ports[1] == 5213 || ports[0] == ports[1] || ports[2] != named || len(got.Others) != 7 ||
		portOf(got.Others["owamp"]) == 861 || portOf(got.Others["stamp"]) == 862 {
		t.Errorf("answering on %+v", got)
	}
}

// A responder that ends with its input ends when that does, and when nothing comes through it any more; what comes keeps it alive.
func TestRespondEndsWithInput(t *testing.T) {
	read, write := io.Pipe()
	s := &session{in: read}
	ended := s.whileInput(t.Context(), time.Hour)
	if _, err := write.Write([]byte("\n")); err != nil || ended.Err() != nil {
		t.Errorf("after a line: %v, %v", err, ended.Err())
	}
	write.Close()
	<-ended.Done()
	silent, kept := io.Pipe()
	defer kept.Close()
	<-(&session{in: silent}).whileInput(t.Context(), time.Millisecond).Done()
}

// What cannot be opened is said with the flag that mends it, and leaves nothing open.
func TestRespondRefuses(t *testing.T) {
	ports := freePorts(t, 1)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	one := fmt.Sprint("127.0.0.1:", ports[0])
	for want, port := range map[string]int{
		"--again-port: \"0\": want 1 to 65535": 0,
		"listen: listen at " + taken.Addr().String() + ": another program is there; choose another port": taken.Addr().(*net.TCPAddr).Port,
	} {
		c := respondWith(&session{out: io.Discard, err: io.Discard}, twoKinds())
		c.SetArgs([]string{"--bind", one, "--again-port", fmt.Sprint(port)})
		c.SilenceUsage, c.SilenceErrors = true, true
		err := c.ExecuteContext(t.Context())
		mends := port == 0 || err != nil && strings.HasSuffix(err.Error(), "or choose another with --again-port")
		if err == nil || !strings.HasPrefix(err.Error(), want) || !mends {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if l, err := net.Listen("tcp", one); err != nil {
			t.Errorf("what was open before is left: %v", err)
		} else {
			l.Close()
		}
	}
}

// A port that nobody asked for and another program has is left out, with a warning; one that a call names is not.
func TestRespondLeavesOutSpare(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	kinds := respond.Kinds()
	i := slices.IndexFunc(kinds, func(k respond.Kind) bool { return k.Always })
	kinds[i].Port = taken.Addr().(*net.TCPAddr).Port
	at := fmt.Sprint("127.0.0.1:", freePorts(t, 1)[0])
	out, writer := io.Pipe()
	var said bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	c := respondWith(&session{out: writer, err: &said}, kinds)
	c.SetArgs([]string{"--bind", at, "--ndt7-port", "0", "--owamp-port", "0", "--twamp-port", "0", "--stamp-port", "0"})
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	cancel()
	if served := <-ended; err != nil || served != nil || line != "answering on "+at+"\n" || !strings.Contains(said.String(), "--transact-port") {
		t.Errorf("%q, %v, %v; said %q", line, err, served, said.String())
	}
}

// What a file or a flag says of who may do what is read before anything is opened.
func TestRespondAccess(t *testing.T) {
	key := t.TempDir() + "/key"
	if err := os.WriteFile(key, []byte("30313233343536373839616263646566\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, clients := t.TempDir()+"/keys", t.TempDir()+"/clients.yaml"
	for file, text := range map[string]string{keys: "ann 7061\n", clients: "classes: [{keys: [ann], rate: 7}]\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := respond.Limits{}
	want := respond.Limits{Keys: endpoint.Keys{"ann": []byte("pa")},
		Classes: []endpoint.Class{{KeyIDs: []string{"ann"}, Limits: endpoint.Limits{Rate: 7}}}, STAMP: respond.STAMP{Key: []byte("0123456789abcdef"), Stateless: true, Marks: []int{10, 46}}}
	a := accessFlags{skew: "10s", keys: keys, clients: clients, stampKey: key, stateless: true, stampMarks: []int{10, 46}}
	if err := a.into(&got); err != nil || got.TraceBack == nil {
		t.Errorf("%v, traces back %t", err, got.TraceBack != nil)
	}
	got.TraceBack = nil // functions cannot be compared
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	a, got = accessFlags{skew: "10s", stampTLVs: key}, respond.Limits{}
	err := a.into(&got)
	got.TraceBack = nil
	if err != nil || !cmp.Equal(got, respond.Limits{STAMP: respond.STAMP{TLVKey: []byte("0123456789abcdef")}}) {
		t.Errorf("%+v, %v", got, err)
	}
	for flag, bad := range map[string]accessFlags{
		"--stamp-tlv-key": {stampKey: key, stampTLVs: key},
		"--stamp-key":     {stampKey: key + "-none"}, "--stamp-dscp": {stampMarks: []int{64}},
		"--tls-key": {tlsKey: key}, "--tls-certificate": {tlsFile: key, tlsKey: key}, "--ndt7-cc": {ndt7CC: "none"},
	} {
		bad.skew = "10s"
		if err := bad.into(&got); err == nil || !strings.HasPrefix(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
