// Package textsafe makes untrusted text fit to be stored, shown or forwarded. It alone
// defines what a secret looks like and which characters are invisible. It also cuts texts
// between characters.
//
// All functions are pure, accept any bytes, return valid results for invalid UTF-8, and run
// in linear time.
package textsafe
