// Checks the description of the API with validators of other projects.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { type TestApp, testApp } from '#test/support/app/test-app.ts'
import { type ClientProgram, openClient, remainingMs, runClient } from '#test/support/processes/client-programs.ts'

/** Time limit of a validator, while other tests run. */
const RUN_MS = 900_000

const IN_NODE: ClientProgram = {
  name: 'validators',
  needs: ['npm'],
  install: [{ file: 'npm', args: ['install', '--ignore-scripts', '--no-audit', '--no-fund'] }],
  program: { file: 'node', args: ['validate.mjs'] },
}
const IN_PYTHON: ClientProgram = {
  name: 'validators-python',
  needs: ['python3'],
  install: [
    { file: 'python3', args: ['-m', 'venv', 'venv'] },
    { file: 'venv/bin/pip', args: ['install', '--quiet', '-r', 'requirements.txt'] },
  ],
  program: { file: 'venv/bin/python', args: ['-m', 'openapi_spec_validator', 'openapi.json'] },
}

/** Warnings that stay, as `rule place`, each with the reason. */
const PERMITTED: Readonly<Record<string, string>> = {
  'operation-4xx-response paths./health.get.responses': 'it answers 200 to every request that arrives',
  'no-unused-components components.schemas.DryRun': 'the client of Depot names the response of a dry run',
  'no-unused-components components.schemas.PasswordChangeRequired': 'an alternative of a sign-in, which its text names',
  'no-unused-components components.schemas.TwoFactorRequired': 'an alternative of a sign-in, which its text names',
  'oas3-unused-component components.schemas.DryRun': 'the same for Spectral',
  'oas3-unused-component components.schemas.PasswordChangeRequired': 'the same for Spectral',
  'oas3-unused-component components.schemas.TwoFactorRequired': 'the same for Spectral',
}
/**
 * OpenAPI 3.0 writes a reference to an object or null as `nullable` next to `allOf`. Generators read it so, but these two
 * validators reject the null of an example there. The other notation, a choice with an enumeration of null, does not
 * compile in three of the generators.
 */
const REJECT_NULLS = ['no-invalid-media-type-examples', 'oas3-valid-media-example']

type Problem = { tool: string; isError: boolean; rule: string; path: (string | number)[]; text: string }

let t: TestApp
let text: string
before(async () => {
  t = await testApp()
  text = (await t.anyone.get('/docs/openapi.json')).body
})
after(() => t?.close())

/** Returns the output; undefined if the test is skipped, because a validator cannot be installed or does not end in time. */
async function validate(context: TestContext, validator: ClientProgram): Promise<string | undefined> {
  const folder = await openClient(context, validator)
  if (folder === undefined) return undefined
  writeFileSync(join(folder, 'openapi.json'), text)
  try {
    return await runClient(folder, validator, {}, Math.max(1, Math.min(RUN_MS, remainingMs())))
  } catch (error) {
    if (remainingMs() > 0) throw error
    context.skip(`${validator.name} did not end in time`)
    return undefined
  }
}

test('swagger-parser, Redocly and Spectral find no error, and only permitted warnings', async (context) => {
  const output = await validate(context, IN_NODE)
  if (output === undefined) return
  const lines = output.trim().split('\n')
  const document = JSON.parse(text)
  const valueAt = (path: Problem['path']) => path.reduce((value, key) => value?.[key], document)
  const problems = lines
    .map((line): Problem => JSON.parse(line))
    .filter(({ rule, path }) => !REJECT_NULLS.includes(rule) || valueAt(path) !== null)
  const nameOf = ({ rule, path }: Problem) => `${rule} ${path.join('.')}`
  assert.deepEqual(
    problems.filter((problem) => problem.isError || !(nameOf(problem) in PERMITTED)),
    [],
  )
  assert.deepEqual([...new Set(problems.map(nameOf))].sort(), Object.keys(PERMITTED).sort())
})

test('openapi-spec-validator finds no error', async (context) => {
  const output = await validate(context, IN_PYTHON)
  if (output !== undefined) assert.match(output, /OK$/m)
})
