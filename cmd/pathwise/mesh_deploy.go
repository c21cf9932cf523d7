package main

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pathwise-net/pathwise/config"
	"github.com/pathwise-net/pathwise/fleet"
	"github.com/pathwise-net/pathwise/input"
)

func meshDeploy(s *session) *cobra.Command {
	var out, data string
	var addresses []string
	c := &cobra.Command{
		Use: "deploy FILE [HOST...]", Short: "Make the keys by which hosts' agents are known", Args: cobra.MinimumNArgs(1),
		Long: "Make new keys for each host that an agent runs on (or for those named), and write for each a file of credentials,\n" +
			"which is a secret: carry it to the host and start `pathwise agent` there. Keys that a host had before count no\n" +
			"more. Hosts that are reached by SSH need none of this: the controller brings theirs.",
		Example: "  pathwise mesh deploy mesh.yaml --address controller.example.org\n" +
			"  pathwise mesh deploy mesh.yaml ucl --out keys",
		RunE: func(_ *cobra.Command, args []string) error {
			m, err := s.loadMesh(args[0])
			if err != nil {
				return err
			}
			hosts, err := agentHosts(m, args[1:])
			if err != nil {
				return err
			}
			for _, a := range addresses {
				if err := checkReachable(a); err != nil {
					return badFlag("address", err)
				}
			}
			keys, err := fleet.OpenKeyring(filepath.Join(dataFolder(data, m), "keys"))
			if err != nil && data != "" {
				return badFlag("data", err)
			}
			if err != nil {
				return err
			}
			reach, err := reachOf(keys, m, addresses)
			if err != nil {
				return err
			}
			if err := s.deploy(keys, reach, hosts, out); err != nil {
				return err
			}
			if outside(&m.Controller.NATS) != nil {
				return s.deployServer(keys, out)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVarP(&out, "out", "o", ".", "folder for the files of credentials")
	flags.StringVar(&data, "data", "", "the controller's folder (default: what the mesh file says)")
	flags.StringSliceVar(&addresses, "address", nil, "name or address by which hosts reach the controller; may be repeated")
	return c
}

func (s *session) deploy(keys *fleet.Keyring, reach fleet.Reach, hosts []string, out string) error {
	type made struct {
		Host        string `json:"host"`
		Credentials string `json:"credentials"`
	}
	if err := os.MkdirAll(out, 0o700); err != nil {
		return badFlag("out", err)
	}
	list := []made{}
	for _, h := range hosts {
		c, err := keys.Issue(h, reach)
		if err != nil {
			return err
		}
		path := filepath.Join(out, h+".credentials")
		if err := c.WriteFile(path); err != nil {
			return err
		}
		list = append(list, made{h, path})
	}
	doc := map[string]any{"schema": "pathwise.deploy/1", "urls": reach.URLs, "hosts": list}
	return s.emit(doc, func(w io.Writer) {
		for _, h := range list {
			fmt.Fprintf(w, "%s: pathwise agent --credentials %s\n", h.Host, h.Credentials)
		}
	})
}

// deployServer writes what an outside cluster's servers need to be told, so that they let controller and agents in.
func (s *session) deployServer(keys *fleet.Keyring, out string) error {
	agents, err := keys.Agents()
	if err != nil {
		return err
	}
	path := filepath.Join(out, "nats.conf")
	if err := os.WriteFile(path, []byte(fleet.ServerSnippet(keys.Public(), agents)), 0o600); err != nil {
		return fmt.Errorf("write configuration of NATS: %w", err)
	}
	fmt.Fprintf(s.err, "note: %s is for the servers of your cluster: without it they let nobody in\n", path)
	return nil
}

// agentHosts are the hosts that need credentials: those named, or all.
func agentHosts(m *config.Mesh, named []string) ([]string, error) {
	for _, name := range named {
		i, known := m.Host(name)
		if !known {
			return nil, input.Errorf("%q: no such host in the mesh file", name)
		}
		if reach := m.Hosts[i].Reach; reach != config.ReachAgent {
			return nil, input.Errorf("%q: reached by %s, so no agent dials the controller from there", name, reach)
		}
	}
	if len(named) > 0 {
		return named, nil
	}
	for _, h := range m.Hosts {
		if h.Reach == config.ReachAgent {
			named = append(named, h.Name)
		}
	}
	return named, nil
}

// checkReachable says what is wrong with ADDRESS or ADDRESS:PORT by which hosts are to reach this controller.
func checkReachable(address string) error {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return config.CheckAddress(strings.Trim(address, "[]"))
}

// reachOf is how agents find the controller's server: the outside cluster of the mesh file, or its own at these addresses.
func reachOf(keys *fleet.Keyring, m *config.Mesh, addresses []string) (fleet.Reach, error) {
	if cluster := outside(&m.Controller.NATS); cluster != nil {
		return reachOfCluster(cluster)
	}
	host, port, err := net.SplitHostPort(m.Controller.NATS.Listen)
	if err != nil {
		return fleet.Reach{}, fmt.Errorf("controller.nats.listen: %w", err)
	}
	if len(addresses) == 0 && (host == "" || net.ParseIP(host).IsUnspecified()) {
		return fleet.Reach{}, input.Errorf("--address: give the name or address by which hosts reach this controller")
	}
	if len(addresses) == 0 {
		addresses = []string{host}
	}
	var all []string
	for _, a := range addresses {
		if _, _, err := net.SplitHostPort(a); err != nil {
			a = net.JoinHostPort(strings.Trim(a, "[]"), port)
		}
		all = append(all, a)
	}
	return keys.Embedded(all...), nil
}

// reachOfCluster refuses authorities by which no agent could know the servers: keys that are made with them are of no use.
func reachOfCluster(cluster *fleet.Outside) (fleet.Reach, error) {
	reach, err := cluster.Reach()
	if err == nil && reach.CA != "" && !x509.NewCertPool().AppendCertsFromPEM([]byte(reach.CA)) {
		err = errors.New("want certificates in PEM")
	}
	if err != nil {
		return reach, input.Errorf("controller.nats.ca_file: %s: %w", cluster.CA, err)
	}
	return reach, nil
}

// dataFolder is the controller's: the flag's, or the mesh file's.
func dataFolder(flag string, m *config.Mesh) string {
	if flag != "" {
		return flag
	}
	return m.Controller.Data
}
