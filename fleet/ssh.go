package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"github.com/pathwise-net/pathwise/input"
	"golang.org/x/crypto/ssh"
)

// SSH reaches a host that may run no daemon of ours: it puts the binary there, starts the agent through the channel, and
// joins its standard input and output to the NATS server. The agent then speaks the same protocol with the same keys,
// nothing listens on the host, and the agent ends with the channel.
type SSH struct {
	Host        string            // of the mesh
	Address     string            // HOST or HOST:PORT
	User        string            // on the host
	Keys        []string          // files of private keys, without passphrase
	Agent       string            // socket of an ssh-agent; "": none
	KnownHosts  []string          // files; a host that is in none is not trusted
	Binaries    map[string]string // file of our binary, by platform (GOOS/GOARCH)
	BinariesIn  string            // where people put those of other platforms, as pathwise-GOOS-GOARCH; "": nowhere
	Folder      string            // on the host, from the user's home; "": .pathwise/HOST
	Arguments   []string          // of the binary; nil: agent --stdio --state FOLDER/state
	Credentials *Credentials      // through standard input; with no Reach for Server.Dial, with Outside.Reach for Outside.Dial
	Dial        Dial              // to the NATS server: Server.Dial or Outside.Dial

	// Leave lets binary and state folder stay for the next time. Otherwise they go when Serve ends, if Drain says that no
	// Result waits there any more; if it fails they stay, too: a Result is worth more than a tidy disk.
	Leave bool
	Drain func(ctx context.Context) error

	// Trouble, if not nil, is told why the host is not reached, and nil when it is.
	Trouble func(error)
	Log     *slog.Logger
}

// Validate checks what a user may have given.
func (s *SSH) Validate() error {
	if err := s.validateReach(); err != nil {
		return err
	}
	switch {
	case s.Credentials == nil || s.Dial == nil:
		return input.Errorf("ssh: %s has no credentials or no server to reach", s.Host)
	case !s.Leave && s.Drain == nil:
		return input.Errorf("ssh: %s: to leave nothing behind, say how to know that no result waits there", s.Host)
	}
	return s.Credentials.Validate()
}

// validateReach checks what says how to log in, and what to run there.
func (s *SSH) validateReach() error {
	switch {
	case s.Host == "":
		return input.Errorf("ssh: host: it is empty")
	case s.Address == "":
		return input.Errorf("ssh: address of %s: it is empty", s.Host)
	case s.User == "":
		return input.Errorf("ssh: user of %s: it is empty", s.Host)
	case len(s.Keys) == 0 && s.Agent == "":
		return input.Errorf("ssh: keys of %s: no file of a private key, and no ssh-agent (SSH_AUTH_SOCK)", s.Host)
	case len(s.KnownHosts) == 0:
		return input.Errorf("ssh: known_hosts of %s: no file; such as ~/.ssh/known_hosts", s.Host)
	case len(s.Binaries) == 0:
		return input.Errorf("ssh: binaries of %s: none to run there", s.Host)
	case strings.HasPrefix(s.Folder, "~"):
		return input.Errorf("ssh: folder of %s: %q: leave out ~, it begins at the user's home", s.Host, s.Folder)
	}
	return nil
}

const (
	// longestSSHWait is between attempts: a host that is down costs a connection a minute.
	longestSSHWait = time.Minute
	// leaveTime is how long Serve takes to empty a host's spool and to tidy up.
	leaveTime = 20 * time.Second
	// endTime is how long an agent may take to end after its channel did.
	endTime = 10 * time.Second
)

// Serve keeps the agent running until ctx ends, and starts it again whenever the channel is lost.
func (s *SSH) Serve(ctx context.Context) error {
	if err := s.Validate(); err != nil {
		return err
	}
	log, said, there := logger(s.Log).With("host", s.Host), "", false
	for attempt := 1; ; attempt++ {
		started, err := s.once(ctx, log)
		if started {
			attempt, said, there = 1, "", true
		}
		if ctx.Err() != nil && started {
			return err
		}
		if ctx.Err() != nil {
			return s.stays(there)
		}
		s.trouble(err)
		if text := err.Error(); text != said {
			log.Warn("not reached by SSH; trying again", "error", err)
			said = text
		}
		if !sleep(ctx, backoff(attempt, longestSSHWait, rand.Float64)) {
			return s.stays(there)
		}
	}
}

// stays is the error of a Serve that could not tidy up, because its host was not reached at the end.
func (s *SSH) stays(there bool) error {
	if s.Leave || !there {
		return nil
	}
	return fmt.Errorf("%s was not reached at the end: %s stays there", s.Host, s.folder())
}

func (s *SSH) trouble(err error) {
	if s.Trouble != nil {
		s.Trouble(err)
	}
}

// once connects, installs and runs until the channel is lost or ctx ends. It says whether the agent was started.
func (s *SSH) once(ctx context.Context, log *slog.Logger) (bool, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return false, err
	}
	defer client.Close()
	binary, err := s.install(ctx, client, log)
	if err != nil {
		return false, err
	}
	a, err := s.start(ctx, client, binary, log)
	if err != nil {
		return false, err
	}
	log.Info("agent started by SSH", "binary", binary)
	s.trouble(nil)
	defer a.close()
	select {
	case err := <-a.over:
		return true, err
	case <-ctx.Done():
		return true, s.leave(context.WithoutCancel(ctx), client, a)
	}
}

// leave ends the agent, and takes away what was put on the host.
func (s *SSH) leave(ctx context.Context, client *ssh.Client, a *remoteAgent) error {
	ctx, cancel := context.WithTimeout(ctx, leaveTime)
	defer cancel()
	var waiting error
	if !s.Leave {
		waiting = s.Drain(ctx)
	}
	a.close()
	select {
	case <-a.over:
	case <-time.After(endTime):
		return fmt.Errorf("end agent on %s: it was still running %v after its channel closed", s.Host, endTime)
	}
	if s.Leave {
		return nil
	}
	if waiting != nil {
		return fmt.Errorf("results may wait in %s on %s, so that it stays: %w", s.folder(), s.Host, waiting)
	}
	return s.remove(ctx, client)
}

func (s *SSH) folder() string {
	if s.Folder != "" {
		return path.Clean(s.Folder)
	}
	return ".pathwise/" + token(s.Host)
}
