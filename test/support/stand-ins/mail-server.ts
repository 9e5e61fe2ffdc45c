// A mail server on this machine.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/**
 * Starts a mail server with the parts of RFC 5321 that need no encryption; `replies` overrides its replies to commands.
 */
export async function startMailServer(replies: ReadonlyMap<string, string> = new Map()) {
  const messages: string[] = []
  const waiting = new Set<() => void>()
  const commands: string[] = []
  const take = (message: string): void => {
    messages.push(message)
    for (const wake of waiting) wake()
    waiting.clear()
  }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    serve(socket, take, commands, replies).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    messages,
    commands,
    /** Resolves with the first message that contains this text, when it has arrived. */
    async arrived(text: string): Promise<string> {
      for (;;) {
        const found = messages.find((message) => message.includes(text))
        if (found !== undefined) return found
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

async function serve(
  socket: Socket,
  take: (message: string) => void,
  commands: string[],
  replies: ReadonlyMap<string, string>,
) {
  const answer = (line: string) => socket.write(`${line}\r\n`)
  let data: string[] | undefined
  if (replies.get('greeting') === 'none') return
  answer('220 test')
  for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (data !== undefined) {
      if (line !== '.') {
        data.push(line.replace(/^\./, ''))
        continue
      }
      take(`${data.join('\r\n')}\r\n`)
      data = undefined
      answer('250 taken')
      continue
    }
    commands.push(line)
    const word = line.split(/[ :]/)[0]?.toUpperCase() ?? ''
    const reply = replies.get(word) ?? { DATA: '354 continue', QUIT: '221 bye' }[word] ?? '250 ok'
    answer(reply)
    if (reply.startsWith('354')) data = []
    if (word === 'QUIT') socket.end()
  }
}
