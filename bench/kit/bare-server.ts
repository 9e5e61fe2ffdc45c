// The yardstick: node:http with nothing on it. Sends the bytes of a file from memory, or streams it from disk; 304 if the
// client names an ETag:
//   node bench/kit/bare-server.ts memory|stream FILE
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'

const [mode, file = ''] = process.argv.slice(2)
const bytes = mode === 'memory' ? readFileSync(file) : undefined
const size = statSync(file).size

// Names and values in turn, like the fast path: an object costs a conversion.
const more = Object.entries(JSON.parse(process.env['BARE_HEADERS'] ?? '{}') as Record<string, string>).flat()
const rest = more.filter((_, at) => !isOwn(more[at & ~1] ?? ''))
const head = ['content-type', 'application/json; charset=utf-8', ...rest]

function isOwn(name: string): boolean {
  return name === 'content-type' || name === 'content-length'
}

const server = createServer((req, res) => {
  if (req.headers['if-none-match'] !== undefined) return void res.writeHead(304, rest).end()
  res.writeHead(200, [...head, 'content-length', String(size)])
  if (bytes !== undefined) res.end(bytes)
  else createReadStream(file).pipe(res)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' && address !== null ? address.port : 0)
})
