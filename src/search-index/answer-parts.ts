// The parts of an answer's body, found without parsing it: a hit begins with a key that begins nothing else, and inside of
// a JSON text its quotes would be escaped.

const HITS = '{"hits":['
const HIT = '{"version_id":'
const END = '],"page":'

/** The bytes of each hit of a response body as the port gives it, as views of the body, in their order. */
export function hitsOf(body: Uint8Array): Buffer[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const end = bytes.lastIndexOf(END)
  const hits: Buffer[] = []
  let start = HITS.length
  while (start < end) {
    const next = bytes.indexOf(HIT, start + HIT.length)
    // Between two hits stands a comma.
    const hitEnd = next < 0 ? end : next - 1
    hits.push(bytes.subarray(start, hitEnd))
    start = hitEnd + 1
  }
  return hits
}
