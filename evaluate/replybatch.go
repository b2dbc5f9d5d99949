package evaluate

import "slices"

// readBatch reads a reply that judges several calls. It gives the evaluations that
// can be used, by id. An id that was not asked for is ignored, and so is one
// that was answered twice with different scores or whose evaluation cannot be read:
// such calls are asked again alone, so that one bad item spoils no other.
func readBatch(text, nonce string, ids []string) (map[string]answer, repairs, error) {
	var used repairs
	text, err := admit(text, nonce, &used)
	if err != nil {
		return nil, nil, err
	}
	found, err := answersIn(text, &used)
	if err != nil {
		return nil, used, err
	}
	used = slices.DeleteFunc(used, func(r string) bool { return r == repairShape }) // being wrapped is right here
	if slices.Contains(used, repairCut) && len(found) > 0 {
		found = found[:len(found)-1] // may have lost members
	}
	good, spoilt := map[string]answer{}, map[string]bool{}
	for _, obj := range found {
		id := obj.text("id")
		if !slices.Contains(ids, id) {
			continue
		}
		v, err := readAnswer(obj, &used)
		if earlier, twice := good[id]; err != nil || twice && earlier.score != v.score {
			spoilt[id] = true
		}
		good[id] = v
	}
	for id := range spoilt {
		delete(good, id)
	}
	if len(good) == 0 {
		return nil, used, errNoScoreFound
	}
	return good, used, nil
}
