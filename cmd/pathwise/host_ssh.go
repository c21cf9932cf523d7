package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
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

// checkReach refuses files for SSH that are not there, and those of a call that logs in nowhere.
func checkReach(key, knownHosts, wants string, remote bool) error {
	for _, one := range []struct{ flag, file string }{{"key", key}, {"known-hosts", knownHosts}} {
		if one.file == "" {
			continue
		}
		if _, err := os.Stat(one.file); err != nil {
			return badFlag(one.flag, err)
		}
		if !remote {
			return badFlag(one.flag, fmt.Errorf("%q: it is for %s; give that, too", one.file, wants))
		}
	}
	return nil
}

// auditByReach audits a machine that is reached by SSH: this binary runs there once, and is taken away again.
func (s *session) auditByReach(ctx context.Context, call *hostCall, name string) (*host.Report, error) {
	reach, err := login(name, call.key, call.knownHosts)
	if err != nil {
		return nil, err
	}
	reach.Log = s.log()
	stop := s.ticking("reading " + name)
	defer stop()
	return auditOf(name, func(out io.Writer) (int, string, error) { return reach.Run(ctx, out, call.arguments()...) })
}

// auditOf reads the audit that a call of this program on another machine prints.
func auditOf(name string, run func(out io.Writer) (status int, says string, err error)) (*host.Report, error) {
	out := &limited{most: mostReport}
	status, says, err := run(out)
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

// login reads [USER@]HOST[:PORT]. Files that are "" are as ssh has them.
func login(name, key, knownHosts string) (*fleet.SSH, error) {
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
	folder := "."
	if self, err := os.Executable(); err == nil {
		folder = filepath.Dir(self)
	}
	reach := &fleet.SSH{Host: target, Address: net.JoinHostPort(target, strconv.Itoa(port)), User: user,
		Binaries: binariesIn(folder), BinariesIn: folder}
	logIn(reach, key, knownHosts)
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
	if call.crypto {
		all = append(all, "--crypto")
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
