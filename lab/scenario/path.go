package scenario

import (
	"errors"
	"fmt"
	"strings"
)

// A path is a way into a JSON document, with dots between its parts:
//
//	metrics.loss_ratio                          keys of objects
//	samples.hops.0.addresses.0                  places in lists, from 0
//	samples.tcp_info[end=sender].rtt_seconds    a part of a list, and then that key of each of it
//	samples.tcp_info[end=sender].rtt_seconds.max
//
// After a list may stand min, max, mean, median, sum, first, last or count; the first five are of the numbers in it.
type path []part

type part struct {
	key    string
	filter map[string]string // nil: none
}

func parsePath(text string) (path, error) {
	var p path
	for text != "" {
		end := strings.IndexAny(text, ".[")
		if end < 0 {
			return append(p, part{key: text}), nil
		}
		one := part{key: text[:end]}
		if one.key == "" {
			break
		}
		if text[end] == '[' {
			inside, rest, closed := strings.Cut(text[end+1:], "]")
			if !closed {
				return nil, errors.New("want ] after [")
			}
			if one.filter = parseFilter(inside); one.filter == nil {
				return nil, fmt.Errorf("[%s]: want key=value between the brackets", inside)
			}
			text = rest
			if text != "" && text[0] != '.' {
				break
			}
			text = strings.TrimPrefix(text, ".")
			p = append(p, one)
			if text == "" {
				return p, nil
			}
			continue
		}
		p, text = append(p, one), text[end+1:]
	}
	return nil, errors.New("want keys with single dots between them, such as metrics.loss_ratio")
}

func parseFilter(text string) map[string]string {
	filter := map[string]string{}
	for condition := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(condition), "=")
		if !ok || key == "" {
			return nil
		}
		filter[key] = value
	}
	return filter
}

func (p path) String() string {
	var keys []string
	for _, one := range p {
		keys = append(keys, one.key)
	}
	return strings.Join(keys, ".")
}
