// HAProxy in front of several servers, as docs/operators/scaling.md sets it up.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '#test/support/processes/free-port.ts'

const run = promisify(execFile)

export type Balancer = { url: string; stop(): Promise<void> }

/**
 * @param addressHeader a request that has it comes from the client it names: the balancer keeps each client on one server.
 * @returns a sentence where it is not installed.
 */
export async function startHaproxy(ports: readonly number[], addressHeader: string): Promise<Balancer | string> {
  try {
    await run('haproxy', ['-v'])
  } catch {
    return 'haproxy is not installed'
  }
  const folder = await mkdtemp(join(tmpdir(), 'depot-haproxy-'))
  const port = await freePort()
  const file = join(folder, 'haproxy.cfg')
  await writeFile(file, configuration(port, ports, addressHeader))
  const child: ChildProcess = spawn('haproxy', ['-db', '-q', '-f', file], { stdio: ['ignore', 'inherit', 'inherit'] })
  const ended = once(child, 'exit')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`haproxy ended with ${child.exitCode}`)
    await sleep(20)
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The configuration from docs/operators/scaling.md, with the client's IP address from a header and shorter check intervals. */
const configuration = (port: number, servers: readonly number[], addressHeader: string): string => `
global
  maxconn 2000
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  timeout check 5s
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
frontend depot
  bind 127.0.0.1:${port}
  http-request set-header ${addressHeader} %[src] if !{ req.hdr(${addressHeader}) -m found }
  http-response set-header X-Served-By %s
  default_backend servers
backend servers
  balance hdr(${addressHeader})
  hash-type consistent
  http-request disable-l7-retry unless METH_GET
  option httpchk GET /ready?for=balancer
  http-check expect status 200
  default-server check inter 200ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
${servers.map((server, n) => `  server depot${n} 127.0.0.1:${server}`).join('\n')}
`

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}
