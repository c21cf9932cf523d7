package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/agent"
	"github.com/pathwise-net/pathwise/agent/policy"
	"github.com/pathwise-net/pathwise/fleet"
)

// agentCall is a call of agent.
type agentCall struct {
	credentials, state, policyFile, listen, name string
	stdio, join                                  bool
}

func agentCommand(s *session) *cobra.Command {
	var call agentCall
	c := &cobra.Command{
		Use: "agent", Short: "Be a host of a mesh", Args: cobra.NoArgs,
		Long: "Do what the controller of a mesh plans for this host, as far as this host's own policy allows, and keep the results\n" +
			"until the controller has them. With --stdio, which a controller uses over SSH, it speaks through standard input and\n" +
			"output and ends with them. With --join it becomes a host of a mesh first, by an invitation that it reads from standard\n" +
			"input, and writes its credentials to a file, by which it is started from then on (docs/home.md). docs/agent.md has the\n" +
			"policy file.",
		Example: "  pathwise agent --credentials ucl.credentials\n" +
			"  pathwise agent --credentials /etc/pathwise/ucl.credentials --state /var/lib/pathwise --policy /etc/pathwise/agent.yaml\n" +
			"  echo 'pathwise-join:192.0.2.5:4222/SECRET/KEY' | pathwise agent --join",
		RunE: func(c *cobra.Command, _ []string) error { return s.runAgent(c.Context(), call) },
	}
	flags := c.Flags()
	flags.StringVar(&call.credentials, "credentials", "", "this host's file of credentials, which mesh deploy made, or --join is to write")
	flags.StringVar(&call.state, "state", "", "folder for plan and results (default: pathwise-agent/HOST)")
	flags.StringVar(&call.policyFile, "policy", "", "file that says what this host lets a mesh do (default: see docs/agent.md)")
	flags.StringVar(&call.listen, "listen", "", "address that tests may come to (default: all)")
	flags.BoolVar(&call.stdio, "stdio", false, "speak through standard input and output, whose first line are the credentials")
	flags.BoolVar(&call.join, "join", false, "join a mesh by the invitation on standard input")
	flags.StringVar(&call.name, "name", "", "with --join: the name of this host in the mesh (default: as the machine is called)")
	return c
}

// check says what cannot be, before anything is done.
func (c *agentCall) check() error {
	switch {
	case c.join && c.stdio:
		return badFlag("join", errors.New("want it without --stdio"))
	case !c.join && c.name != "":
		return badFlag("name", errors.New("want --join with it; otherwise the credentials say it"))
	case !c.join && (c.credentials == "") != c.stdio:
		return badFlag("credentials", errors.New("give the file that `pathwise mesh deploy` made for this host; or join a mesh by --join"))
	case c.name != "" && (c.name != hostName(c.name) || len(c.name) > longestHostName):
		return badFlag("name", fmt.Errorf("%q: want letters, digits, - and _, at most %d of them", c.name, longestHostName))
	}
	if _, err := netip.ParseAddr(c.listen); c.listen != "" && err != nil {
		return badFlag("listen", fmt.Errorf("%q: want an address of this host, such as 192.0.2.1", c.listen))
	}
	return nil
}

func (s *session) runAgent(ctx context.Context, call agentCall) error {
	if err := call.check(); err != nil {
		return err
	}
	var own *policy.Policy
	if call.policyFile != "" {
		var err error
		if own, err = readPolicy(call.policyFile); err != nil {
			return err
		}
	}
	if call.join {
		if err := s.joinMesh(ctx, &call); err != nil {
			return err
		}
	}
	link, host, err := agentLink(s, call.credentials)
	if err != nil {
		return err
	}
	if call.state == "" {
		call.state = filepath.Join("pathwise-agent", host)
	}
	if err := os.MkdirAll(call.state, 0o700); err != nil {
		return badFlag("state", err)
	}
	a, err := agent.New(agent.Config{
		Host: host, Dir: call.state, Secrets: secrets(call.credentials), Link: link, Policy: own, Listen: call.listen, Version: version(),
		Log: s.serverLog(), Alone: true,
	})
	if err != nil {
		return err
	}
	if !call.stdio {
		s.say("agent of %s", host)
	}
	return a.Run(ctx)
}

// secrets are the files that no program may open which this agent starts.
func secrets(credentials string) []string {
	if credentials == "" {
		return nil // they came through standard input, and are in no file
	}
	return []string{credentials}
}

// agentLink is the agent's way to its controller, and the name of its host: by a file of credentials, or through standard
// input and output.
func agentLink(s *session, credentials string) (fleet.Link, string, error) {
	if credentials != "" {
		keys, err := fleet.ReadCredentials(credentials)
		if err != nil {
			return nil, "", badFlag("credentials", err)
		}
		link, err := fleet.NewLink(fleet.LinkConfig{Credentials: keys, Log: s.serverLog()})
		return link, keys.Host, err
	}
	keys, dial, err := fleet.Stdio(s.in, outCloser{s.out})
	if err != nil {
		return nil, "", fmt.Errorf("start from standard input: %w", err)
	}
	link, err := fleet.NewLink(fleet.LinkConfig{Credentials: keys, Dial: dial, Once: true, Log: s.serverLog()})
	return link, keys.Host, err
}

func readPolicy(file string) (*policy.Policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, badFlag("policy", err)
	}
	return policy.Parse(file, text)
}

// outCloser closes standard output where that is a file: a channel's other end then knows that this one is done.
type outCloser struct{ io.Writer }

func (o outCloser) Close() error {
	if c, ok := o.Writer.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
