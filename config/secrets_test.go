package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each key that names a file of a secret is told; those that name a file which is none are listed here.
func TestSecrets(t *testing.T) {
	text := `
hosts: {a: 192.0.2.1, b: {address: 192.0.2.2, reach: {ssh: {key: s1}}}, c: {address: 192.0.2.3, reach: ssh}}
controller:
  tls: {certificate: x, key: s2}
  nats: {url: tls://n, ca_file: x, cert_file: x, key_file: s3, nkey_file: s4}
  remote_write: [{url: "https://a", user: u, password_file: s5}, {url: "https://b", ca_file: x, token_file: s6}]
`
	want := map[string]string{"hosts.b.reach.ssh.key": "s1", "controller.tls.key": "s2", "controller.nats.key_file": "s3",
		"controller.nats.nkey_file": "s4", "controller.remote_write[0].password_file": "s5", "controller.remote_write[1].token_file": "s6"}
	if diff := cmp.Diff(want, parsed(t, text).Secrets()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text = strings.Replace(text, "nkey_file: s4", "credentials_file: s7", 1)
	told := parsed(t, text).Secrets()
	if told["controller.nats.credentials_file"] != "s7" {
		t.Errorf("credentials_file: %v", told)
	}
	maps.Copy(told, want)
	var forms []string
	for key := range told {
		forms = append(forms, strings.Replace(indexes.ReplaceAllString(key, ""), "hosts.b", "hosts.*", 1))
	}
	none := []string{"controller.nats.ca_file", "controller.nats.cert_file", "controller.remote_write.ca_file", "tools.*.parse.*.key"}
	for _, key := range schema(t) {
		named := regexp.MustCompile(`(_file|\.key|password|secret|token_file)$`).MatchString(key)
		if named && !slices.Contains(none, key) && !slices.Contains(forms, key) {
			t.Errorf("%s: is it the file of a secret? Then Secrets has to tell of it", key)
		}
	}
}
