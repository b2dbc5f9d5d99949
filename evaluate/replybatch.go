package evaluate

import "slices"

// readBatch reads a reply that judges several calls. It gives the verdicts that
// can be used, by id. An id that was not asked for is ignored, and so is one
// that was answered twice with different scores or whose verdict cannot be read:
// such calls are asked again alone, so that one bad item spoils no other.
func readBatch(text, nonce string, ids []string) (map[string]verdict, rungs, error) {
	var used rungs
	text, err := admit(text, nonce, &used)
	if err != nil {
		return nil, nil, err
	}
	found, err := verdictsIn(text, &used)
	if err != nil {
		return nil, used, err
	}
	used = slices.DeleteFunc(used, func(r string) bool { return r == rungShape }) // being wrapped is right here
	if slices.Contains(used, rungCut) && len(found) > 0 {
		found = found[:len(found)-1] // may have lost members
	}
	good, spoilt := map[string]verdict{}, map[string]bool{}
	for _, obj := range found {
		id := obj.text("id")
		if !slices.Contains(ids, id) {
			continue
		}
		v, err := readVerdict(obj, &used)
		if earlier, twice := good[id]; err != nil || twice && earlier.score != v.score {
			spoilt[id] = true
		}
		good[id] = v
	}
	for id := range spoilt {
		delete(good, id)
	}
	if len(good) == 0 {
		return nil, used, errNoVerdict
	}
	return good, used, nil
}
