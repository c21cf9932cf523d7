package fleet

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
)

func FuzzIncoming(f *testing.F) {
	p, err := newPacker()
	if err != nil {
		f.Fatal(err)
	}
	batches, err := encode(results(testResult("ucl", testRun("ucl", "r", 2))))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("", p.compress(batches[0]))
	f.Add("id 0 2", []byte("x"))
	f.Add("id 1 1000000000", []byte("x"))
	f.Fuzz(func(t *testing.T, header string, data []byte) {
		var parts pieces
		for range 2 {
			m := &nats.Msg{Data: data}
			if header != "" {
				m.Header = nats.Header{headerPiece: {header}}
			}
			whole, err := parts.add(m, maxResults)
			if err != nil || whole == nil {
				continue
			}
			raw, err := p.decompress(whole, maxResults)
			if err != nil {
				continue
			}
			if len(raw) > maxResults {
				t.Fatalf("unpacked to %d bytes", len(raw))
			}
			results, _ := decode("ucl", raw)
			for _, r := range results {
				if r.Source.Name != "ucl" || r.ID == "" {
					t.Errorf("let through: %+v", r)
				}
			}
		}
	})
}

func FuzzCredentials(f *testing.F) {
	f.Add([]byte(`{"host": "ucl", "urls": ["tls://x"], "login_seed": "SU", "controller": {}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := parseCredentials(data); err == nil && c.Host == "" {
			t.Error("taken without a host")
		}
	})
}

func FuzzOpen(f *testing.F) {
	k, err := OpenKeyring(filepath.Join(f.TempDir(), "keys"))
	if err != nil {
		f.Fatal(err)
	}
	c, err := k.Issue("ucl", Reach{})
	if err != nil {
		f.Fatal(err)
	}
	o, err := newOpener(c)
	if err != nil {
		f.Fatal(err)
	}
	keys, err := k.Agent("ucl")
	if err != nil {
		f.Fatal(err)
	}
	genuine, err := k.seal(kindOrder, "ucl", keys, []byte("body"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(genuine)
	f.Add([]byte("xkv1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if body, err := o.open(kindOrder, data); err == nil && !bytes.Equal(data, genuine) {
			t.Errorf("opened what was never sealed: %q", body)
		}
	})
}
