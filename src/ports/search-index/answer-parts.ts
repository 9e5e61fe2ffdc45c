// The parts of an answer's body, found without parsing it: a hit begins with a key that begins nothing else, and inside of
// a JSON text its quotes would be escaped.

const HITS = '{"hits":['
const HIT = '{"version_id":'
const END = '],"page":'
/** A hit's beginning of this length holds its version and its project. */
const HEAD_LENGTH = 80

/** `head` begins with the hit's IDs, so that the heads of different projects and versions differ. */
export type HitPart = { head: string; bytes: Buffer }

/** Each hit of a response body as the port gives it, in their order; the bytes are views of the body. */
export function hitsOf(body: Uint8Array): HitPart[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  // One character for each byte. Converted once: looking for text in bytes converts what is looked for, at each hit.
  const text = bytes.toString('latin1')
  const end = text.lastIndexOf(END)
  const hits: HitPart[] = []
  let start = HITS.length
  while (start < end) {
    const next = text.indexOf(HIT, start + HIT.length)
    // Between two hits stands a comma.
    const hitEnd = next < 0 ? end : next - 1
    const head = text.slice(start, Math.min(start + HEAD_LENGTH, hitEnd))
    hits.push({ head, bytes: bytes.subarray(start, hitEnd) })
    start = hitEnd + 1
  }
  return hits
}
