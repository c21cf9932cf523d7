package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/terminal"
)

// joinMesh makes this host one of a mesh, by an invitation on standard input, and writes its credentials to a file, which the call names
// from then on. An invitation stands on no command line, which all users of a machine could read.
func (s *session) joinMesh(ctx context.Context, call *agentCall) error {
	if call.credentials != "" {
		if _, err := os.Lstat(call.credentials); !errors.Is(err, fs.ErrNotExist) {
			return badFlag("credentials", fmt.Errorf("%s: it is there already; start with it and without --join, or name another", call.credentials))
		}
	} else if err := os.MkdirAll(joinedFolder, 0o700); err != nil {
		return fmt.Errorf("make a folder for credentials: %w", err)
	}
	if terminal.Is(s.in) {
		fmt.Fprint(s.err, "invitation: ")
	}
	line, err := bufio.NewReader(io.LimitReader(s.in, longestInvitation)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read invitation from standard input: %w", err)
	}
	invitation, err := fleet.ParseInvitation(line)
	if err != nil {
		return err
	}
	var from netip.Addr
	if call.listen != "" {
		from = netip.MustParseAddr(call.listen) // checked
	}
	name := call.name
	if name == "" {
		name = thisMachine().name
	}
	credentials, err := invitation.Join(ctx, name, from)
	if err != nil {
		return err
	}
	again := ""
	if call.credentials == "" {
		call.credentials = filepath.Join(joinedFolder, credentials.Host+credentialsEnd)
		for n := 2; exists(call.credentials); n++ { // of another mesh
			call.credentials = filepath.Join(joinedFolder, fmt.Sprintf("%s-%d%s", credentials.Host, n, credentialsEnd))
			call.state = strings.TrimSuffix(call.credentials, credentialsEnd)
		}
	}
	if err := credentials.WriteFile(call.credentials); err != nil {
		return err
	}
	if call.state != "" {
		again = " --state " + call.state
	}
	fmt.Fprintf(s.err, "joined the mesh of %s as %s; start it again by: pathwise agent --credentials %s%s\n",
		invitation.Address, credentials.Host, call.credentials, again)
	return nil
}

const (
	joinedFolder   = "pathwise-agent"
	credentialsEnd = ".credentials"
	// longestInvitation in bytes is above an address and two hashes.
	longestInvitation = 4 << 10
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
