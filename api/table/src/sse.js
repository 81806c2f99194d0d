// Reads `text/event-stream` from a response: EventSource can send no Authorization header.

/** The messages of a stream, `{event, id, data}`; a comment gives one without an event. */
export async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let message = { event: "message", id: null, data: [] };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === "") {
          if (message.data.length) yield { ...message, data: message.data.join("\n") };
          message = { event: "message", id: null, data: [] };
          continue;
        }
        const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line);
        if (field === "") yield { event: null, id: null, data: text };
        else if (field === "data") message.data.push(text);
        else if (field in message) message[field] = text;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
