// A receiver of webhooks on this machine.
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = { path: string; headers: IncomingHttpHeaders; body: string }
/** Answers a request: with a status, or in its own way. */
export type Answer = number | ((received: Received, res: ServerResponse) => void)

export type Receiver = {
  url: string
  /** Everything that arrived, oldest first. */
  received: Received[]
  /** Sets the answers to the next requests; the last one repeats. Default: 204. */
  answer(...answers: Answer[]): void
  /** Resolves when this number of requests has arrived. */
  arrived(count: number): Promise<void>
  close(): void
}

/** Starts a receiver; `host` is an address of this machine. */
export async function startReceiver(host = '127.0.0.1'): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  let answers: Answer[] = [204]
  const server: Server = createServer(async (req, res) => {
    const body = (await buffer(req)).toString()
    const one = { path: req.url ?? '', headers: req.headers, body }
    received.push(one)
    for (const wake of waiting) wake()
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 204
    if (typeof answer === 'number') res.writeHead(answer).end()
    else answer(one, res)
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    received,
    answer: (...next) => {
      answers = next
    },
    arrived: (count) =>
      new Promise((resolve) => {
        const wake = () => {
          if (received.length < count) return
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
        wake()
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
