// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// NodeImages writes the images of a node: those that collections remove first come first.
func NodeImages(p *term.Page, n *api.NodeImages, wide bool) {
	id, limit := n.NodeID, "no limit"
	if !wide {
		id = api.ShortID(id)
	}
	if n.MaxSizeBytes > 0 {
		limit = "at most " + human.Bytes(n.MaxSizeBytes)
	}
	p.Fields(
		term.Field{"Node", id},
		term.Field{"Images", fmt.Sprintf("%d, %s on the disk, %s", len(n.Images), human.Bytes(n.SizeBytes), limit)},
		term.Field{"Disk", diskUse(n)},
		term.Field{"Collection", collection(p.Now, n)},
	)
	if n.ServersAway {
		p.Line("The servers do not answer the node: it keeps every image that a registered job may need.")
	}
	prefetches(p, n.Prefetches)
	if len(n.Images) == 0 {
		p.Line("No images. The node pulls an image when it starts a container of it.")
		return
	}
	p.Section("Images")
	var rows [][]string
	for _, i := range n.Images {
		rows = append(rows, []string{
			imageName(i, wide), shortDigest(i.Digest, wide), human.Bytes(i.SizeBytes), human.Bytes(i.ExclusiveBytes),
			strconv.Itoa(i.Containers), human.NanosAge(p.Now, i.LastUsed), imageUsers(i, wide), fate(i),
		})
	}
	p.TableLess([]string{"Image", "Digest", "Size", "Frees", "Running", "Last Used", "Used By", "Next Collection"}, rows, "Frees", "Digest", "Running", "Used By")
}

// prefetches writes the images that the node pulls ahead of rollouts.
func prefetches(p *term.Page, list []*api.NodePrefetch) {
	if len(list) == 0 {
		return
	}
	p.Section("Prefetches")
	var rows [][]string
	for _, f := range list {
		job := f.JobID
		if f.Namespace != api.DefaultNamespace {
			job += "@" + f.Namespace
		}
		status := f.Status
		if f.Message != "" {
			status += ": " + f.Message
		}
		rows = append(rows, []string{job, strconv.FormatUint(f.JobVersion, 10), f.Task, human.Dash(f.Image), status})
	}
	p.TableLess([]string{"Job", "Version", "Task", "Image", "Status"}, rows, "Task")
}

// CollectedImages writes what a requested collection removed.
func CollectedImages(p *term.Page, n *api.NodeImages) {
	if n.ServersAway {
		p.Line("The servers do not answer the node: it keeps every image that a registered job may need.")
	}
	for _, i := range n.Removed {
		p.Line("Removed %s (%s)", imageName(i, false), shortDigest(i.Digest, false))
	}
	p.Line("Removed %s, freed %s; %s.", human.Count(len(n.Removed), "image", "images"), human.Bytes(n.RemovedBytes), human.Count(len(n.Images), "image stays", "images stay"))
}

func diskUse(n *api.NodeImages) string {
	if n.DiskTotalBytes <= 0 {
		return "unknown"
	}
	return fmt.Sprintf("%s of %s (%.0f%%)", human.Bytes(n.DiskUsedBytes), human.Bytes(n.DiskTotalBytes), 100*float64(n.DiskUsedBytes)/float64(n.DiskTotalBytes))
}

// collection says when the node removes images.
func collection(now time.Time, n *api.NodeImages) string {
	when := "soon"
	if n.NextCollection > 0 {
		when = human.Until(now, time.Unix(0, n.NextCollection))
	}
	rule := fmt.Sprintf("above %.0f%% of the disk", 100*n.DiskHigh)
	if n.MaxSizeBytes > 0 {
		rule += " or " + human.Bytes(n.MaxSizeBytes)
	}
	if !n.Full {
		return fmt.Sprintf("next look %s; removes nothing now, and images in this order %s", when, rule)
	}
	return fmt.Sprintf("%s, because the images or the disk are %s", when, rule)
}

func fate(i *api.NodeImage) string {
	switch {
	case i.Next:
		return "removes it: " + i.Reason
	case i.Held && i.Containers > 0:
		return "keeps it: in use"
	case i.Held:
		return "keeps it: " + i.Reason
	}
	return fmt.Sprintf("keeps it, %s in the order: %s", ordinal(i.Order), i.Reason)
}

func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// imageName returns the name with a tag if the image has one.
func imageName(i *api.NodeImage, wide bool) string {
	if wide || len(i.Names) == 0 {
		return human.Dash(strings.Join(i.Names, ", "))
	}
	name := i.Names[len(i.Names)-1]
	for _, n := range i.Names {
		if !strings.Contains(n, "@") {
			name = n
		}
	}
	repository, _, _ := strings.Cut(name, "@")
	return repository
}

func shortDigest(digest string, wide bool) string {
	if wide || len(digest) < 19 {
		return digest
	}
	return digest[:19]
}

// imageUsers lists jobs: those with allocations or registered versions first, the others in parentheses.
func imageUsers(i *api.NodeImage, wide bool) string {
	var present, former []string
	for _, u := range i.Users {
		name := u.JobID
		if u.Namespace != api.DefaultNamespace {
			name += "@" + u.Namespace
		}
		if u.Prefetched != nil && u.Prefetched.Pending {
			present = append(present, fmt.Sprintf("%s: prefetched for version %d", name, u.Prefetched.JobVersion))
			continue
		}
		if len(u.JobVersions) == 0 && len(u.AllocIDs) == 0 {
			former = append(former, "("+name+")")
			continue
		}
		var about []string
		if len(u.JobVersions) > 0 {
			about = append(about, human.Count(len(u.JobVersions), "version", "versions"))
		}
		if len(u.AllocIDs) > 0 {
			about = append(about, human.Count(len(u.AllocIDs), "allocation", "allocations"))
		}
		present = append(present, name+": "+strings.Join(about, ", "))
	}
	all := append(present, former...)
	if extra := len(all) - 3; extra > 0 && !wide {
		all = append(all[:3], fmt.Sprintf("and %d more", extra))
	}
	return human.Dash(strings.Join(all, "; "))
}
