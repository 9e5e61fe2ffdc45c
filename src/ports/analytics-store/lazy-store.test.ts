import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#lib/errors.ts'
import { aDownload, batchOf } from '#test/support/factories/analytics-events.ts'
import { openNaiveStore } from '#test/support/stand-ins/reference-analytics-store.ts'
import { StoreInUseError } from './analytics-store.ts'
import { openLazily } from './lazy-store.ts'

const held = async () => {
  throw new StoreInUseError('in use by another process')
}
const isStoreError = (error: unknown) => error instanceof ApiError && error.kind === 'analytics_database_error'

test('it is opened by the first call and once, however many come together', async () => {
  let openings = 0
  const store = openLazily({
    open: async () => {
      openings += 1
      return openNaiveStore()
    },
  })
  assert.equal(openings, 0)
  await Promise.all([store.check(), store.append('download', batchOf([aDownload()])), store.settledAt()])
  assert.equal(openings, 1)
  assert.equal((await store.listBatches({ from: 0 })).length, 1)
})

test('an opening that failed is tried again by the next call', async () => {
  let openings = 0
  const store = openLazily({
    open: async () => {
      openings += 1
      if (openings === 1) throw new Error('no such folder')
      return openNaiveStore()
    },
  })
  await assert.rejects(store.settledAt(), isStoreError)
  assert.deepEqual(await store.listBatches({ from: 0 }), [])
})

test('the check fails with a clear message if another process has the store open, unless this is allowed', async () => {
  await assert.rejects(openLazily({ open: held }).check(), /in use by another process/)
  await assert.rejects(openLazily({ open: held }).settledAt(), isStoreError)
  await openLazily({ open: held, mayBeInUse: true }).check()
})

test('closing what was never used opens nothing, and nothing is opened afterwards', async () => {
  const store = openLazily({ open: async () => assert.fail('opened') })
  await store.close()
  await store.close()
  await assert.rejects(store.check(), isStoreError)
})
