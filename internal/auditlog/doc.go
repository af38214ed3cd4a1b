// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package auditlog stores records of requests in bounded, rotated files of a server, and reads them.
//
// A record must never delay or fail its request. Add puts it into a bounded queue, and one goroutine
// writes the queue to the files: without fsync, several records in one write. If the queue is full, or
// the disk, records are dropped: the log counts them, and contains a record with their number once it
// can write again. A flood of failing requests fills neither the queue nor the files:
// of one caller at one address, a few failed requests per second have records, and one more record counts
// the others.
package auditlog
