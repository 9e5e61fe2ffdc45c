// The short form of `npm run faults`.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

test('three random faults lose nothing that was acknowledged', async () => {
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'main.ts'), '--rounds', '3'])
})
