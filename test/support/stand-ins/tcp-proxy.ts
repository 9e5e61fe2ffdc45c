// A line between a client and an engine that a test can cut, hold up and slow down.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export type TcpProxy = {
  port: number
  /** Number of connections accepted so far. */
  connections(): number
  /** Ends every connection, and refuses new ones until `mend`. */
  cut(): Promise<void>
  /**
   * Nothing passes any more and nothing ends, as when a cable is pulled; new connections are taken and hang too. With
   * `answers`, requests still arrive and only what comes back is held.
   */
  hang(what?: 'everything' | 'answers'): void
  /** Every piece of an answer comes this much later. */
  delay(ms: number): void
  /** Forwards everything again; hanging connections continue. */
  mend(): Promise<void>
  /** Forwards new connections again; what hanging connections sent is lost, and they get no responses. */
  lose(): void
  close(): Promise<void>
}

/**
 * Starts a proxy on a free loopback port. It forwards to a loopback port, or to the Unix socket that `target()` returns
 * at that time.
 */
export async function startTcpProxy(target: number | (() => string)): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let hanging: 'nothing' | 'everything' | 'answers' = 'nothing'
  let delayMs = 0
  let taken = 0
  let held: (() => void)[] = []

  /** Calls `pass` now, later, or when the connection is restored. */
  const whenOpen = (pass: () => void, isAnswer: boolean): void => {
    if (hanging === 'everything' || (hanging === 'answers' && isAnswer)) held.push(pass)
    else pass()
  }

  const join = (from: Socket, to: Socket, isAnswer: boolean): void => {
    sockets.add(from)
    const later = (pass: () => void) => {
      if (isAnswer && delayMs > 0) setTimeout(pass, delayMs)
      else pass()
    }
    from.on('data', (piece) => {
      later(() => whenOpen(() => to.writable && to.write(piece), isAnswer))
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      sockets.delete(from)
      later(() => whenOpen(() => to.end(), isAnswer))
    })
  }

  const listen = async (port: number): Promise<Server> => {
    const server = createServer((client) => {
      taken += 1
      const engine = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target())
      join(client, engine, false)
      join(engine, client, true)
    })
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return server
  }

  const end = async (server: Server): Promise<void> => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }

  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  return {
    port,
    connections: () => taken,
    cut: () => end(server),
    hang: (what = 'everything') => {
      hanging = what
    },
    delay: (ms) => {
      delayMs = ms
    },
    mend: async () => {
      hanging = 'nothing'
      delayMs = 0
      for (const pass of held.splice(0)) pass()
      if (!server.listening) server = await listen(port)
    },
    lose: () => {
      hanging = 'nothing'
      held = []
    },
    close: async () => {
      held = []
      hanging = 'nothing'
      await end(server)
    },
  }
}
