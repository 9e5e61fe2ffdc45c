// Two ends of a channel over a real Unix socket, in one process.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Channel, type Handlers } from '#platform/channel/channel.ts'

export type ChannelPair = {
  near: Channel
  far: Channel
  sockets: { near: Socket; far: Socket }
  close(): Promise<void>
}

/** `handlers` are those of the far end, which the near end calls. */
export async function channelPair(handlers: Handlers = {}): Promise<ChannelPair> {
  const folder = await mkdtemp(join(tmpdir(), 'depot-channel-'))
  const server = createServer().listen(join(folder, 'socket'))
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const nearSocket = connect(join(folder, 'socket'))
  const [farSocket] = (await accepted) as [Socket]
  const far = new Channel(farSocket, handlers)
  const near = new Channel(nearSocket)
  return {
    near,
    far,
    sockets: { near: nearSocket, far: farSocket },
    async close() {
      near.close()
      far.close()
      server.close()
      await Promise.all([near.closed, far.closed])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
