// Server-sent events read by fetch, because only fetch can send a key; it connects again by itself.

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const GIVE_UP_MS = 15_000; // without a byte for so long, a connection is as good as lost

export class Stream {
  // handlers: event(name, data), state(name, { retryAt, detail })
  constructor(url, headers, handlers) {
    this.url = url;
    this.headers = headers;
    this.handlers = handlers;
    this.wait = FIRST_WAIT_MS;
    this.timer = 0;
    this.controller = null;
  }

  start() {
    clearTimeout(this.timer);
    this.controller?.abort();
    this.controller = new AbortController();
    this.read(this.controller);
  }

  async read(controller) {
    this.handlers.state("connecting", {});
    let detail = "the connection ended";
    const patience = { timer: 0 };
    this.expect(controller, patience);
    try {
      const response = await fetch(this.url, {
        headers: this.headers(), signal: controller.signal, cache: "no-store",
      });
      if (response.status === 401 || response.status === 403) {
        this.handlers.state("refused", { detail: await problemText(response) });
        return;
      }
      if (!response.ok) throw new Error(await problemText(response));
      for await (const [name, data] of events(response.body, () => this.expect(controller, patience))) {
        this.wait = FIRST_WAIT_MS;
        this.handlers.event(name, data);
      }
    } catch (error) {
      detail = error instanceof TypeError ? "the service does not answer" : String(error.message ?? error);
    } finally {
      clearTimeout(patience.timer);
    }
    if (controller !== this.controller) return; // another connection has taken over
    this.handlers.state("disconnected", { detail, retryAt: Date.now() + this.wait });
    this.timer = setTimeout(() => this.start(), this.wait);
    this.wait = Math.min(LONGEST_WAIT_MS, this.wait * 2);
  }

  expect(controller, patience) {
    clearTimeout(patience.timer);
    patience.timer = setTimeout(() => controller.abort(new Error("the service fell silent")), GIVE_UP_MS);
  }
}

async function* events(body, onBytes) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)];
      }));
      if (fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

export async function problemText(response) {
  try {
    return (await response.json()).detail;
  } catch {
    return `HTTP ${response.status}`;
  }
}
