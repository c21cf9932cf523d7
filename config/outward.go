package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// lead says what a key of a mesh file has to do with the world beyond the controller's machine and its agents.
type lead int

const (
	parts   lead = iota + 1 // its own keys say
	inward                  // it says what is measured, between whom, when, how much, and for how long that is kept
	outward                 // it says where data, secrets or programs go or come from, who is listened to, or who may do what
	byValue                 // what is under it says: the reader of it calls noteOutward
)

// leads has every key of a mesh file. What leads out is for people to change: a token that leaks must not become a way to send
// the controller's secrets or Results elsewhere, or to run a program.
var leads = map[string]lead{
	"sites": parts, "sites.*.rate": inward, "sites.*.labels": inward, "sites.*.budget": parts,
	"sites.*.budget.daily": inward, "sites.*.budget.rate": inward, "sites.*.budget.share": inward,

	"tools": parts, "tools.*.probe": byValue, "tools.*.parameters": byValue,
	"tools.*.command": outward, "tools.*.server": outward, "tools.*.values": outward,
	"tools.*.parse": parts, "tools.*.parse.*.regex": inward, "tools.*.parse.*.json": inward, "tools.*.parse.*.key": inward,
	"tools.*.parse.*.unit": inward, "tools.*.parse.*.binary": inward, "tools.*.parse.*.scale": inward,
	"tools.*.timeout": inward, "tools.*.exclusive": inward, "tools.*.online": inward, "tools.*.needs": parts,
	"tools.*.needs.duration": inward, "tools.*.needs.bytes": inward, "tools.*.needs.rate": inward,

	"hosts": parts, "hosts.*.address": byValue, "hosts.*.interfaces": byValue,
	"hosts.*.interfaces.*.address": byValue, "hosts.*.interfaces.*.rate": inward,
	"hosts.*.rate": inward, "hosts.*.site": inward, "hosts.*.labels": inward, "hosts.*.online": inward, "hosts.*.ports": inward,
	"hosts.*.limits": parts, "hosts.*.limits.daily": inward, "hosts.*.limits.rate": inward, "hosts.*.limits.share": inward,
	"hosts.*.tools": byValue, "hosts.*.reach": byValue, "hosts.*.reach.ssh": outward, "hosts.*.reach.ssh.address": outward,
	"hosts.*.reach.ssh.port": outward, "hosts.*.reach.ssh.user": outward, "hosts.*.reach.ssh.key": outward,
	"hosts.*.reach.ssh.known_hosts": outward, "hosts.*.reach.ssh.binary": outward, "hosts.*.reach.ssh.directory": outward,
	"hosts.*.reach.ssh.leave": outward,

	"schedules": parts, "schedules.*.every": inward, "schedules.*.sampling": inward, "schedules.*.step": inward, "schedules.*.cron": inward,
	"schedules.*.zone": inward, "schedules.*.slot": inward, "schedules.*.tries": inward,
	"phases": parts, "phases.*.every": inward, "phases.*.sampling": inward, "phases.*.step": inward, "phases.*.cron": inward,
	"phases.*.zone": inward, "phases.*.slot": inward, "phases.*.tries": inward,

	"groups": parts, "groups.*.mesh": inward, "groups.*.list": inward, "groups.*.pairs": inward,
	"groups.*.star": parts, "groups.*.star.centre": inward, "groups.*.star.leaves": inward, "groups.*.star.one_way": inward,
	"groups.*.sides": parts, "groups.*.sides.left": inward, "groups.*.sides.right": inward, "groups.*.sides.one_way": inward,

	"tests": parts, "tests.name": inward, "tests.tool": inward, "tests.group": inward, "tests.interface": inward, "tests.family": inward,
	"tests.online": inward, "tests.schedule": parts, "tests.schedule.phase": inward, "tests.schedule.every": inward,
	"tests.schedule.sampling": inward, "tests.schedule.step": inward, "tests.schedule.cron": inward, "tests.schedule.zone": inward,
	"tests.schedule.slot": inward, "tests.schedule.tries": inward,

	"exclude": parts, "exclude.host": inward, "exclude.source": inward, "exclude.target": inward,
	"exclude.pair": inward, "exclude.tool": inward,
	"exclude.test": inward, "exclude.direction": inward, "exclude.hours": inward, "exclude.days": inward, "exclude.zone": inward,
	"budgets": parts, "budgets.host": inward, "budgets.site": inward, "budgets.daily": inward, "budgets.rate": inward, "budgets.share": inward,

	"controller": parts, "controller.horizon": inward, "controller.hourly_diagnoses": inward,
	"controller.listen": outward, "controller.public": outward, "controller.labs": outward, "controller.proxies": outward,
	"controller.archive": outward, "controller.data": outward,
	"controller.lookup": outward, "controller.lookup.names": outward, "controller.lookup.asn": outward, "controller.lookup.owners": outward,
	"controller.lookup.places": outward, "controller.lookup.name_server": outward,
	"controller.tls": outward, "controller.tls.certificate": outward, "controller.tls.key": outward,
	"controller.nats": outward, "controller.nats.listen": outward, "controller.nats.url": outward, "controller.nats.ca_file": outward,
	"controller.nats.cert_file": outward, "controller.nats.key_file": outward, "controller.nats.credentials_file": outward,
	"controller.nats.nkey_file": outward, "controller.nats.replicas": outward,
	"controller.retention": parts, "controller.retention.results": inward, "controller.retention.points": inward,
	"controller.retention.rollups": parts, "controller.retention.rollups.1m": inward, "controller.retention.rollups.5m": inward,
	"controller.retention.rollups.1h": inward, "controller.retention.rollups.1d": inward,
	"controller.remote_write": outward, "controller.remote_write.name": outward, "controller.remote_write.url": outward,
	"controller.remote_write.user": outward, "controller.remote_write.password_file": outward,
	"controller.remote_write.token_file": outward, "controller.remote_write.ca_file": outward, "controller.remote_write.headers": outward,
	"controller.callers": outward, "controller.callers.default": outward, "controller.callers.assign": outward,
	"controller.callers.assign.class": outward, "controller.callers.assign.token": outward, "controller.callers.assign.account": outward,
	"controller.callers.assign.network": outward, "controller.callers.classes": outward,
	"controller.callers.classes.*.parent": outward, "controller.callers.classes.*.tools": outward,
	"controller.callers.classes.*.source": outward, "controller.callers.classes.*.target": outward,
	"controller.callers.classes.*.duration": outward, "controller.callers.classes.*.rate": outward,
	"controller.callers.classes.*.daily_bytes": outward, "controller.callers.classes.*.parallel": outward,
	"controller.callers.classes.*.hours": outward, "controller.callers.classes.*.days": outward,
	"controller.callers.classes.*.zone": outward,
}

// Outward returns the keys, sorted, in which a mesh leads out of the controller's machine otherwise than another does: such as
// controller.remote_write, tools.bbcp.command, hosts.ral.reach.
func (m *Mesh) Outward(other *Mesh) []string {
	differs := map[string]bool{}
	for _, pair := range [][2]map[string]string{{m.outward, other.outward}, {other.outward, m.outward}} {
		for path, text := range pair[0] {
			if there, has := pair[1][path]; !has || there != text {
				differs[path] = true
			}
		}
	}
	for path := range differs { // what it stands in differs because it does
		for at := strings.LastIndexAny(path, ".["); at > 0; at = strings.LastIndexAny(path[:at], ".[") {
			delete(differs, path[:at])
		}
	}
	return slices.Sorted(maps.Keys(differs))
}

// noteOutward notes that what stands here leads out of the controller's machine.
func (n node) noteOutward() { n.r.mesh.outward[n.path] = canonical(n.ast) }

// noteParameters notes, among the parameters of a kind of probe, those that lead out.
func (n node) noteParameters(kind string) {
	if kind == KindCommand {
		n.noteOutward()
		return
	}
	m, is := n.ast.(*ast.MappingNode)
	if !is {
		return
	}
	for _, v := range m.Values {
		if key := scalarText(v.Key); n.r.check == nil || n.r.check.Outward(kind, key) {
			node{n.r, n.file, join(n.path, key), join(n.form, "*"), v.Value}.noteOutward()
		}
	}
}

// canonical is what a part of a file says, however it is written: by order of keys, without comments.
func canonical(n ast.Node) string {
	var b strings.Builder
	switch n := n.(type) {
	case *ast.MappingNode:
		values := slices.Clone(n.Values)
		slices.SortStableFunc(values, func(x, y *ast.MappingValueNode) int { return strings.Compare(scalarText(x.Key), scalarText(y.Key)) })
		for _, v := range values {
			b.WriteString(strconv.Quote(scalarText(v.Key)) + ":" + canonical(v.Value) + ",")
		}
		return "{" + b.String() + "}"
	case *ast.SequenceNode:
		for _, v := range n.Values {
			b.WriteString(canonical(v) + ",")
		}
		return "[" + b.String() + "]"
	}
	return n.Type().String() + strconv.Quote(scalarText(n))
}
