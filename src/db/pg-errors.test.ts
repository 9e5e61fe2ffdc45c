import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toApiError } from './pg-errors.ts'

const fault = (message: string, fields: object) => toApiError(Object.assign(new Error(message), fields))?.fault

test('a database that cannot be reached is unavailable, one that fails is a database error, the rest is neither', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN', '57P01']) {
    assert.equal(fault(code, { code }), 'unavailable', code)
  }
  assert.equal(fault('no socket', { code: 'ENOENT', syscall: 'connect' }), 'unavailable')
  assert.equal(fault('Connection terminated unexpectedly', {}), 'unavailable')
  for (const code of ['57014', '23505', '42P01']) assert.equal(fault(code, { code }), 'database_error', code)
  assert.equal(fault('no file', { code: 'ENOENT', syscall: 'open' }), undefined)
  assert.equal(toApiError('text'), undefined)
})
