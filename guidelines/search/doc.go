// Package search finds tools by what their guidelines mean, beside the words that
// the store looks for. It keeps a vector of each tool's guideline, which a model
// makes, in records of the tool's workspace, compares a query's vector with all of
// them, and joins that order with the store's.
//
// Vectors are an extra. They are written in the background, and whatever fails on
// the way of a query (no model, no answer in time, no vectors yet) leaves the
// store's answer as it is. A vector that was lost or is out of date is made again:
// an Index is told of each guideline that is written and, in rounds, of all tools.
package search
