package main

import (
	"regexp"
	"strconv"
)

// echo is one ICMP echo, or the reply to one, as tcpdump shows it.
type echo struct {
	reply   bool
	id, seq int
	stamp   int64 // the kernel's, ns since 1970
}

// 1763642400.123456789 IP 10.0.0.1 > 10.0.1.2: ICMP echo request, id 7, seq 1, length 64
var echoLine = regexp.MustCompile(`(?m)^(\d{1,10})\.(\d{9}) IP \S+ > \S+ ICMP echo (request|reply), id (\d{1,5}), seq (\d{1,5}),`)

// parseEchoes reads what `tcpdump -n -tt --time-stamp-precision=nano` prints and leaves out what is no echo.
func parseEchoes(printed string) []echo {
	var echoes []echo
	for _, m := range echoLine.FindAllStringSubmatch(printed, -1) {
		number := func(i int) int64 {
			v, _ := strconv.ParseInt(m[i], 10, 64) // digits only, and few: the pattern saw to that
			return v
		}
		echoes = append(echoes, echo{reply: m[3] == "reply", id: int(number(4)), seq: int(number(5)),
			stamp: number(1)*1e9 + number(2)})
	}
	return echoes
}

// roundTrips matches each request with its first reply and returns the times between, in seconds, in the order of
// the replies. Within one run of a ping, no (id, seq) may come twice: 65,536 requests at most.
func roundTrips(echoes []echo) []float64 {
	type key struct{ id, seq int }
	sent := map[key]int64{}
	var seconds []float64
	for _, e := range echoes {
		k := key{e.id, e.seq}
		if !e.reply {
			sent[k] = e.stamp
		} else if t, asked := sent[k]; asked {
			seconds = append(seconds, float64(e.stamp-t)/1e9)
			delete(sent, k)
		}
	}
	return seconds
}
