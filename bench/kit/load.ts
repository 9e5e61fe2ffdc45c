// A load generator on raw sockets, in a separate process so that it does not share the server's core: node
// bench/kit/load.ts PORT SECONDS CONNECTIONS REQUEST... A request is the path of a GET, or `POST PATH JSON`. Each
// connection sends its next request when the response is complete. The client address header has a new value each time,
// so that the limiter works but rejects nothing. LOAD_HEADERS is a JSON object of further headers. A response fails
// unless it has status 200, or 304 if these include If-None-Match, and contains LOAD_EXPECTS. Prints { requests, seconds, perSecond, p50Ms, p99Ms, worstMs, failed
// }.
import { connect } from 'node:net'

const [port = '', seconds = '5', connections = '32', ...asked] = process.argv.slice(2)
const HEAD_END = Buffer.from('\r\n\r\n')
/** The end of a response without Content-Length. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const EXPECTED = process.env['LOAD_EXPECTS'] ?? ''
const more: Record<string, string> = JSON.parse(process.env['LOAD_HEADERS'] ?? '{}')
const headers = Object.entries(more).map(([name, value]) => `\r\n${name}: ${value}`)
const isConditional = 'if-none-match' in more

let requests = 0
let failed = 0
let stopped = false
const times: number[] = []

/** The parts of a request before and after the client's IP address, which differs for each request. */
const parts = asked.map((request): [string, string] => {
  const [, path, body] = /^POST (\S+) (.*)$/s.exec(request) ?? []
  if (path === undefined || body === undefined) return [`GET ${request}`, '\r\n\r\n']
  const head = `\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
  return [`POST ${path}`, head + body]
})

function nextRequest(): string {
  const n = requests
  const address = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
  const [line, rest] = parts[n % parts.length] ?? ['GET /', '\r\n\r\n']
  return `${line} HTTP/1.1\r\nHost: bench\r\nUser-Agent: depot-bench/1.0${headers.join('')}\r\nX-Bench-Address: ${address}${rest}`
}

function worker(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1')
    let chunks: Buffer[] = []
    let received = 0
    /** The size of the response; 0 until its head is known. */
    let expected = 0
    let startedAt = 0
    const send = (): void => {
      if (stopped) {
        socket.end()
        return
      }
      startedAt = performance.now()
      socket.write(nextRequest())
      requests += 1
    }
    socket.on('connect', send)
    socket.on('data', (chunk) => {
      // A large response arrives in many chunks: joining them each time would cost more than the server's work.
      received += chunk.length
      chunks.push(chunk)
      if (received < expected) return
      const waiting = Buffer.concat(chunks)
      chunks = [waiting]
      const head = waiting.indexOf(HEAD_END)
      if (head < 0) return
      const text = waiting.toString('latin1', 0, head)
      const length = /content-length: (\d+)/i.exec(text)?.[1]
      if (length !== undefined) expected = head + HEAD_END.length + Number(length)
      const isComplete =
        length === undefined
          ? isConditional || waiting.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
          : received >= expected
      if (!isComplete) return
      if (!text.startsWith(isConditional ? 'HTTP/1.1 304' : 'HTTP/1.1 200') || !waiting.includes(EXPECTED)) failed += 1
      chunks = []
      received = 0
      expected = 0
      times.push(performance.now() - startedAt)
      send()
    })
    socket.on('close', () => resolve())
    socket.on('error', reject)
  })
}

const startedAt = performance.now()
setTimeout(() => {
  stopped = true
}, Number(seconds) * 1000)
await Promise.all(Array.from({ length: Number(connections) }, worker))
const elapsed = (performance.now() - startedAt) / 1000
times.sort((a, b) => a - b)
const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 1000) / 1000
console.log(
  JSON.stringify({
    requests: times.length,
    seconds: elapsed,
    perSecond: Math.round(times.length / elapsed),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    worstMs: Math.round((times.at(-1) ?? 0) * 1000) / 1000,
    failed,
  }),
)
