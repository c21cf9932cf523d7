package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/pathwise-net/pathwise/document"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/host"
	"github.com/pathwise-net/pathwise/input"
	"github.com/pathwise-net/pathwise/sock"
)

// mostReport is more than an audit of any machine prints.
const mostReport = 8 << 20

// auditByReach audits a machine that is reached by SSH: this binary runs there once, and is taken away again.
func (s *session) auditByReach(ctx context.Context, call *hostCall, name string) (*host.Report, error) {
	reach, err := call.login(name)
	if err != nil {
		return nil, err
	}
	reach.Log = s.log()
	stop := s.ticking("reading " + name)
	defer stop()
	out := &limited{most: mostReport}
	status, says, err := reach.Run(ctx, out, call.arguments()...)
	switch {
	case err != nil:
		return nil, err
	case status != exitDone:
		return nil, fmt.Errorf("host on %s: exit status %d: %s", name, status, strings.TrimPrefix(says, "pathwise: "))
	}
	var r host.Report
	if err := document.JSON(out.Bytes(), mostReport, &r); err != nil {
		return nil, fmt.Errorf("read what host on %s printed: %w", name, err)
	}
	return &r, nil
}

// login reads [USER@]HOST[:PORT].
func (call *hostCall) login(name string) (*fleet.SSH, error) {
	user, at, has := strings.Cut(name, "@")
	if !has {
		user, at = "", name
	}
	target, port, err := sock.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	if has && user == "" || strings.HasPrefix(at, "-") {
		return nil, input.Errorf("%q: want a machine such as dtn1, alice@dtn1 or alice@dtn1:2222", name)
	}
	const ssh = 22
	if port == 0 {
		port = ssh
	}
	reach := &fleet.SSH{Host: target, Address: net.JoinHostPort(target, strconv.Itoa(port)), User: user, Binaries: map[string]string{}}
	if self, err := os.Executable(); err == nil {
		reach.Binaries[runtime.GOOS+"/"+runtime.GOARCH] = self
	}
	logIn(reach, call.key, call.knownHosts)
	return reach, nil
}

// arguments are those of the same audit on the machine itself.
func (call *hostCall) arguments() []string {
	all := []string{"host", "--json"}
	for _, one := range []struct{ flag, value string }{{"rate", call.rate}, {"rtt", call.rtt}, {"to", call.to}, {"disk", call.disk},
		{"only", strings.Join(call.only, ",")}} {
		if one.value != "" {
			all = append(all, "--"+one.flag+"="+one.value)
		}
	}
	switch {
	case call.over.four:
		all = append(all, "-4")
	case call.over.six:
		all = append(all, "-6")
	}
	return all
}

// limited keeps what is written to it, up to a length.
type limited struct {
	bytes.Buffer
	most int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.most {
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}
