// A proxy on loopback in front of an engine, which a test can make silent or disconnect.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type SlowProxy = {
  readonly url: string
  /** `pass`: forwards everything; `hang`: accepts requests and never responds; `refuse`: ends every connection. */
  become(mode: 'pass' | 'hang' | 'refuse'): void
  /** Milliseconds by which each piece of an answer is held back while it passes. */
  delay(ms: number): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<SlowProxy> {
  const { hostname, port } = new URL(target)
  let mode: 'pass' | 'hang' | 'refuse' = 'pass'
  let delayMs = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (mode === 'refuse') {
      client.destroy()
      return
    }
    const engine = connect(Number(port), hostname)
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => {
        if (mode === 'pass') setTimeout(() => to.writable && to.write(bytes), from === engine ? delayMs : 0)
      })
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const drop = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    become(next) {
      // A hanging request never gets a response.
      if (mode === 'hang' || next === 'refuse') drop()
      mode = next
    },
    delay(ms) {
      delayMs = ms
    },
    async close() {
      drop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
