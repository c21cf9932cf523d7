package probe

import (
	"context"
	"encoding/hex"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/endpoint"
	"github.com/pathwise-net/pathwise/proto/twamp"
)

// tcpServer has a server answer on loopback until the end of the test, or until it is ended.
func tcpServer(t *testing.T, server interface {
	Serve(context.Context, net.Listener) error
}) (port int, end func()) {
	t.Helper()
	listener, err := endpoint.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().(*net.TCPAddr).Port, stop
}

func twampServer(t *testing.T, keys endpoint.Keys) (port int, end func()) {
	t.Helper()
	return tcpServer(t, &twamp.Server{Policy: endpoint.Policy{Keys: keys}})
}

// keyFile writes a file of keys.
func keyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each mode of TWAMP measures both ways, with packets of any size that it takes, and the Result says which mode it was.
func TestOWDByTWAMP(t *testing.T) {
	phrase := "a pass phrase of some length"
	port, _ := twampServer(t, endpoint.Keys{"ann": []byte(phrase)})
	open, _ := twampServer(t, nil)
	keys := keyFile(t, "ann "+hex.EncodeToString([]byte(phrase))+"\n")
	for name, c := range map[string]struct {
		OWD
		want string
	}{
		"open":            {OWD{Port: open}, "O"},
		"open, asked for": {OWD{Port: open, Mode: "O", Size: 1000}, "O"},
		"authenticated":   {OWD{Port: port, Mode: "A", KeyFile: keys}, "A"},
		"encrypted":       {OWD{Port: port, Mode: "E", KeyFile: keys, KeyID: "ann", Size: 300, DSCP: 10}, "E"},
		"mixed":           {OWD{Port: port, Mode: "M", KeyFile: keys, Size: 41}, "M"},
		"the server's":    {OWD{Port: port, KeyFile: keys}, "E"},
		"a run's secret":  {OWD{Port: port, secret: phrase}, ""}, // the server does not know its ID
	} {
		p := c.OWD
		p.Target, p.Proto, p.Count, p.Interval, p.Timeout = "127.0.0.1", protoTWAMP, 20, time.Millisecond, time.Second
		r, err := p.Do(t.Context())
		if c.want == "" {
			if err == nil {
				t.Errorf("%s: it was let in", name)
			}
			continue
		}
		received, _ := r.Get(measure.ReceivedPackets)
		_, forward := r.Get(measure.OneWay(measure.Forward, "median"))
		lost, known := r.Get(measure.LostOn(measure.Reverse))
		if err != nil || received != 20 || !forward || !known || lost != 0 || r.Parameters["mode"] != c.want || r.Metrics[measure.HopCount] > 1 {
			t.Errorf("%s: %v received, lost %v (known %v), in mode %v, %v", name, received, lost, known, r.Parameters["mode"], err)
		}
	}
}

// A server that goes away ends the measurement, and says so; what came before is kept.
func TestOWDServerGone(t *testing.T) {
	port, end := twampServer(t, nil)
	p := OWD{Target: "127.0.0.1", Proto: protoTWAMP, Port: port, Count: 10_000, Interval: 10 * time.Millisecond}
	p.Progress = func(measure.Echo) { end() }
	r, err := p.Do(t.Context())
	if received, _ := r.Get(measure.ReceivedPackets); err == nil || !strings.Contains(err.Error(), errServerGone.Error()) || received < 1 {
		t.Errorf("%v received, %v", received, err)
	}
}

// Authenticated packets of STAMP are right by a strict reflector, with padding and without; with another key nothing comes back.
func TestOWDAuthenticated(t *testing.T) {
	key := strings.Repeat("0f", 16)
	octets, _ := hex.DecodeString(key)
	for size, file := range map[int]string{0: key, 200: key, 112: strings.Repeat("1f", 16)} {
		port, seen := strictReflector(t, octets)
		r, err := OWD{Target: "127.0.0.1", Port: port, Count: 5, Interval: time.Millisecond, Size: size, Timeout: 100 * time.Millisecond,
			KeyFile: keyFile(t, file)}.Do(t.Context())
		received, _ := r.Get(measure.ReceivedPackets)
		_, violation := seen()
		if right := file == key; err != nil || (received == 5) != right || (violation == nil) != right || r.Parameters["mode"] != "A" {
			t.Errorf("%d bytes, the right key %v: %v received, %v; the reflector says %v", size, right, received, err, violation)
		}
	}
}

func TestOWDModes(t *testing.T) {
	for want, p := range map[string]OWD{
		"mode: E":         {Mode: "E"},
		"mode: A":         {Mode: "A"},
		"key-file: f":     {Mode: "O", KeyFile: "f"},
		"key-id: ann":     {KeyFile: "f", KeyID: "ann"},
		"size: 44":        {KeyFile: "f", Size: 44},
		"size: 113":       {KeyFile: "f", Size: 113},
		"size: 100":       {Proto: protoTWAMP, Mode: "A", KeyFile: "f", Size: 100},
		"proto: sundial":  {Proto: "sundial"},
		"size: 40":        {Proto: protoTWAMP, Size: 40},
		"mode: mixed":     {Proto: protoTWAMP, Mode: "mixed"},
		"key-id: of none": {Proto: protoTWAMP, KeyID: "of none"},
	} {
		p.Target = "a"
		field, value, _ := strings.Cut(want, ": ")
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), field) || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, p := range []OWD{{Proto: protoTWAMP, Mode: "A"}, {Proto: protoTWAMP, Size: 42}} { // the key may be that of a run
		p.Target = "a"
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
	}
	p := OWD{Target: "127.0.0.1", Proto: protoTWAMP, KeyFile: keyFile(t, "ann 70617373\nbob 70617373\n"), Count: 1}
	if _, err := p.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "one of the 2 keys") {
		t.Errorf("a key of two: %v", err)
	}
}
