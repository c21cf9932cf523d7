package config

import "testing"

// What is wrong with the settings of an outside cluster is said in one line each, with its place.
func TestBadNATS(t *testing.T) {
	const one = "x.yaml:1:"
	for text, want := range map[string]string{
		`{ca_file: x, listen: ":1"}`:                        one + "30: controller.nats.ca_file: want url as well: of an outside cluster, which ca_file is about",
		`{replicas: 3}`:                                     one + "31: controller.nats.replicas: want url as well: of an outside cluster, which replicas is about",
		`{url: tls://a, replicas: 6}`:                       one + `45: controller.nats.replicas: "6": want a whole number from 1 to 5`,
		`{url: tls://a, replicas: 0}`:                       one + `45: controller.nats.replicas: "0": want a whole number from 1 to 5`,
		`{url: tls://a, ca_file: ""}`:                       one + `44: controller.nats.ca_file: want a text on one line`,
		`{url: tls://a, cert_file: x}`:                      one + "20: controller.nats: want cert_file and key_file together, or neither",
		`{url: tls://a, key_file: x}`:                       one + "20: controller.nats: want cert_file and key_file together, or neither",
		`{url: tls://a, credentials_file: x, nkey_file: y}`: one + "67: controller.nats.nkey_file: want either credentials_file or nkey_file",
		`{url: tls://a, listen: ":1"}`:                      one + "26: controller.nats.url: want either url, of an outside cluster, or listen, of our own server",
		`{url: [tls://a, "nats://me:secret@b"]}`: one + `36: controller.nats.url[1]: "nats://…@b": ` +
			"want a URL without user and password: agents are told it, too; see credentials_file and nkey_file",
		`{url: []}`: one + "26: controller.nats.url: want a URL such as tls://nats.example.org:4222",
		`{url: }`:   one + "25: controller.nats.url: want a URL such as tls://nats.example.org:4222",
		`{url: tls://a, cafile: x}`: one + `35: controller.nats.cafile: "cafile": want one of ca_file, cert_file, credentials_file, ` +
			"key_file, listen, nkey_file, replicas, url; did you mean ca_file?",
	} {
		_, err := Parse([]File{{"x.yaml", []byte("controller: {nats: " + text + "}\nhosts: {a: 10.0.0.1}\n")}}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", text, err, want)
		}
	}
}
