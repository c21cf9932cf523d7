package config

import "fmt"

// Secrets returns the names of the files of secrets, by the keys that name them.
func (m *Mesh) Secrets() map[string]string {
	c := &m.Controller
	all := map[string]string{"controller.tls.key": c.TLS.Key, "controller.nats.key_file": c.NATS.KeyFile,
		"controller.nats.credentials_file": c.NATS.Credentials, "controller.nats.nkey_file": c.NATS.Nkey}
	for i, w := range c.RemoteWrite {
		at := fmt.Sprintf("controller.remote_write[%d].", i)
		all[at+"password_file"], all[at+"token_file"] = w.Password, w.TokenFile
	}
	for _, h := range m.Hosts {
		if h.SSH != nil {
			all["hosts."+h.Name+".reach.ssh.key"] = h.SSH.Key
		}
	}
	for key, name := range all {
		if name == "" {
			delete(all, key)
		}
	}
	return all
}
