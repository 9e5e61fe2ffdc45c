// A tus 1.0.0 server in memory that fails in the ways a test chooses.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type StandIn, standIn } from './stand-in.ts'

type Fault = 'ok' | 'large' | 'cut' | 'damage' | 'busy' | 'error' | 'lose'
type Stored = { length: number; content: Buffer; metadata: string }

export type TusStandIn = StandIn & { uploads: Map<string, Stored>; faults: Fault[] }

/** Each PATCH takes the next of `faults`; without one it succeeds. */
export async function tusStandIn(): Promise<TusStandIn> {
  const uploads = new Map<string, Stored>()
  const faults: Fault[] = []
  const server = await standIn((request, response, body) => {
    response.setHeader('tus-resumable', '1.0.0')
    if (request.method === 'OPTIONS') return void response.writeHead(204, { 'tus-version': '1.0.0' }).end()
    if (request.headers['tus-resumable'] !== '1.0.0') return void response.writeHead(412).end()
    if (request.method === 'POST') return create(request, response)
    const id = request.url?.split('/').at(-1) ?? ''
    const upload = uploads.get(id)
    if (upload === undefined) return void response.writeHead(404).end()
    if (request.method === 'GET') {
      return void response
        .writeHead(200, { 'upload-offset': upload.content.length, 'upload-length': upload.length })
        .end()
    }
    append(request, response, { id, upload, body })
  })

  function create(request: IncomingMessage, response: ServerResponse): void {
    const id = `Upload${String(uploads.size).padStart(2, '0')}`
    const metadata = String(request.headers['upload-metadata'])
    uploads.set(id, { length: Number(request.headers['upload-length']), content: Buffer.alloc(0), metadata })
    response.writeHead(201, { location: `https://other.example/v3/upload/${id}` }).end()
  }

  function append(
    request: IncomingMessage,
    response: ServerResponse,
    { id, upload, body }: { id: string; upload: Stored; body: Buffer },
  ): void {
    const fault = faults.shift()
    if (fault === 'busy') return void response.writeHead(409, { 'retry-after': '0' }).end()
    if (fault === 'large') return void response.writeHead(413).end('<h1>nginx</h1>')
    if (fault === 'error') return void response.writeHead(503, { 'retry-after': '0' }).end()
    if (Number(request.headers['upload-offset']) !== upload.content.length) return void response.writeHead(409).end()
    const damaged = fault === 'damage' ? Buffer.from(body).fill(0, 0, 1) : body
    const digest = createHash('sha256').update(damaged).digest('base64')
    if (request.headers['upload-checksum'] !== `sha256 ${digest}`) return void response.writeHead(460).end()
    if (fault === 'lose') uploads.delete(id)
    upload.content = Buffer.concat([upload.content, fault === 'cut' ? body.subarray(0, body.length / 2) : body])
    if (fault === 'cut' || fault === 'lose') return void response.destroy()
    response.writeHead(204, { 'upload-offset': upload.content.length }).end()
  }
  return { ...server, uploads, faults }
}
