// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package container

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/image/store"
)

// A census says who needs which image. It holds for the images that it was taken of.
type census struct {
	users map[v1.Hash][]*api.NodeImageUser // a key for each image
	away  error                            // why the servers did not answer; nil: they did
}

// takeCensus asks the servers about the jobs that ran the store's images here.
func (d *Driver) takeCensus(ctx context.Context, claims driver.ImageClaims) *census {
	c := &census{users: map[v1.Hash][]*api.NodeImageUser{}}
	var uses []*api.ImageUse
	asked := map[string]*api.ImageUse{}
	images := d.images.Store.Images()
	for _, i := range images {
		for _, u := range i.Uses {
			if key := useKey(u.Namespace, u.JobID, u.Digest); api.IsImageDigest(u.Digest) && u.Ahead == nil && asked[key] == nil {
				asked[key] = &api.ImageUse{Namespace: u.Namespace, JobID: u.JobID, Digest: u.Digest}
				uses = append(uses, asked[key])
			}
		}
	}
	needed := map[string]*api.ImageUse{}
	if len(uses) > 0 {
		answer, err := claims.NeededImages(ctx, uses)
		c.away = err
		for _, u := range answer {
			if u != nil {
				needed[useKey(u.Namespace, u.JobID, u.Digest)] = u
			}
		}
	}
	for _, i := range images {
		users := []*api.NodeImageUser{}
		for _, u := range slices.Backward(i.Uses) {
			user := &api.NodeImageUser{Namespace: u.Namespace, JobID: u.JobID, Digest: u.Digest, LastUsed: u.At.UnixNano()}
			for _, a := range u.Allocs {
				if claims.Lives(a) {
					user.AllocIDs = append(user.AllocIDs, a)
				}
			}
			if u.Ahead != nil {
				user.Prefetched = &api.NodeImagePrefetch{JobVersion: *u.Ahead, Pending: claims.Prefetches(u.Namespace, u.JobID, *u.Ahead)}
			} else if n := needed[useKey(u.Namespace, u.JobID, u.Digest)]; n != nil {
				user.JobVersions = n.JobVersions
			}
			users = append(users, user)
		}
		c.users[i.Digest] = users
	}
	return c
}

func useKey(namespace, job, digest string) string { return namespace + "\x00" + job + "\x00" + digest }

// hold returns why an image without containers stays. The image of a job that may be registered
// stays while the servers do not answer.
func (c *census) hold(i *store.Image) string {
	users, known := c.users[i.Digest]
	if !known {
		return "it is new"
	}
	for _, u := range users {
		if len(u.AllocIDs) > 0 {
			return fmt.Sprintf("allocation %s of job %s needs it to restart", api.ShortID(u.AllocIDs[len(u.AllocIDs)-1]), u.JobID)
		}
	}
	for _, u := range users {
		if len(u.JobVersions) > 0 {
			return fmt.Sprintf("job %s needs it for %s", u.JobID, versionList(u.JobVersions))
		}
	}
	for _, u := range users {
		if p := u.Prefetched; p != nil && p.Pending {
			return fmt.Sprintf("prefetched for job %s version %d", u.JobID, p.JobVersion)
		}
	}
	for _, u := range users {
		if c.away != nil && u.Digest != "" && u.Prefetched == nil {
			return fmt.Sprintf("the servers do not answer, and job %s may need it", u.JobID)
		}
	}
	return ""
}

func versionList(versions []uint64) string {
	var words []string
	for _, v := range versions {
		words = append(words, fmt.Sprint(v))
	}
	if len(words) == 1 {
		return "version " + words[0]
	}
	return "versions " + strings.Join(words, ", ")
}

// ListImages describes the images, and what the next collection does with them.
func (d *Driver) ListImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error) {
	usage, err := d.usage()
	if err != nil {
		return nil, err
	}
	return d.describe(d.takeCensus(ctx, claims), usage), nil
}

// CollectImages removes the images that no allocation and no registered job needs, immediately and
// although the disk has room.
func (d *Driver) CollectImages(ctx context.Context, claims driver.ImageClaims) (*api.NodeImages, error) {
	if _, err := d.usage(); err != nil {
		return nil, err
	}
	c := d.takeCensus(ctx, claims)
	everything := store.Usage{Used: 1 << 60, Total: 1 << 60}
	exclusive := d.images.Store.Exclusive()
	verdicts, err := d.images.Store.Collect(store.Policy{}, everything, c.hold)
	d.logRemoved(verdicts)
	if err != nil {
		return nil, fmt.Errorf("collect images: %w", err)
	}
	usage, err := d.usage()
	if err != nil {
		return nil, err
	}
	list := d.describe(c, usage)
	for _, v := range verdicts {
		if v.Removed {
			list.RemovedBytes += v.Frees
		}
		if v.Removed && v.Image != nil {
			v.Reason = "no allocation and no registered job needs it"
			list.Removed = append(list.Removed, describeImage(v, c, exclusive))
		}
	}
	return list, nil
}

// usage measures the disk of the store.
func (d *Driver) usage() (store.Usage, error) {
	if d.images == nil {
		return store.Usage{}, api.Errorf(api.CodeUnavailable, "this node keeps no images: %v", d.broken)
	}
	return d.images.Store.DiskUsage()
}

// describe says what the next collection would do.
func (d *Driver) describe(c *census, usage store.Usage) *api.NodeImages {
	p := d.cfg.Collection
	list := &api.NodeImages{
		Images: []*api.NodeImage{}, SizeBytes: d.images.Store.Size(), DiskUsedBytes: usage.Used, DiskTotalBytes: usage.Total,
		DiskHigh: p.High, DiskLow: p.Low, MaxSizeBytes: p.MaxBytes, Delay: p.Keep, NextCollection: d.nextLook.Load(), ServersAway: c.away != nil,
	}
	list.Full = p.Exceeded(usage, list.SizeBytes)
	exclusive := d.images.Store.Exclusive()
	for _, v := range d.images.Store.Preview(p, usage, c.hold) {
		if v.Image != nil {
			list.Images = append(list.Images, describeImage(v, c, exclusive))
		}
	}
	slices.SortStableFunc(list.Images, func(a, b *api.NodeImage) int {
		if a.Held != b.Held {
			return cmp.Compare(b.Order, a.Order)
		}
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.LastUsed, b.LastUsed))
	})
	return list
}

func describeImage(v store.Verdict, c *census, exclusive map[v1.Hash]int64) *api.NodeImage {
	i := v.Image
	return &api.NodeImage{
		Digest: i.Digest.String(), Names: i.Names, Platform: i.Platform, SizeBytes: i.Size(), ExclusiveBytes: exclusive[i.Digest],
		LastUsed: i.LastUsed.UnixNano(), Containers: len(i.Leases), Users: c.users[i.Digest], Held: v.Held, Order: v.Order, Next: v.Removed, Reason: v.Reason,
	}
}
