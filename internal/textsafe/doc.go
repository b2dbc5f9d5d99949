// Package textsafe makes foreign text fit to be stored, shown or passed on. It
// is the one home of what a secret looks like, which characters nobody sees,
// which texts try to steer their reader, and of cutting between characters.
//
// All functions are pure, take any bytes and return valid results for invalid
// UTF-8. They scan in linear time.
package textsafe
