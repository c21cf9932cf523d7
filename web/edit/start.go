package edit

import (
	"reflect"

	"github.com/pathwise-net/pathwise/config"
)

// opened are the parts of the section controller that a process opens once, when it starts, by their keys; the others take
// effect while it runs.
var opened = map[string]string{
	"Listen": "listen", "Proxies": "proxies", "TLS": "tls", "NATS": "nats", "Archive": "archive", "Retention": "retention",
	"RemoteWrite": "remote_write", "Data": "data", "Labs": "labs",
}

// atNextStart says which parts of a controller differ from those that it was started with. It shows no value: some are secrets.
func atNextStart(started, proposed *config.Controller) []string {
	var all []string
	was, is := reflect.ValueOf(started).Elem(), reflect.ValueOf(proposed).Elem()
	for i := range was.NumField() {
		key, once := opened[was.Type().Field(i).Name]
		if once && !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			all = append(all, "controller."+key+" takes effect at the next start of the controller")
		}
	}
	return all
}
