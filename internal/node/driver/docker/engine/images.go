// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// An Image is an image of the daemon.
type Image struct {
	ID          string `json:"Id"`
	Size        int64
	RepoDigests []string // names with digests, of images from a registry
	Config      struct {
		User       string
		StopSignal string
	}
}

// Image describes an image, by name or id.
func (c *Client) Image(ctx context.Context, name string) (*Image, error) {
	var i Image
	if err := c.call(ctx, http.MethodGet, "/images/"+name+"/json", nil, nil, &i); err != nil {
		return nil, err
	}
	return &i, nil
}

// A Login is a user of a registry.
type Login struct {
	User     string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	Token    string `json:"identitytoken,omitempty"`
	Server   string `json:"serveraddress,omitempty"`
}

const authHeader = "X-Registry-Auth"

// header returns the header of a request with the login, which may be nil.
func (l *Login) header() (http.Header, error) {
	header := http.Header{}
	if l == nil {
		return header, nil
	}
	text, err := json.Marshal(l)
	header.Set(authHeader, base64.URLEncoding.EncodeToString(text))
	return header, err
}

// Digest returns the digest behind a tag at its registry, which is the index's if the image has several platforms.
func (c *Client) Digest(ctx context.Context, name string, login *Login) (string, error) {
	header, err := login.header()
	if err != nil {
		return "", err
	}
	answer, err := c.send(ctx, http.MethodGet, "/distribution/"+name+"/json", nil, nil, header)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var found struct{ Descriptor struct{ Digest string } }
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&found); err != nil {
		return "", c.broken(ctx, err)
	}
	return found.Descriptor.Digest, nil
}

// A Progress is the state of a layer during a pull.
type Progress struct {
	Layer          string
	Current, Total int64
}

// ErrSilent is the cause of a pull that ended because the daemon reported nothing.
var ErrSilent = errors.New("the daemon reported no progress")

// Pull makes the daemon pull an image. It gives up if the daemon reports nothing for the given time.
func (c *Client) Pull(ctx context.Context, name string, login *Login, silence time.Duration, report func(Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := time.AfterFunc(silence, func() { cancel(fmt.Errorf("%w for %s", ErrSilent, silence)) })
	defer watchdog.Stop()
	header, err := login.header()
	if err != nil {
		return err
	}
	answer, err := c.send(ctx, http.MethodPost, "/images/create", url.Values{"fromImage": {name}}, nil, header)
	if err == nil {
		defer answer.Body.Close()
		err = c.follow(ctx, answer.Body, func(p Progress) {
			watchdog.Reset(silence)
			report(p)
		})
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Load gives the daemon an archive of images.
func (c *Client) Load(ctx context.Context, archive io.Reader) error {
	answer, err := c.send(ctx, http.MethodPost, "/images/load", url.Values{"quiet": {"1"}}, archive, http.Header{"Content-Type": {"application/x-tar"}})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return c.follow(ctx, answer.Body, func(Progress) {})
}

// follow reads the messages of a long operation.
func (c *Client) follow(ctx context.Context, body io.Reader, report func(Progress)) error {
	messages := json.NewDecoder(body)
	for {
		var m struct {
			ID             string
			Error          string
			ProgressDetail struct{ Current, Total int64 }
		}
		switch err := messages.Decode(&m); {
		case err == io.EOF:
			return nil
		case err != nil:
			return c.broken(ctx, err)
		case m.Error != "":
			return &Error{http.StatusBadGateway, m.Error}
		}
		report(Progress{m.ID, m.ProgressDetail.Current, m.ProgressDetail.Total})
	}
}
