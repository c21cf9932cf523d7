package config

import (
	"fmt"
	"math"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Controller is what the controller of the mesh needs to know for itself. File names are as written: relative ones are
// relative to where it runs, but for those of secrets, which lie in one folder: see Secrets.
type Controller struct {
	Listen      string         // HTTP, host:port
	Public      bool           // whether those who have shown nothing may look
	Labs        bool           // whether the pages show the labs of this machine, and administrators may change them there
	Proxies     []netip.Prefix // reverse proxies before Listen, which are believed about who calls them
	TLS         TLS
	Callers     Callers
	NATS        NATS
	Archive     string // URL of PostgreSQL, or the file of SQLite; it may hold a password, so it is never logged
	Retention   Retention
	RemoteWrite []RemoteWrite
	Data        string        // folder of what must not be lost: keys, streams, the archive if Archive is ""
	Horizon     time.Duration // how far ahead hosts are told their plan
	// HourlyDiagnoses is how many diagnoses an hour are made of what got worse without anybody's asking; 0: none.
	HourlyDiagnoses int
	Lookup          Lookup
}

// TLS are the files, PEM, that make Listen answer HTTPS, of which Key is a secret; both are empty: it answers HTTP.
type TLS struct{ Certificate, Key string }

// Forever is how long is kept what is never deleted.
const Forever time.Duration = math.MaxInt64

// Retention is how long the archive keeps things; 0: as long as it does by itself.
type Retention struct {
	Results time.Duration            // whole Results, with their samples
	Points  time.Duration            // metrics at full resolution
	Rollups map[string]time.Duration // by step: 1m, 5m, 1h, 1d
}

// RemoteWrite is where metrics are pushed to, by Prometheus' protocol.
type RemoteWrite struct {
	Name      string // of the receiver, unlike any other's; "": its host, if no other has that, else its URL
	URL       string
	User      string
	Password  string            // secret: the password
	TokenFile string            // secret: a bearer token
	CAFile    string            // PEM certificates that sign the receiver's; "": those of the system
	Headers   map[string]string // further ones
}

// Defaults of the controller.
const (
	defaultListen  = "127.0.0.1:8080" // where nobody listens in on passwords, until there is HTTPS
	defaultNATS    = ":4222"          // NATS' own port; agents dial it from everywhere, with keys
	defaultData    = "/var/lib/pathwise"
	defaultHorizon = 6 * time.Hour // a night's cut of the controller's line costs no measurement
	// defaultHourlyDiagnoses are as many minutes or so of an hour in which two hosts fill the path between them.
	defaultHourlyDiagnoses = 4
	// mostHourlyDiagnoses are all the time one.
	mostHourlyDiagnoses = 60
)

func defaultController() Controller {
	return Controller{
		Listen: defaultListen, NATS: NATS{Listen: defaultNATS}, Data: defaultData, Horizon: defaultHorizon,
		HourlyDiagnoses: defaultHourlyDiagnoses,
	}
}

// controller reads the section controller, which is one whole and so stands in one file.
func (r *reader) controller(n node) {
	if !r.define(n) {
		return
	}
	c := &r.mesh.Controller
	n.fields("{listen: 127.0.0.1:8080}", fields{
		"listen":           into(&c.Listen, parseListen),
		"public":           into(&c.Public, parseBool),
		"labs":             into(&c.Labs, parseBool),
		"proxies":          values(&c.Proxies, parseNetwork),
		"tls":              func(n node) { readTLS(n, &c.TLS) },
		"callers":          func(n node) { r.readCallers(n, &c.Callers) },
		"nats":             func(n node) { readNATS(n, &c.NATS) },
		"archive":          into(&c.Archive, parseArchive),
		"retention":        func(n node) { readRetention(n, &c.Retention) },
		"remote_write":     func(n node) { readRemoteWrites(n, c) },
		"data":             into(&c.Data, parseText),
		"horizon":          into(&c.Horizon, parseHorizon),
		"hourly_diagnoses": into(&c.HourlyDiagnoses, parseHourlyDiagnoses),
		"lookup":           func(n node) { readLookup(n, &c.Lookup) },
	})
	c.Data = filepath.Clean(c.Data)
}

func readTLS(n node, c *TLS) {
	n.fields("{certificate: /etc/pathwise/tls.crt, key: tls.key}", fields{
		"certificate": into(&c.Certificate, parseText),
		"key":         into(&c.Key, parseText),
	})
	if c.Certificate == "" || c.Key == "" {
		n.fail("", "both certificate and key")
	}
}

func readRetention(n node, c *Retention) {
	n.fields("{results: 90d, points: 30d, rollups: {1h: 5y}}", fields{
		"results": into(&c.Results, parseKeep),
		"points":  into(&c.Points, parseKeep),
		"rollups": func(n node) {
			c.Rollups = map[string]time.Duration{}
			steps := fields{}
			for _, step := range []string{"1m", "5m", "1h", "1d"} {
				steps[step] = func(n node) {
					var d time.Duration
					if value(n, &d, parseKeep) {
						c.Rollups[step] = d
					}
				}
			}
			n.fields("{1h: 5y}", steps)
		},
	})
}

// parseArchive reads the URL of a PostgreSQL database, or the name of a file.
func parseArchive(s string) (string, error) {
	if strings.Contains(s, "://") {
		return parseURL("postgres://pathwise@db.example.org/pathwise", "postgres", "postgresql")(s)
	}
	return parseText(s)
}

// parseKeep reads how long something is kept: a time, or forever.
func parseKeep(s string) (time.Duration, error) {
	if s == "forever" {
		return Forever, nil
	}
	d, err := parseSpan(s)
	if err != nil {
		return 0, bad(s, "a time such as 90d or 5y, or forever")
	}
	return d, nil
}

// parseHourlyDiagnoses reads how many may be made in an hour.
func parseHourlyDiagnoses(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > mostHourlyDiagnoses {
		return 0, bad(s, fmt.Sprintf("a number from 0 to %d, such as %d; 0: none", mostHourlyDiagnoses, defaultHourlyDiagnoses))
	}
	return n, nil
}

// parseHorizon reads how far ahead is planned.
func parseHorizon(s string) (time.Duration, error) {
	d, err := parseSpan(s)
	if err != nil || d < time.Minute || d > 7*24*time.Hour {
		return 0, bad(s, "a time from 1m to 7d, such as 6h")
	}
	return d, nil
}

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
