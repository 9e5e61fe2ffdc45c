import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutRawNames } from './refusals.ts'

test('messages of the API lose the names of fields and values', () => {
  for (const [message, shown] of [
    ['must be one of action, no_action', 'must be one of the choices'],
    ['file_parts.0 is not a file', 'A field of the form is not a file'],
    ['link_urls.wiki must be a URL', 'A field of the form must be a URL'],
    ['is required by these loaders. Missing fields: game_versions', 'is required by these loaders'],
    ['is required to publish the version. Missing fields: name, files', 'is required to publish the version'],
    [
      'is not a known value of game_versions: GET /v3/loader_field?loader_field=game_versions lists them',
      'is not a known value',
    ],
    ['The file in part upload:AbCd must be an archive', 'The file must be an archive'],
    ['The file name of part files.2 is empty', 'The file name is empty'],
    ['The archive has no fabric.mod.json', 'The archive has no fabric.mod.json'],
    ['The project already has a version 1.2.0', 'The project already has a version 1.2.0'],
  ] as const)
    assert.equal(withoutRawNames(message), shown)
})
