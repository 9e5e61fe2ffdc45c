// ClamAV from Debian as the operator's scanner, with a test signature, because a test cannot download signatures.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from '#test/support/app/test-app.ts'
import { form, modJar, versionData } from '#test/support/http/forms.ts'

const SCRIPT = join(import.meta.dirname, '../../../../scripts/scan-with-clamav.mjs')
/** In two halves, so that no scanner takes offence at this file. */
const EICAR = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')
const isInstalled = ['/usr/bin', '/usr/local/bin'].some((folder) => existsSync(join(folder, 'clamscan')))

test('ClamAV quarantines an archive that holds the EICAR test file, and passes one that does not', {
  skip: isInstalled ? false : 'clamscan is not installed (Debian: apt-get install clamav)',
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'depot-clamav-'))
  const signatures = join(folder, 'test.ndb')
  writeFileSync(signatures, `Depot.Test.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`)
  const t = await testApp({ env: { SCANNER_COMMAND: `${process.execPath} ${SCRIPT} --database ${signatures}` } })
  context.after(async () => {
    await t.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const project = await t.make.project()
  const publish = async (bytes: Buffer): Promise<string> => {
    const data = versionData({ project_id: project.id })
    const { payload, headers } = await form(data, [{ name: 'file', filename: 'mod.jar', bytes }])
    const made = await t.as(project.owner).post('/v3/version', payload, { headers })
    assert.equal(made.statusCode, 201, made.body)
    return made.json().id
  }
  const bad = await publish(modJar('eicar', [{ name: 'assets/eicar.com', data: EICAR }]))
  const good = await publish(modJar('clean'))
  await t.runJobs()
  const scanOf = async (id: string) => (await t.as(project.owner).get(`/v3/version/${id}/scan`)).json()
  const { state, reason } = await scanOf(bad)
  assert.deepEqual([state, reason], ['quarantine', 'mod.jar: Depot.Test.Eicar.UNOFFICIAL'])
  assert.equal((await t.anyone.get(`/v3/version/${bad}`)).statusCode, 404)
  assert.equal((await scanOf(good)).state, 'pass')
  assert.equal((await t.anyone.get(`/v3/version/${good}`)).json().status, 'listed')
})
