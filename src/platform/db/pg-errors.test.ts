import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toApiError } from './pg-errors.ts'

const problem = (message: string, fields: object) => toApiError(Object.assign(new Error(message), fields))?.kind

test('a database that cannot be reached is unavailable, one that fails is a database error, the rest is neither', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', '57P01'])
    assert.equal(problem(code, { code }), 'unavailable', code)
  assert.equal(problem('no socket', { code: 'ENOENT', syscall: 'connect' }), 'unavailable')
  assert.equal(problem('Connection terminated unexpectedly', {}), 'unavailable')
  assert.equal(problem('Client has encountered a connection error and is not queryable', {}), 'unavailable')
  assert.equal(problem('Query read timeout', {}), 'unavailable')
  for (const code of ['57014', '23505', '42P01']) assert.equal(problem(code, { code }), 'database_error', code)
  assert.equal(problem('no file', { code: 'ENOENT', syscall: 'open' }), undefined)
  assert.equal(toApiError('text'), undefined)
})
