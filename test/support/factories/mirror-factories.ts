// Two instances for tests of mirrors: a source that listens, and an instance that copies it.
import type { MirrorReport } from '#features/exchange/mirror/copy/context.ts'
import { type MirrorOptions, runMirror } from '#features/exchange/mirror/run-mirror.ts'
import type { TestApp } from '#test/support/app/test-app.ts'
import { testApp } from '#test/support/app/test-app.ts'
import { freePort } from '#test/support/processes/free-port.ts'
import type { Person } from './factories.ts'
import { teamFactories } from './team-factories.ts'

/** An application that others reach at `address`, with its files at the same host. */
export async function listeningApp(): Promise<{ t: TestApp; address: string }> {
  const port = await freePort()
  const address = `http://127.0.0.1:${port}`
  const t = await testApp({ env: { BASE_URL: address, FILES_BASE_URL: address } })
  await t.app.listen({ host: '127.0.0.1', port })
  return { t, address }
}

export type Mirroring = {
  t: TestApp
  organization: { id: string; slug: string }
  /** The owner of the organization. */
  owner: Person
  /** Objects that the runs have left out. */
  warnings: string[]
  run(options?: Partial<MirrorOptions>): Promise<MirrorReport>
}

/** An instance with an organization that owns copies of the source at `address`. */
export async function mirroringApp(address: string, t?: TestApp): Promise<Mirroring> {
  const app = t ?? (await testApp())
  const owner = await app.make.account()
  const organization = await teamFactories(app.deps.db).organization(owner)
  const warnings: string[] = []
  return {
    t: app,
    organization,
    owner,
    warnings,
    run: (options = {}) =>
      runMirror(app.deps, {
        address,
        selection: { kind: 'all' },
        owner: organization.slug,
        withFiles: true,
        retries: true,
        isDryRun: false,
        acceptsNewKey: false,
        userAgent: 'depot-tests/1.0 (mirror)',
        warn: (message) => void warnings.push(message),
        pause: async () => undefined,
        ...options,
      }),
  }
}
