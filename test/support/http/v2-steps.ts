// Publishes through the v2 API.

import type { Client } from '../app/test-app.ts'
import { makeZip } from '../factories/archives.ts'
import { type FormFile, form, projectDataV2, versionDataV2 } from './forms.ts'

/** A pack; `salt` makes its bytes its own. Without overrides it holds nothing, which no pack may. */
export function packFile(salt: string, { overrides = true }: { overrides?: boolean } = {}): Buffer {
  const index = {
    game: 'minecraft',
    formatVersion: 1,
    versionId: salt,
    name: 'Pack',
    files: [],
    dependencies: { minecraft: '1.20.1' },
  }
  const entry = { name: 'modrinth.index.json', data: JSON.stringify(index) }
  return makeZip(overrides ? [entry, { name: 'overrides/options.txt', data: 'fov:1' }] : [entry])
}

export async function publishProjectV2(client: Client, slug: string, fields: object = {}, files: FormFile[] = []) {
  const { payload, headers } = await form(projectDataV2(slug, { ...fields }), files)
  return client.post('/v2/project', payload, { headers })
}

export async function publishVersionV2(client: Client, fields: object, files: FormFile[]) {
  const { payload, headers } = await form(versionDataV2({ ...fields }), files)
  return client.post('/v2/version', payload, { headers })
}
