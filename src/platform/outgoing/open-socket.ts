// Opens a connection to a checked address, directly or through the operator's proxy. Each call has its own connection, so
// that none is reused after another check.
import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { OutgoingError } from './outgoing-error.ts'
import { resolveHost } from './resolve-host.ts'
import { isAllowedHost, isRefusedAddress, type OutgoingRules } from './rules.ts'

/**
 * Returns a connected socket, which the signal destroys; with TLS if the URL has `https:`.
 * @throws OutgoingError `dns`, `refused_address`, `connection` or `tls`; the reason of the signal if it is aborted.
 */
export async function openSocket(url: URL, rules: OutgoingRules, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const host = hostOf(url)
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const addresses = await resolveHost(host, rules, signal)
  const target = { host, port, addresses }
  const socket = await attempt('connection', signal, () =>
    rules.proxy === undefined
      ? connectDirectly(target, rules, signal)
      : connectThroughProxy(new URL(rules.proxy.reveal()), target, signal),
  )
  if (url.protocol === 'http:') return socket
  return attempt('tls', signal, () => secure(socket, host, rules.test?.ca))
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

type Target = { host: string; port: number; addresses: readonly string[] }

/** Turns errors of the system into an OutgoingError without IP addresses. */
async function attempt<T>(code: 'connection' | 'tls', signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof OutgoingError ? error : new OutgoingError(code, error)
  }
}

async function connectDirectly(target: Target, rules: OutgoingRules, signal: AbortSignal): Promise<Socket> {
  const { host, port, addresses } = target
  const socket = connect({ host, port, lookup: lookupOf(addresses), autoSelectFamily: true, signal })
  await once(socket, 'connect')
  ignoreLateErrors(socket)
  if (isRefusedAddress(socket.remoteAddress ?? '', rules, isAllowedHost(host, rules))) {
    socket.destroy()
    throw new OutgoingError('refused_address')
  }
  return socket
}

/** Returns a `lookup` with the checked addresses. Node.js requests them all, or the first one. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_host, options, callback) => {
    const [first] = all
    if (options.all === true || first === undefined) callback(null, all)
    else callback(null, first.address, first.family)
  }
}

/** The proxy gets the checked address instead of the name, so that it cannot reach another one. */
function connectThroughProxy(proxy: URL, { port, addresses }: Target, signal: AbortSignal): Promise<Socket> {
  const [address = ''] = addresses
  const path = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const login = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const authorization = login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }
  const send = proxy.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const request = send({
      host: hostOf(proxy),
      port: proxy.port,
      method: 'CONNECT',
      path,
      headers: { host: path, ...authorization },
      agent: false,
      signal,
    })
    request.once('connect', ({ statusCode }, socket: Socket, head) => {
      ignoreLateErrors(socket)
      if (statusCode !== 200) {
        socket.destroy()
        reject(new Error(`The proxy returned the status ${statusCode}`))
        return
      }
      signal.addEventListener('abort', () => socket.destroy(), { once: true })
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    request.once('response', () => request.destroy(new Error('The proxy does not connect')))
    request.once('error', reject)
    request.end()
  })
}

async function secure(socket: Socket, host: string, ca: string | undefined): Promise<Socket> {
  const secured = connectTls({
    socket,
    host,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(ca === undefined ? {} : { ca }),
  })
  try {
    await once(secured, 'secureConnect')
  } catch (error) {
    socket.destroy()
    throw error
  }
  ignoreLateErrors(secured)
  return secured
}

/** Errors after this moment reach the request or its response. */
function ignoreLateErrors(socket: Socket): void {
  socket.on('error', () => undefined)
}
