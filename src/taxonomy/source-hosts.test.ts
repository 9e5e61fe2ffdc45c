import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceFilesOf } from './source-hosts.ts'
import { loadTaxonomy } from './taxonomy.ts'

const { sourceHosts } = loadTaxonomy()
const pageOf = (link: string): string | undefined => sourceFilesOf(link, sourceHosts)?.page

test('source links of known code hosts lead to the files of their repository', () => {
  assert.deepEqual(sourceFilesOf('https://github.com/a/b', sourceHosts), {
    page: 'https://github.com/a/b/blob/HEAD/',
    raw: 'https://raw.githubusercontent.com/a/b/HEAD/',
  })
  assert.equal(pageOf('https://www.github.com/a/b.git/tree/main/sub?x#y'), 'https://github.com/a/b/blob/HEAD/')
  assert.equal(pageOf('https://gitlab.com/a/b/c/-/tree/main'), 'https://gitlab.com/a/b/c/-/blob/HEAD/')
  assert.equal(pageOf('https://codeberg.org/a/b/'), 'https://codeberg.org/a/b/src/branch/HEAD/')
  assert.equal(pageOf('https://bitbucket.org/a/b'), 'https://bitbucket.org/a/b/src/HEAD/')
  for (const link of ['https://github.com/a', 'https://example.org/a/b', 'https://github.com.example/a/b', 'x'])
    assert.equal(pageOf(link), undefined, link)
  assert.equal(pageOf('https://github.com/a/%2e%2e'), undefined)
})
