package compact

// FactSpans gives the fitting of weights the texts that facts are taken from.
var FactSpans = factSpans
