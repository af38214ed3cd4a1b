// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package auditsink copies the records of an audit log to other places: a file, or a collector by HTTP.
//
// The files of the log are the queue. A sink has a cursor, a position in these files, which it stores beside
// them after each delivery. Therefore a receiver that is absent costs neither memory nor records until the log
// deletes its oldest file, and requests never wait for a receiver. A record may arrive twice, if the
// process or the connection ends between a delivery and the cursor. Its ID tells receivers so.
package auditsink
