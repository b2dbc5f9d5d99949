package chat

// ErrSyntax is part of the errors of Parse.
var ErrSyntax = errSyntax
