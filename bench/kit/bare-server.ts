// The yardstick: node:http with nothing on it. Sends the bytes of a file from memory, or streams it from disk:
//   node bench/kit/bare-server.ts memory|stream FILE
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'

const [mode, file = ''] = process.argv.slice(2)
const bytes = mode === 'memory' ? readFileSync(file) : undefined
const size = statSync(file).size

const server = createServer((_req, res) => {
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': size })
  if (bytes !== undefined) res.end(bytes)
  else createReadStream(file).pipe(res)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' && address !== null ? address.port : 0)
})
