// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"unicode"
)

// An ImagePin is the image that all instances of a version of a job run: the digest behind the tag when
// the first of them started. The tag may lead elsewhere since.
type ImagePin struct {
	Namespace      string
	JobID          string
	JobVersion     uint64
	JobCreateIndex uint64
	TaskGroup      string
	Task           string
	Image          string // as the task's config names it
	Digest         string // such as sha256:0123...
	NodeID         string // that resolved the tag
	AllocID        string // for which it did
	Time           int64  // Unix nanoseconds

	CreateIndex uint64
	ModifyIndex uint64
}

// MaxImageName is the number of bytes that the name of an image in a pin may have.
const MaxImageName = 512

// An ImagePinRequest is a node's request for the image of a task that it starts.
type ImagePinRequest struct {
	AllocID string
	Task    string
	Image   string // as the task's config names it
	Digest  string // that the node found behind the tag; "": the node asks for the pin only
}

// An ImagePinResponse holds the digest to run.
type ImagePinResponse struct {
	Digest string // "": no instance of the version has resolved the tag yet
	Pinned bool   // reports whether all instances of the version run it
}

// Check rejects a request that no node makes.
func (r *ImagePinRequest) Check() error {
	switch {
	case r.AllocID == "" || r.Task == "":
		return Errorf(CodeInvalid, "AllocID and Task must not be empty")
	case r.Image == "" || len(r.Image) > MaxImageName || strings.ContainsFunc(r.Image, func(c rune) bool { return c == unicode.ReplacementChar || unicode.IsSpace(c) || !unicode.IsPrint(c) }):
		return Errorf(CodeInvalid, "Image: must be the name of an image, of at most %d printable bytes", MaxImageName)
	case r.Digest != "" && !IsImageDigest(r.Digest):
		return Errorf(CodeInvalid, "Digest %.80q: must be sha256: and 64 digits in lower case", r.Digest)
	}
	return nil
}

// IsImageDigest reports whether text is a SHA-256 in the form of image registries.
func IsImageDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}
