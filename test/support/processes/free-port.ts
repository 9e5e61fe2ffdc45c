import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections and to servers that listen on port 0. */
const PORTS = [10_240, 32_000] as const

/**
 * Returns a port of 127.0.0.1 that is free, as are the `following` next ones. Tests that run at the same time listen on
 * ports that the system chooses, which are never in this range, so that the port is still free when it is used.
 */
export async function freePort(following = 0): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS)
    const wanted = Array.from({ length: following + 1 }, (_, i) => port + i)
    if ((await Promise.all(wanted.map(isFree))).every(Boolean)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
