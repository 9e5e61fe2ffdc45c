// The application that the tests of all operations share.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { buildService } from '#test/support/stand-ins/build-service.ts'

/** Set before the first test. */
export let t: TestApp

/** A code host that accepts every token, each as the token of another account. */
let codeHost: Server

async function open(): Promise<void> {
  codeHost = createServer((req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: req.headers.authorization }))
  })
  await new Promise<void>((resolve) => codeHost.listen(0, '127.0.0.1', resolve))
  const { port } = codeHost.address() as AddressInfo
  const ci = await buildService()
  const others = { issuer: 'https://builds.example', kind: 'github', name: 'Other builds' }
  const issuers = [{ issuer: ci.url, kind: 'generic', name: 'Builds', max_age_seconds: 86_400 }, others]
  const env = { LEAK_REPORT_KEYS_URL: `${ci.url}/report-keys`, CI_ISSUERS: JSON.stringify(issuers) }
  t = await testApp({ env: { ...env, CODE_HOST_API_URL: `http://127.0.0.1:${port}`, SCANNER_COMMAND: 'true' } })
  // Search fails until its index is complete.
  await t.searchable()
}

/** Hooks of test files run at the same time: a hook that needs the application waits for this. */
export const opened = open()
before(() => opened)
after(async () => {
  codeHost.close()
  codeHost.closeAllConnections()
  await t?.close()
})
