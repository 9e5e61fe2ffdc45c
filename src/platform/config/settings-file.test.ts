import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnv } from 'node:util'
import { envExample } from './env-example.ts'
import { checkSettingsFile, removedSettings } from './settings-file.ts'

const problemsIn = (text: string): string[] => {
  try {
    checkSettingsFile({ path: '/etc/depot.env', text })
    return []
  } catch (error) {
    const [head, ...problems] = (error as Error).message.split('\n')
    assert.equal(head, 'Invalid settings in /etc/depot.env:')
    return problems.map((problem) => problem.trim().replace(/;.*/, ''))
  }
}

const UNREADABLE = 'must be NAME=value or # comment'

test('a line that is neither an assignment nor a comment is an error that names the line', () => {
  const text =
    '# a comment\nPORT=8080\r\nBASE_URL https://depot.example.org\n\nSITE_NAME="Our\nDepot"\n  =x\nREAD_ONLY=true'
  assert.deepEqual(problemsIn(text), [`line 3: ${UNREADABLE}`, `line 7: ${UNREADABLE}`])
  // Node.js would read a part of these values.
  for (const line of ['ADMIN_KEY=secret#word', 'SITE_NAME="Our" Depot', 'SITE_NAME="Our Depot', "MAIL_FROM='a"])
    assert.deepEqual(problemsIn(`${line}\nPORT=1\n`), [`line 1: ${UNREADABLE}`], line)
})

test('readable lines have the values that Node.js gives them', () => {
  const lines = {
    'PORT=1': '1',
    '  PORT = 1  ': '1',
    'export PORT=1': '1',
    'PORT=1 # one': '1',
    'PORT="1" # one': '1',
    'PORT=': '',
    "SITE_NAME='a # b'": 'a # b',
    "SITE_NAME=It's": "It's",
    'SITE_NAME="a\nb"': 'a\nb',
  }
  for (const [line, value] of Object.entries(lines)) {
    assert.deepEqual(problemsIn(line), [], line)
    assert.deepEqual(Object.values(parseEnv(line)), [value], line)
  }
  assert.deepEqual(problemsIn(envExample()), [])
  assert.deepEqual(problemsIn(envExample().replaceAll(/^#([A-Z0-9_]+=)/gm, '$1')), [])
})

test('an unknown name that is similar to a setting is an error that names the setting', () => {
  for (const [name, setting] of [
    ['REGISTRATON', 'REGISTRATION'],
    ['DATADIR', 'DATA_DIR'],
    ['port', 'PORT'],
    ['CLIENTADDRESSHEADER', 'CLIENT_ADDRESS_HEADER'],
    ['BASE_URI', 'BASE_URL'],
  ]) {
    assert.deepEqual(problemsIn(`PORT=1\n${name}=x`), [`line 2: ${name} is not a setting`])
    assert.throws(() => checkSettingsFile({ path: 'x', text: `${name}=x` }), new RegExp(`nearest one is ${setting}$`))
  }
  assert.deepEqual(problemsIn('AWS_ACCESS_KEY_ID=x\nHOME=/srv\nTZ=UTC\nNODE_ENV=production\nUV_THREADPOOL_SIZE=8'), [])
})

test('a removed setting is a warning that names its replacement', () => {
  const [warning, ...others] = removedSettings({ HTTP_PROCESSES: 'auto', PORT: '8080' })
  assert.deepEqual(others, [])
  assert.match(String(warning), /^HTTP_PROCESSES was removed and has no effect: .*--role api.*scaling\.md#more-cores/)
  assert.deepEqual(removedSettings({ HTTP_PROCESSES: '' }), [])
  assert.deepEqual(problemsIn('HTTP_PROCESSES=auto'), [])
})

test('a value is never shown', () => {
  assert.throws(
    () => checkSettingsFile({ path: '.env', text: 'ADMIN_KE=planted\nplanted' }),
    (error: Error) => !error.message.includes('planted'),
  )
})
