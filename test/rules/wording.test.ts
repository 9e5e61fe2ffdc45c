// Rejects phrases that readers must read twice. scripts/wording.ts contains the rules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRejectedPhrases, wordedFiles } from '../../scripts/wording.ts'

test('no text contains a rejected phrase', () => {
  assert.deepEqual(findRejectedPhrases(wordedFiles()), [])
})
