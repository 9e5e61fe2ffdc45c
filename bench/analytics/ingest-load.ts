// Sends reports of views at a fixed rate and reads projects at the same time, from a separate process: node
// bench/analytics/ingest-load.ts PORT SECONDS VIEWS_PER_SECOND READS_PER_SECOND ID... Requests are sent on schedule
// without waiting for responses, so that a slow server falls behind visibly. Prints { views, refused, reads, failed,
// readP50Ms, readP99Ms }.
import { connect, type Socket } from 'node:net'

const [port = '', seconds = '5', viewRate = '0', readRate = '200', ...ids] = process.argv.slice(2)
const TICK_MS = 5
const HEAD_END = '\r\n\r\n'

type Lane = { sent: number; good: number; bad: number; times: number[]; socket: Socket[] }

let serial = 0
/** Each request has its own IP address, so that the rate limit rejects none. */
function head(method: string, path: string): string {
  serial += 1
  const address = `10.${(serial >> 16) & 255}.${(serial >> 8) & 255}.${serial & 255}`
  return `${method} ${path} HTTP/1.1\r\nHost: bench\r\nUser-Agent: depot-bench/1.0\r\nX-Bench-Address: ${address}\r\n`
}

function viewRequest(): string {
  const body = `{"url":"https://site.example/project/${ids[serial % ids.length]}"}`
  return `${head('POST', '/analytics/view')}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

const readRequest = (): string => `${head('GET', `/v3/project/${ids[serial % ids.length]}`)}\r\n`

/** Sockets on which requests follow each other without waiting; answers come in order. */
function openLane(count: number, success: string): Lane {
  const lane: Lane = { sent: 0, good: 0, bad: 0, times: [], socket: [] }
  for (let i = 0; i < count; i += 1) {
    const socket = connect(Number(port), '127.0.0.1')
    const started: number[] = []
    let waiting = ''
    socket.setNoDelay(true)
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1')
      for (;;) {
        const end = waiting.indexOf(HEAD_END)
        if (end < 0) return
        const length = Number(/content-length: (\d+)/i.exec(waiting.slice(0, end))?.[1] ?? 0)
        if (waiting.length < end + 4 + length) return
        if (waiting.startsWith(`HTTP/1.1 ${success}`)) lane.good += 1
        else lane.bad += 1
        waiting = waiting.slice(end + 4 + length)
        lane.times.push(performance.now() - (started.shift() ?? 0))
      }
    })
    socket.on('error', () => {
      lane.bad += 1
    })
    lane.socket.push(Object.assign(socket, { started }))
  }
  return lane
}

/** Sends what is due by now. */
function send(lane: Lane, rate: number, elapsedMs: number, request: () => string): void {
  const due = Math.floor((rate * elapsedMs) / 1000)
  for (; lane.sent < due; lane.sent += 1) {
    const socket = lane.socket[lane.sent % lane.socket.length] as (Socket & { started: number[] }) | undefined
    socket?.started.push(performance.now())
    socket?.write(request())
  }
}

const views = openLane(16, '204')
const reads = openLane(4, '200')
const startedAt = performance.now()
const timer = setInterval(() => {
  const elapsedMs = performance.now() - startedAt
  if (elapsedMs >= Number(seconds) * 1000) return finish()
  send(views, Number(viewRate), elapsedMs, viewRequest)
  send(reads, Number(readRate), elapsedMs, readRequest)
}, TICK_MS)

function finish(): void {
  clearInterval(timer)
  // Waits a limited time for requests in flight.
  setTimeout(() => {
    const times = reads.times.toSorted((a, b) => a - b)
    const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 100) / 100
    console.log(
      JSON.stringify({
        views: views.good,
        refused: views.sent - views.good,
        reads: reads.good,
        failed: reads.sent - reads.good,
        readP50Ms: at(0.5),
        readP99Ms: at(0.99),
      }),
    )
    process.exit(0)
  }, 3_000)
}
