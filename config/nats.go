package config

import "strings"

// NATS is either our own server, which Listens, or an outside cluster, which all the rest is about. File names are as
// written, like those of Controller.
type NATS struct {
	Listen      string   // host:port; "": an outside cluster
	URLs        []string // of the cluster's servers; nil: our own
	CAFile      string   // PEM certificates that sign the servers'; "": those of the system
	CertFile    string   // PEM certificate of the controller; "": none
	KeyFile     string   // PEM key of CertFile
	Credentials string   // file of the controller's JWT and seed; "": Nkey
	Nkey        string   // file of the controller's seed; "": the one in its folder
	Replicas    int      // of streams that earlier releases kept in the cluster: of no effect, and noted; 0: not said
}

func readNATS(n node, c *NATS) {
	given := n.fields("{listen: \":4222\"}", fields{
		"listen": into(&c.Listen, parseListen), "url": values(&c.URLs, parseNATS),
		"ca_file": into(&c.CAFile, parseText), "cert_file": into(&c.CertFile, parseText), "key_file": into(&c.KeyFile, parseText),
		"credentials_file": into(&c.Credentials, parseText), "nkey_file": into(&c.Nkey, parseText),
		"replicas": into(&c.Replicas, parseReplicas),
	})
	has := func(key string) bool { _, has := given[key]; return has }
	url := given["url"]
	switch {
	case !has("url"):
		for key, at := range given {
			if key != "listen" {
				at.fail("", "url as well: of an outside cluster, which %s is about", key)
			}
		}
		return
	case has("listen"):
		url.fail("", "either url, of an outside cluster, or listen, of our own server")
	case len(url.items()) == 0:
		url.fail("", "a URL such as %s", exampleNATS)
	}
	c.Listen = ""
	if has("cert_file") != has("key_file") {
		n.fail("", "cert_file and key_file together, or neither")
	}
	if has("credentials_file") && has("nkey_file") {
		given["nkey_file"].fail("", "either credentials_file or nkey_file")
	}
}

const exampleNATS = "tls://nats.example.org:4222"

// parseNATS reads the URL of a server. Agents are told it, so it holds no password of the controller's.
func parseNATS(s string) (string, error) {
	if _, err := parseURL(exampleNATS, "nats", "tls")(s); err != nil {
		return "", err
	}
	if strings.Contains(s, "@") {
		return "", bad(hidePassword(s), "a URL without user and password: agents are told it, too; see credentials_file and nkey_file")
	}
	return s, nil
}

// parseReplicas reads how many servers of a cluster held a stream. JetStream has no more than 5.
func parseReplicas(s string) (int, error) {
	if len(s) != 1 || s < "1" || s > "5" {
		return 0, bad(s, "a whole number from 1 to 5")
	}
	return int(s[0] - '0'), nil
}
