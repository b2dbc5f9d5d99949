// Package spool puts a local journal before a remote store, so that recording and
// retrieving go on while that is away. It is the mode `spool` of the Qdrant
// backend; the local store is the embedded one, in a directory of this process
// alone.
package spool
