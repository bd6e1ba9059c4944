// Package openaiserver is inbound HTTP for other programs: endpoints in the form of
// OpenAI's API (chat completions, responses, models, embeddings). It owns how
// such requests are read and answered, which conversation one belongs to, and
// tools that the program runs itself: the model's call goes out with one answer
// and its result comes in with the next request.
//
// It does not decide who may come in (Options.Admit does), knows no engine (see
// Engine) and opens no port: gateway/server mounts its Handler behind the gate.
// Everything is refused while its endpoints are switched off, which they are
// unless somebody turns them on.
package openaiserver
