// An https host of images whose answers a test chooses, and the settings under which an application calls it.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deps } from '#ports/deps.ts'
import { makeCertificate } from './public-host.ts'

type Answer = (res: ServerResponse, req: IncomingMessage) => void

export type ImageSource = {
  /** `https://images.example.org:PORT`. */
  address: string
  /** Requests so far, oldest first. */
  requests: { path: string; headers: IncomingMessage['headers'] }[]
  /** Answers by path. Others are 404. */
  answers: Map<string, Answer>
  /** Sends these bytes at a path. */
  add(path: string, bytes: Uint8Array | string, headers?: Record<string, string>): void
  /** The dependencies of an application that can call this host. */
  deps(deps: Deps): Partial<Deps>
  close(): void
}

export const IMAGE_HOST = 'images.example.org'

export async function startImageSource(): Promise<ImageSource> {
  const folder = mkdtempSync(join(tmpdir(), 'depot-images-'))
  const certificate = makeCertificate(IMAGE_HOST, folder)
  const ca = readFileSync(join(folder, 'ca.pem'), 'utf8')
  rmSync(folder, { recursive: true })
  const requests: ImageSource['requests'] = []
  const answers: ImageSource['answers'] = new Map()
  const sockets = new Set<Socket>()
  const server = createServer(certificate, (req, res) => {
    requests.push({ path: req.url ?? '', headers: req.headers })
    const answer = answers.get(req.url ?? '')
    if (answer === undefined) res.writeHead(404).end()
    else answer(res, req)
  })
  server.on('secureConnection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    address: `https://${IMAGE_HOST}:${port}`,
    requests,
    answers,
    add: (path, bytes, headers = {}) => {
      answers.set(path, (res) => void res.writeHead(200, headers).end(bytes))
    },
    deps: ({ config }) => {
      const test = { resolve: async () => ['127.0.0.1'], ca }
      return { config: { ...config, outgoing: { ...config.outgoing, test } } }
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
