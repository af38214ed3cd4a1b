// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"time"
)

// saveSnapshot sends the state as a file. Clients compare its checksum with the header.
func saveSnapshot(c *call) error {
	saved, err := c.Server.SaveSnapshot()
	if err != nil {
		return err
	}
	defer saved.Close()
	h := c.w.Header()
	h["Content-Type"] = []string{"application/gzip"}
	h["Content-Length"] = []string{strconv.FormatInt(saved.Size, 10)}
	h["Digest"] = []string{"sha-256=" + base64.StdEncoding.EncodeToString(saved.SHA256[:])}
	c.setIndex(saved.Meta.Index)
	c.w.WriteHeader(http.StatusOK)
	// A failure ends the connection before the promised length: the client notices.
	_, _ = io.Copy(patientWriter{c.w, http.NewResponseController(c.w)}, saved.File)
	return nil
}

// restoreSnapshot replaces the state with that of the file in the body.
func restoreSnapshot(c *call) error {
	body := patientReader{c.r.Body, http.NewResponseController(c.w)}
	answer, err := c.Server.RestoreSnapshot(c.r.Context(), body)
	if err != nil {
		return err
	}
	return c.answerWrite(answer, answer.Index)
}

// A patientReader gives the client time for each part of a body.
type patientReader struct {
	io.Reader
	control *http.ResponseController
}

func (r patientReader) Read(b []byte) (int, error) {
	r.control.SetReadDeadline(time.Now().Add(readTimeout))
	n, err := r.Reader.Read(b)
	if err != nil {
		r.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// A patientWriter gives the client time for each part of an answer.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w patientWriter) Write(b []byte) (int, error) {
	w.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	return w.ResponseWriter.Write(b)
}
