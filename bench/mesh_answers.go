package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// askEvery is how often a Result that was just filed is asked for: enough for a 99th percentile, and little beside the
// Results themselves.
const askEvery = 40 * time.Millisecond

// answered is what of a Result says when its measurement ended.
type answered struct {
	ID              string    `json:"id"`
	Started         time.Time `json:"started"`
	DurationSeconds float64   `json:"duration_seconds"`
}

// open asks the controller's API. The body is to be closed.
func (c *controller) open(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://controller/api/v1/"+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask controller: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("ask controller for %s: %s", path, answer.Status)
	}
	return answer.Body, nil
}

// answers follows what the controller files, for a while, asks for some of these Results by their ID, and returns how many
// seconds after since each was in our hands. A nil since, or one that does not know, stands for the end of its measurement.
func (c *controller) answers(ctx context.Context, long time.Duration, since func(id string) (time.Time, bool)) ([]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	events, err := c.open(ctx, "events")
	if err != nil {
		return nil, err
	}
	defer events.Close()
	var ages []float64
	var next time.Time
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("follow what is filed: %w", err)
		}
		data, is := bytes.CutPrefix(line, []byte("data: "))
		if !is || time.Now().Before(next) {
			continue
		}
		var event struct{ Result *answered }
		if err := json.Unmarshal(data, &event); err != nil {
			return nil, fmt.Errorf("follow what is filed: %w", err)
		}
		if event.Result == nil {
			continue
		}
		var result answered
		if err := c.get(ctx, "results/"+event.Result.ID, &result); err != nil {
			if ctx.Err() != nil {
				continue
			}
			return nil, err
		}
		next = time.Now().Add(askEvery)
		from, known := since(result.ID)
		if !known {
			from = result.Started.Add(time.Duration(result.DurationSeconds * float64(time.Second)))
		}
		ages = append(ages, time.Since(from).Seconds())
	}
}
