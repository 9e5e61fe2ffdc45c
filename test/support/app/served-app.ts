// An application that other programs reach under its public address, and the requests that it received.
import { freePort } from '../processes/free-port.ts'
import { type TestApp, testApp } from './test-app.ts'

export type ServedApp = {
  t: TestApp
  url: string
  /** Method, path and status of each request that came by network, oldest first. */
  requests: string[]
}

/** Starts an application whose `BASE_URL` is the address at which it listens. */
export async function servedApp(env: Record<string, string> = {}): Promise<ServedApp> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const t = await testApp({ env: { ...env, BASE_URL: url } })
  const requests: string[] = []
  t.app.server.prependListener('request', (req, res) => {
    res.once('finish', () => requests.push(`${req.method} ${req.url} ${res.statusCode}`))
  })
  await t.app.listen({ host: '127.0.0.1', port })
  return { t, url, requests }
}
