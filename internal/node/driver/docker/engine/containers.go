// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// A Container is what the daemon knows of a container.
type Container struct {
	ID      string `json:"Id"`
	Created time.Time
	Name    string // begins with a slash
	State   State
	Config  struct {
		User       string
		Labels     map[string]string
		StopSignal string
		Tty        bool
	}
}

// State is the state of a container.
type State struct {
	Status     string // created, running, exited, dead, ...
	Running    bool
	OOMKilled  bool
	Pid        int
	ExitCode   int
	Error      string
	StartedAt  time.Time
	FinishedAt time.Time
}

// Create makes a container from a description in the API's JSON, and returns its id.
func (c *Client) Create(ctx context.Context, name string, description any) (string, error) {
	var made struct {
		ID string `json:"Id"`
	}
	err := c.call(ctx, http.MethodPost, "/containers/create", url.Values{"name": {name}}, description, &made)
	return made.ID, err
}

// Start starts a container.
func (c *Client) Start(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/start", nil, nil, nil)
}

// Inspect describes a container, by id or name.
func (c *Client) Inspect(ctx context.Context, id string) (*Container, error) {
	var found Container
	if err := c.call(ctx, http.MethodGet, "/containers/"+id+"/json", nil, nil, &found); err != nil {
		return nil, err
	}
	return &found, nil
}

// Wait returns when a container does not run.
func (c *Client) Wait(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/wait", url.Values{"condition": {"not-running"}}, nil, nil)
}

// Kill sends a signal to a container's first process.
func (c *Client) Kill(ctx context.Context, id, signal string) error {
	return c.call(ctx, http.MethodPost, "/containers/"+id+"/kill", url.Values{"signal": {signal}}, nil, nil)
}

// Remove kills and removes a container with its anonymous volumes. A missing one is no error.
func (c *Client) Remove(ctx context.Context, id string) error {
	err := c.call(ctx, http.MethodDelete, "/containers/"+id, url.Values{"force": {"1"}, "v": {"1"}}, nil, nil)
	if IsMissing(err) {
		return nil
	}
	return err
}

// A Listed is a container in a list.
type Listed struct {
	ID      string `json:"Id"`
	Created int64  // Unix seconds
	Labels  map[string]string
}

// List lists the containers with a label, ended ones too.
func (c *Client) List(ctx context.Context, label string) (list []Listed, err error) {
	filters, err := json.Marshal(map[string][]string{"label": {label}})
	if err != nil {
		return nil, err
	}
	return list, c.call(ctx, http.MethodGet, "/containers/json", url.Values{"all": {"1"}, "filters": {string(filters)}}, nil, &list)
}

// Stats holds a container's usage.
type Stats struct {
	Read   time.Time
	Memory struct {
		Usage int64
		Stats map[string]int64
	} `json:"memory_stats"`
	CPU struct {
		Usage struct {
			Total int64 `json:"total_usage"` // nanoseconds
		} `json:"cpu_usage"`
	} `json:"cpu_stats"`
	PIDs struct {
		Current int
	} `json:"pids_stats"`
}

// Stats measures a container.
func (c *Client) Stats(ctx context.Context, id string) (s Stats, err error) {
	query := url.Values{"stream": {"0"}, "one-shot": {"1"}}
	return s, c.call(ctx, http.MethodGet, "/containers/"+id+"/stats", query, nil, &s)
}

// maxFile bounds a file that is read from a container, in bytes.
const maxFile = 1 << 20

// File reads a regular file of a container; a missing one is empty.
func (c *Client) File(ctx context.Context, id, path string) ([]byte, error) {
	answer, err := c.send(ctx, http.MethodGet, "/containers/"+id+"/archive", url.Values{"path": {path}}, nil, nil)
	if IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	archive := tar.NewReader(io.LimitReader(answer.Body, 2*maxFile))
	h, err := archive.Next()
	if err != nil {
		return nil, err
	}
	if h.Typeflag != tar.TypeReg {
		return nil, nil
	}
	text, err := io.ReadAll(io.LimitReader(archive, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("the image's " + path + " is larger than " + strconv.Itoa(maxFile) + " bytes")
	}
	return text, err
}
