// A proxy that sends requests for one public host to a server on this machine, for clients with a fixed URL. It rejects
// requests for all other hosts.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer, request } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { join } from 'node:path'

export type StandInHost = {
  /** Variables under which a client goes through the proxy and trusts its certificate. */
  env: Record<string, string>
  close(): void
}

/** Starts the proxy; `folder` takes the certificates, which `openssl` makes. */
export async function standInFor(host: string, url: string, folder: string): Promise<StandInHost> {
  const certificate = makeCertificate(host, folder)
  const sockets = new Set<Socket>()
  const https = createHttpsServer(certificate, (req, res) => {
    const { pathname, search } = new URL(req.url ?? '/', `https://${host}`)
    const onwards = request(`${url}${pathname}${search}`, { method: req.method, headers: req.headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    onwards.on('error', () => res.destroy())
    req.pipe(onwards)
  })
  const tlsPort = await listen(https)
  const proxy = createHttpServer((_req, res) => res.writeHead(403).end())
  proxy.on('connect', (req, socket: Socket) => {
    if (req.url !== `${host}:443`) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const inner = connect(tlsPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      inner.pipe(socket)
      socket.pipe(inner)
    })
    for (const each of [socket, inner]) {
      sockets.add(each)
      each.on('error', () => undefined).on('close', () => sockets.delete(each))
    }
  })
  const port = await listen(proxy)
  return {
    env: { HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: '', no_proxy: '', SSL_CERT_FILE: join(folder, 'ca.pem') },
    close: () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      https.close()
    },
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Creates a certificate authority and a certificate that is valid for a day. */
export function makeCertificate(host: string, folder: string): { key: Buffer; cert: Buffer } {
  const at = (name: string): string => join(folder, name)
  const openssl = (...args: string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '1',
    '-subj',
    '/CN=Depot tests',
  )
  openssl('req', ...key, '-keyout', at('host.key'), '-out', at('host.csr'), '-subj', `/CN=${host}`)
  writeFileSync(at('host.ext'), `subjectAltName=DNS:${host}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n`)
  const ca = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial']
  openssl(
    'x509',
    '-req',
    '-in',
    at('host.csr'),
    ...ca,
    '-out',
    at('host.pem'),
    '-days',
    '1',
    '-extfile',
    at('host.ext'),
  )
  return { key: readFileSync(at('host.key')), cert: readFileSync(at('host.pem')) }
}
