//go:build memoryd_nonet

package textsafe

const net = false
