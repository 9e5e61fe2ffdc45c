// Affiliate codes and the conversions that they bring.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { parseScopeNames } from '#features/basics/access/scopes.ts'
import { newId } from '#lib/ids.ts'
import { HOUR_MS, MINUTE_MS } from '#lib/time.ts'
import { ADMIN_KEY, testApp } from '#test/support/app/test-app.ts'
import type { Person } from '#test/support/factories/factories.ts'

const t = await testApp()
after(() => t.close())
const admin = await t.make.account({ role: 'admin' })

const AFFILIATE = 128

async function affiliate(): Promise<Person> {
  const person = await t.make.account()
  await t.deps.db.updateTable('account').set({ badges: AFFILIATE }).where('id', '=', person.id).execute()
  return person
}
const create = (person: Person | { token: string }, body: object) => t.as(person).post('/_internal/affiliate', body)
async function codeOf(person: Person): Promise<string> {
  return (await create(person, { source_name: 'A video' })).json().id
}

describe('codes', () => {
  test('an affiliate makes, lists, edits and deletes their own; what only admins see is null', async () => {
    const person = await affiliate()
    const made = await create(person, { source_name: 'A video' })
    assert.equal(made.statusCode, 201)
    const { id } = made.json()
    const shown = {
      id,
      affiliate: person.id,
      source_name: 'A video',
      created_at: null,
      created_by: null,
      revenue_split: null,
    }
    assert.deepEqual(made.json(), shown)
    assert.deepEqual((await t.as(person).get('/v2/_internal/affiliate')).json(), [shown])
    assert.equal((await t.as(person).patch(`/_internal/affiliate/${id}`, { source_name: 'A blog' })).statusCode, 204)
    assert.equal((await t.as(person).get(`/_internal/affiliate/${id}`)).json().source_name, 'A blog')
    assert.equal((await t.as(person).delete(`/_internal/affiliate/${id}`)).statusCode, 204)
    assert.equal((await t.as(person).get(`/_internal/affiliate/${id}`)).statusCode, 404)
    assert.equal((await t.as(person).delete(`/_internal/affiliate/${id}`)).statusCode, 404)
  })

  test('PUT makes one too, as existing clients send it', async () => {
    const answer = await t.as(await affiliate()).put('/_internal/affiliate', { source_name: 'x' })
    assert.equal(answer.statusCode, 201)
  })

  test('an admin creates codes for others, with a separate share, and sees everything', async () => {
    const person = await t.make.account()
    const body = { source_name: 'Shop', affiliate: person.id, revenue_split: '0.25' }
    const made = (await create(admin, body)).json()
    assert.deepEqual([made.affiliate, made.created_by, Number(made.revenue_split)], [person.id, admin.id, 0.25])
    assert.ok(Date.parse(made.created_at) > 0)
    const listed = (await t.as(admin).get('/_internal/affiliate')).json()
    assert.ok(listed.some(({ id }: { id: string }) => id === made.id))
    assert.equal(
      (await t.as(person).get('/_internal/affiliate')).json().length,
      1,
      'without a badge, owners list theirs',
    )
    for (const affiliateName of ['Unknown1', 'not an id', `${person.username}x`]) {
      const answer = await create(admin, { source_name: 'x', affiliate: affiliateName })
      assert.deepEqual([answer.statusCode, answer.json().details.field], [400, 'affiliate'])
    }
  })

  test('without the badge nothing is made or edited; for others, and with a share, only by admins', async () => {
    const person = await t.make.account()
    assert.equal((await create(person, { source_name: 'x' })).statusCode, 403)
    const { id } = (await create(admin, { source_name: 'x', affiliate: person.id })).json()
    assert.equal((await t.as(person).patch(`/_internal/affiliate/${id}`, { source_name: 'y' })).statusCode, 403)
    assert.equal((await t.as(person).delete(`/_internal/affiliate/${id}`)).statusCode, 204)
    const other = await affiliate()
    assert.equal((await create(other, { source_name: 'x', affiliate: person.id })).statusCode, 403)
    assert.equal((await create(other, { source_name: 'x', affiliate: other.id })).statusCode, 201)
    assert.equal((await create(other, { source_name: 'x', revenue_split: '0.5' })).statusCode, 403)
  })

  test('a share that an admin set stays, whatever its affiliate sends', async () => {
    const person = await affiliate()
    const body = { source_name: 'x', affiliate: person.id, revenue_split: '0.25' }
    const { id } = (await create(admin, body)).json()
    const path = `/_internal/affiliate/${id}`
    assert.equal((await t.as(person).patch(path, { revenue_split: null })).statusCode, 403)
    assert.equal((await t.as(person).patch(path, { revenue_split: '0.5' })).statusCode, 403)
    assert.equal(Number((await t.as(admin).get(path)).json().revenue_split), 0.25)
    assert.equal((await t.as(admin).patch(path, { revenue_split: null })).statusCode, 204)
    assert.equal((await t.as(admin).get(path)).json().revenue_split, null)
    assert.equal((await t.as(person).patch(path, { source_name: 'y', revenue_split: null })).statusCode, 204)
  })

  test("another's code is absent", async () => {
    const id = await codeOf(await affiliate())
    const other = await affiliate()
    assert.equal((await t.as(other).get(`/_internal/affiliate/${id}`)).statusCode, 404)
    assert.equal((await t.as(other).patch(`/_internal/affiliate/${id}`, { source_name: 'x' })).statusCode, 404)
    assert.equal((await t.as(other).delete(`/_internal/affiliate/${id}`)).statusCode, 404)
    assert.equal((await t.as(other).get('/_internal/affiliate/not-an-id')).json().error, 'decoding_error')
  })

  test('a token with ANALYTICS reads, only a session manages', async () => {
    const person = await affiliate()
    const id = await codeOf(person)
    const reader = await t.make.pat(person, parseScopeNames('ANALYTICS').bits)
    assert.equal((await t.as(reader).get(`/_internal/affiliate/${id}`)).statusCode, 200)
    assert.equal((await create(reader, { source_name: 'x' })).statusCode, 403)
    assert.equal((await t.as(reader).delete(`/_internal/affiliate/${id}`)).statusCode, 403)
    assert.equal((await t.anyone.get('/_internal/affiliate')).statusCode, 401)
  })

  test('names and shares that cannot be are rejected', async () => {
    for (const [body, field] of [
      [{}, 'source_name'],
      [{ source_name: '' }, 'source_name'],
      [{ source_name: ' ' }, 'source_name'],
      [{ source_name: 'x'.repeat(256) }, 'source_name'],
      [{ source_name: 'x', revenue_split: '1.1' }, 'revenue_split'],
      [{ source_name: 'x', revenue_split: 0.5 }, 'revenue_split'],
      [{ source_name: 'x', revenue_split: '0.1234567' }, 'revenue_split'],
    ] as const) {
      const answer = await create(admin, body)
      assert.deepEqual([answer.statusCode, answer.json().details?.field], [400, field], JSON.stringify(body))
    }
    assert.equal((await create(admin, { source_name: 'ü'.repeat(255) })).statusCode, 201)
  })

  test('an account has at most 256 codes, also when they are created concurrently', async () => {
    const person = await affiliate()
    const rows = Array.from({ length: 250 }, () => ({ id: newId(), account_id: person.id, source_name: 'x' }))
    await t.deps.db.insertInto('affiliate_code').values(rows).execute()
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(person, { source_name: 'x' })))
    assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 6)
    assert.equal(answers.find(({ statusCode }) => statusCode !== 201)?.json().error, 'LimitReached')
  })
})

describe('conversions', () => {
  const headers = { 'x-admin-key': ADMIN_KEY }
  const convert = (body: object) => t.anyone.post('/_internal/admin/affiliate-conversion', body, { headers })

  test('are recorded once: 201, then 200, and 409 with other content', async () => {
    const person = await affiliate()
    const id = await codeOf(person)
    const body = { external_id: newId(), affiliate_code_id: id, amount: '19.99', at: '2024-02-29T12:00:00.123456Z' }
    const first = await convert(body)
    assert.equal(first.statusCode, 201)
    assert.deepEqual(first.json(), {
      external_id: body.external_id,
      affiliate_code_id: id,
      at: '2024-02-29T12:00:00.123Z',
      amount: '19.99',
      revenue: '1.999',
    })
    const again = await convert({ ...body, amount: '19.990' })
    assert.deepEqual([again.statusCode, again.json()], [200, first.json()])
    assert.equal(
      (await convert({ ...body, at: undefined })).statusCode,
      200,
      'a time that is not given is not compared',
    )
    for (const other of [{ amount: '20' }, { at: '2024-02-29T12:00:01Z' }, { affiliate_code_id: 'Unknown1' }])
      assert.equal((await convert({ ...body, ...other })).statusCode, 409)
    const balance = (await t.as(person).get('/v3/payout/balance')).json()
    assert.equal(balance.available, '1.999', 'the sixty days have passed')
  })

  test('one of many concurrent calls records the conversion', async () => {
    const id = await codeOf(await affiliate())
    const body = { external_id: newId(), affiliate_code_id: id, amount: '5' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => convert(body)))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [200, 200, 200, 200, 200, 200, 200, 201])
  })

  test('the share is the code’s own or the operator’s default, rounded down, and nothing below a hundredth', async () => {
    const person = await t.make.account()
    const codes = []
    for (const revenue_split of ['0.333333', null, '0', '1'])
      codes.push((await create(admin, { source_name: 'x', affiliate: person.id, revenue_split })).json().id)
    const earned = []
    for (const [i, amount] of ['10', '0.09', '100', '0.12345678'].entries()) {
      const answer = await convert({ external_id: newId(), affiliate_code_id: codes[i], amount })
      earned.push(answer.json().revenue)
    }
    assert.deepEqual(earned, ['3.33333', '0.00', '0.00', '0.12345678'])
  })

  test('rejects invalid values with their field', async () => {
    const id = await codeOf(await affiliate())
    const good = { external_id: newId(), affiliate_code_id: id, amount: '5' }
    const later = new Date(t.deps.now() + HOUR_MS).toISOString()
    for (const [more, field] of [
      [{ affiliate_code_id: 'Unknown1' }, 'affiliate_code_id'],
      [{ affiliate_code_id: 'not an id' }, 'affiliate_code_id'],
      [{ amount: '-5' }, 'amount'],
      [{ amount: 5 }, 'amount'],
      [{ amount: '1e3' }, 'amount'],
      [{ amount: '0.123456789' }, 'amount'],
      [{ amount: '1234567890123' }, 'amount'],
      [{ at: 'yesterday' }, 'at'],
      [{ at: later }, 'at'],
      [{ external_id: '' }, 'external_id'],
      [{ external_id: 'x'.repeat(256) }, 'external_id'],
    ] as const) {
      const answer = await convert({ ...good, ...more })
      assert.deepEqual([answer.statusCode, answer.json().details?.field], [400, field], JSON.stringify(more))
    }
    assert.equal((await convert({ ...good, at: new Date(t.deps.now() + MINUTE_MS).toISOString() })).statusCode, 201)
  })

  test('only operators: a wrong key returns 404', async () => {
    const wrong = { headers: { 'x-admin-key': 'x'.repeat(36) } }
    assert.equal((await t.anyone.post('/_internal/admin/affiliate-conversion', {}, wrong)).statusCode, 404)
    assert.equal((await t.anyone.post('/_internal/admin/affiliate-conversion', {})).statusCode, 404)
  })

  test('earnings remain when their code is deleted', async () => {
    const person = await affiliate()
    const id = await codeOf(person)
    await convert({ external_id: newId(), affiliate_code_id: id, amount: '50', at: '2024-01-01T00:00:00Z' })
    await t.as(person).delete(`/_internal/affiliate/${id}`)
    assert.equal((await t.as(person).get('/v3/payout/balance')).json().available, '5.00')
  })
})
