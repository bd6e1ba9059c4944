// The model of the week: a server that speaks Chat Completions, wants its key,
// does what the person tells it, and remembers every request, so that the week can
// ask what a model was really shown.
//
//   CALL name {json}     calls the tool, then tells what it said; the text before
//                        CALL is said first
//   slowly N             N words, 50 ms apart
//   anything else        "You said: …", and how many pictures it was shown if any
import { createServer } from 'node:http';

export const key = 'sk-week-0123456789abcdef0123456789abcdef';

const textOf = (content) => (typeof content === 'string' ? content : (content ?? []).map((p) => p.text ?? '').join(''));
const picturesIn = (content) => (Array.isArray(content) ? content.filter((p) => p.type === 'image_url').length : 0);

export function startModel() {
  const requests = [];
  let calls = 0;
  const server = createServer(async (req, res) => {
    if (req.headers.authorization !== `Bearer ${key}`) {
      res.writeHead(401, { 'content-type': 'application/json' });
      return res.end(JSON.stringify({ error: { message: 'Incorrect API key provided', type: 'invalid_request_error', code: 'invalid_api_key' } }));
    }
    if (req.method === 'GET') {
      res.setHeader('content-type', 'application/json');
      return res.end(JSON.stringify({ object: 'list', data: [{ id: 'week', object: 'model' }] }));
    }
    let body = '';
    for await (const chunk of req) body += chunk;
    const ask = JSON.parse(body);
    requests.push(ask);
    const said = plan(ask);
    const send = writer(res, ask);
    for (const word of said.words ?? [said.text]) {
      if (word) send({ content: word });
      if (said.words) await new Promise((r) => setTimeout(r, 50));
      if (res.destroyed) return;
    }
    if (said.call) send({ tool_calls: [{ index: 0, id: `call-${++calls}`, type: 'function', function: said.call }] });
    send({}, said.call ? 'tool_calls' : 'stop');
    send.end();
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve({
      url: `http://127.0.0.1:${server.address().port}/v1`,
      requests,
      /** shown are the requests whose last words of a person hold text. */
      shown: (text) => requests.filter((r) => textOf(lastOf(r.messages, 'user')?.content).includes(text)),
      /** all is everything that a request holds, as one text. */
      all: (r) => JSON.stringify(r.messages),
      stop: () => (server.closeAllConnections(), server.close()),
    }));
  });
}

const lastOf = (messages, role) => messages.filter((m) => m.role === role).at(-1);

function plan({ messages }) {
  const last = messages.at(-1);
  if (last.role === 'tool') return { text: `It said: ${textOf(last.content).slice(0, 600)}` };
  const { content } = lastOf(messages, 'user') ?? {};
  const text = textOf(content);
  const call = /^([^\n]*?)CALL (\w+) (\{.*\})\s*$/m.exec(text);
  if (call) return { text: call[1].replace(/^.*\] /, ''), call: { name: call[2], arguments: call[3] } };
  const tried = /Call the tool (\w+) with (\{.*\})/.exec(text); // how Hearth tries a model out
  if (tried) return { text: '', call: { name: tried[1], arguments: tried[2] } };
  const slowly = /slowly (\d+)/.exec(text);
  if (slowly) return { words: Array.from({ length: Number(slowly[1]) }, (_, i) => `w${i + 1} `) };
  const pictures = picturesIn(content);
  return { text: `You said: ${text.split('\n').at(-1)}${pictures ? ` (and I see ${pictures} picture)` : ''}` };
}

/** writer streams, or gathers for clients that want one piece. */
function writer(res, ask) {
  const whole = { content: '', tool_calls: undefined, finish: 'stop' };
  const send = (delta, finish = null) => {
    if (ask.stream) {
      const chunk = { id: 'm', object: 'chat.completion.chunk', model: ask.model, choices: [{ index: 0, delta, finish_reason: finish }] };
      res.write(`data: ${JSON.stringify(chunk)}\n\n`);
      return;
    }
    whole.content += delta.content ?? '';
    whole.tool_calls = delta.tool_calls ?? whole.tool_calls;
    whole.finish = finish ?? whole.finish;
  };
  send.end = () => {
    if (ask.stream) return res.end('data: [DONE]\n\n');
    const { content, tool_calls, finish } = whole;
    res.end(JSON.stringify({ id: 'm', object: 'chat.completion', model: ask.model, choices: [{ index: 0, message: { role: 'assistant', content, tool_calls }, finish_reason: finish }] }));
  };
  res.setHeader('content-type', ask.stream ? 'text/event-stream' : 'application/json');
  return send;
}
