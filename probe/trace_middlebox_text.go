package probe

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/pathwise-net/pathwise/measure"
	"github.com/pathwise-net/pathwise/proto/changed"
)

// middleboxText writes the route, and below it what was changed where.
func middleboxText(w io.Writer, r *measure.Result) {
	found := r.Samples.Middleboxes
	shown := map[int]string{}
	for _, p := range found.Points {
		if !p.Far {
			shown[p.TTL] = p.Shown
		}
	}
	for _, h := range r.Samples.Hops {
		line := hopLine(h)
		if how := shown[h.TTL]; how != "" {
			line += "  quotes " + quotesText(how)
		}
		fmt.Fprintln(w, line)
	}
	for _, line := range middleboxLines(r.Target.Name, r.Samples.Hops, found) {
		fmt.Fprintln(w, line)
	}
}

func quotesText(shown string) string {
	if shown == changed.ShownAll {
		return "all of the packet"
	}
	return "the " + shown
}

// middleboxLines are what was found.
func middleboxLines(target string, hops []measure.Hop, found *measure.Middleboxes) (lines []string) {
	var sent []string
	for _, f := range found.Sent {
		text := f.Name
		if f.Value != "there" {
			text += " " + f.Value
		}
		sent = append(sent, text)
	}
	lines = append(lines, "sent: SYNs with "+strings.Join(sent, ", "))
	if text := proxyText(found.Proxy, target); text != "" {
		lines = append(lines, text)
	}
	for _, c := range found.Changes {
		lines = append(lines, changeText(c, target, hops))
	}
	if len(found.Changes) == 0 && len(found.Points) > 0 {
		lines = append(lines, "nothing that was seen is changed")
	}
	return append(lines, knownText(target, found))
}

// proxyText is who answers in the target's name; "": nobody.
func proxyText(p *measure.Proxy, target string) string {
	if p == nil {
		return ""
	}
	if p.Possible {
		return fmt.Sprintf("a transparent proxy may answer at hop %d%s in the name of %s, which is %d hops away by ICMP echo; or TCP has a shorter way there", p.TTL, inBrackets(p.Addresses), target, p.Distance)
	}
	return fmt.Sprintf("a transparent proxy answers at hop %d%s in the name of %s, which is %d hops away", p.TTL, inBrackets(p.Addresses), target, p.Distance)
}

// changeText is what was changed, and between which places.
func changeText(c measure.PacketChange, target string, hops []measure.Hop) string {
	what := fmt.Sprintf("%s %s becomes %s", c.Field, c.From, c.To)
	switch {
	case c.To == changed.None:
		what = c.Field + " is taken out"
	case c.From == changed.None:
		what = fmt.Sprintf("%s (%s) is put in", c.Field, c.To)
	case c.From == changed.AsSent:
		what = fmt.Sprintf("%s is changed %s", c.Field, c.To)
	case c.To == changed.AsSent:
		what = c.Field + " is as sent again"
	}
	by := hopWho(c.By, hops)
	if c.Far {
		by = target
	}
	if c.After == 0 && c.Far {
		return what + " on the way to " + by + "; routers' quotes do not tell where"
	}
	after := "this host"
	if c.After > 0 {
		after = hopWho(c.After, hops)
	}
	return fmt.Sprintf("%s between %s and %s", what, after, by)
}

func hopWho(ttl int, hops []measure.Hop) string {
	name := fmt.Sprintf("hop %d", ttl)
	if ttl >= 1 && ttl <= len(hops) {
		name += inBrackets(hops[ttl-1].Addresses)
	}
	return name
}

func inBrackets(addresses []string) string {
	if len(addresses) == 0 {
		return ""
	}
	return " (" + strings.Join(addresses, ", ") + ")"
}

// knownText says how far packets were seen whole, and how far at all.
func knownText(target string, found *measure.Middleboxes) string {
	whole, some := 0, 0
	for _, p := range found.Points {
		if p.Far {
			return fmt.Sprintf("known to the end: %s tells what arrives", target)
		}
		if some = p.TTL; p.Shown == changed.ShownAll {
			whole = p.TTL
		}
	}
	text := "nothing is known of options: no router quotes them"
	if whole > 0 {
		text = fmt.Sprintf("known of options as far as hop %d", whole)
	}
	if some > whole {
		text += fmt.Sprintf(", of the IP header and what else is quoted as far as hop %d", some)
	}
	return text + "; beyond that nothing: " + cmp.Or(found.FarError, "the far end does not tell")
}
