// The byte order mark, which editors put at the start of a text. It is invisible, so it belongs to no text of a user.
const MARK = '\uFEFF'

/** Returns the text without a byte order mark at its start. */
export function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(1) : text
}

/** Whether the text contains a byte order mark, also as an escape of JSON. */
export function mayContainMark(json: string): boolean {
  return json.includes(MARK) || /\\ufeff/i.test(json)
}

/** Removes the byte order mark at the start of every text in a JSON value. */
export function removeMarks(value: unknown): unknown {
  const root = { value }
  const waiting: object[] = [root]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const [key, inner] of Object.entries(at)) {
      if (typeof inner === 'string') Object.assign(at, { [key]: withoutMark(inner) })
      else if (typeof inner === 'object' && inner !== null) waiting.push(inner)
    }
  }
  return root.value
}
