// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package store keeps unpacked layers and the images that consist of them on a node's disk.
//
//	tmp/               layers that are being unpacked or removed; emptied by Open
//	layers/HEX/fs      an unpacked layer, named by the digest of its archive
//	layers/HEX/layer.json   its size
//	images/HEX.json    an image, named by the digest of its manifest, with its leases
//
// A crash at any moment leaves a store that works. A layer is written below tmp, synced, and
// renamed: under layers every layer is complete. An image's record is replaced in one step
// after its layers are in place, and removed before them. Layers without an image can stem
// from a pull that did not finish. They speed up the next attempt, and Collect removes them.
//
// A lease names the image that an owner uses, usually an allocation's task. It is durable
// before Lease or Record returns, so it survives the agent, as the tasks do. Collect never
// removes a leased image, nor a layer that an image or a running pull needs.
package store
