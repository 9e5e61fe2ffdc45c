// The page that uploads a version of the project `lantern`, and what its tests send to it.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import type { LightMyRequestResponse as InjectResponse } from 'fastify'
import { testApp } from '#test/support/app/test-app.ts'
import { makeZip } from '#test/support/factories/archives.ts'
import type { FormFile } from './forms.ts'
import { sendForm } from './send-form.ts'
import { hiddenFields, visitor } from './visitor.ts'

export const PAGE = '/mod/lantern/versions/new'
export const jar = (version: string, salt = ''): Buffer =>
  makeZip([
    {
      name: 'fabric.mod.json',
      data: JSON.stringify({ id: 'lantern', name: 'Lantern', version, salt, depends: { minecraft: '1.20.1' } }),
    },
  ])

export const COMPLETE = {
  version_number: '2.0.0',
  name: 'Second light',
  version_type: 'release',
  loaders: ['fabric'],
  game_versions: ['1.20.1'],
  changelog: 'Brighter.',
  when: 'now',
}
/** Returns the path of the draft that a saved form leads to. */
export const draftPath = (answer: InjectResponse): string => {
  assert.equal(answer.statusCode, 303, answer.body.slice(answer.body.indexOf('<main'), 3000))
  return String(answer.headers.location).replace(/[?&]done=[^&]*/, '')
}

type Fields = Record<string, string | readonly string[]>

/** Starts an application with the project, which ends after the tests of the file. */
export async function uploadPage() {
  const t = await testApp()
  after(() => t.close())
  t.freeze()
  const owner = await t.make.account({ username: 'ida-marsh' })
  const project = await t.make.project({ owner, slug: 'lantern', name: 'Lantern' })
  await t.make.version({ project, version_number: '1.0.0', name: 'Lantern 1.0.0' })
  const person = visitor(t, owner.token)
  /** Sends the form of a page with files. */
  const send = (page: InjectResponse, path: string, fields: Fields, files: FormFile[] = [], who = person) =>
    sendForm(t, who, path, { ...hiddenFields(page, path), ...fields }, files)
  const versions = async () =>
    t.deps.db.selectFrom('version').selectAll().where('project_id', '=', project.id).orderBy('date_published').execute()
  return { t, owner, project, person, send, versions }
}
