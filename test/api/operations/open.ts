// Opens the application that the requests of samples.ts need.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestApp, type TestAppOptions, testApp } from '#test/support/app/test-app.ts'
import { buildService } from '#test/support/stand-ins/build-service.ts'

/** The code host accepts every token, each as the token of another account. It also has the manifest of game versions. */
export async function openForSamples({
  env,
  ...options
}: TestAppOptions = {}): Promise<{ t: TestApp; close(): Promise<void> }> {
  const codeHost = createServer((req, res) => {
    res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: req.headers.authorization, versions: [] }))
  })
  await new Promise<void>((resolve) => codeHost.listen(0, '127.0.0.1', resolve))
  const { port } = codeHost.address() as AddressInfo
  const ci = await buildService()
  const others = { issuer: 'https://builds.example', kind: 'github', name: 'Other builds' }
  const issuers = [{ issuer: ci.url, kind: 'generic', name: 'Builds', max_age_seconds: 86_400 }, others]
  const t = await testApp({
    ...options,
    env: {
      LEAK_REPORT_KEYS_URL: `${ci.url}/report-keys`,
      CI_ISSUERS: JSON.stringify(issuers),
      CODE_HOST_API_URL: `http://127.0.0.1:${port}`,
      GAME_VERSIONS_URL: `http://127.0.0.1:${port}`,
      SCANNER_COMMAND: 'true',
      BACKUP_TARGET: '/nonexistent/backups',
      BACKUP_RECIPIENT: `age1${'q'.repeat(58)}`,
      ...env,
    },
  })
  return {
    t,
    close: async () => {
      codeHost.close()
      codeHost.closeAllConnections()
      await t.close()
    },
  }
}
