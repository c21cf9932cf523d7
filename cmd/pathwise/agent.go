package main

import (
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

func agentCommand(s *session) *cobra.Command {
	var credentials, state, policyFile, listen string
	var stdio bool
	c := &cobra.Command{
		Use: "agent", Short: "Be a host of a mesh", Args: cobra.NoArgs,
		Long: "Do what the controller of a mesh plans for this host, as far as this host's own policy allows, and keep the results\n" +
			"until the controller has them. With --stdio, which a controller uses over SSH, it speaks through standard input and\n" +
			"output and ends with them. docs/agent.md has the policy file.",
		Example: "  pathwise agent --credentials ucl.credentials\n" +
			"  pathwise agent --credentials /etc/pathwise/ucl.credentials --state /var/lib/pathwise --policy /etc/pathwise/agent.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			if (credentials == "") != stdio {
				return badFlag("credentials", errors.New("give the file that `pathwise mesh deploy` made for this host"))
			}
			if _, err := netip.ParseAddr(listen); listen != "" && err != nil {
				return badFlag("listen", fmt.Errorf("%q: want an address of this host, such as 192.0.2.1", listen))
			}
			var own *policy.Policy
			if policyFile != "" {
				var err error
				if own, err = readPolicy(policyFile); err != nil {
					return err
				}
			}
			link, host, err := agentLink(s, credentials)
			if err != nil {
				return err
			}
			if state == "" {
				state = filepath.Join("pathwise-agent", host)
			}
			if err := os.MkdirAll(state, 0o700); err != nil {
				return badFlag("state", err)
			}
			a, err := agent.New(agent.Config{
				Host: host, Dir: state, Secrets: secrets(credentials), Link: link, Policy: own, Listen: listen, Version: version(),
				Log: s.serverLog(), Alone: true,
			})
			if err != nil {
				return err
			}
			if !stdio {
				s.say("agent of %s", host)
			}
			return a.Run(c.Context())
		},
	}
	flags := c.Flags()
	flags.StringVar(&credentials, "credentials", "", "this host's file of credentials, which mesh deploy made")
	flags.StringVar(&state, "state", "", "folder for plan and results (default: pathwise-agent/HOST)")
	flags.StringVar(&policyFile, "policy", "", "file that says what this host lets a mesh do (default: see docs/agent.md)")
	flags.StringVar(&listen, "listen", "", "address that tests may come to (default: all)")
	flags.BoolVar(&stdio, "stdio", false, "speak through standard input and output, whose first line are the credentials")
	return c
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
