package sound

// ConvertUpTo is Convert with another limit.
var ConvertUpTo = convert
